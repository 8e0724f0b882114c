"""How far to trust an answer: support for each claim, and one verdict on the whole."""
