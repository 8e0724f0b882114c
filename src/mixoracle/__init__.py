"""mixoracle."""
