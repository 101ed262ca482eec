"""The commands, grouped by what they are for."""
