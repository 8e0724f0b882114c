"""Component families behind one small interface."""
