"""Check the arguments of functions, and name them in messages."""
