"""How people and outside tools get in: the command line."""
