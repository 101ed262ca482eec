"""Turns tasks into candidates with one of several agents. Never builds or runs candidate code."""
