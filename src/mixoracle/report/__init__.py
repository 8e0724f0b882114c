"""A model and what is known about it, turned into something to read or look at."""
