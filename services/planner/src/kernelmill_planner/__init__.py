"""Decides what to try next, by whom, at what cost, and when to stop. Owns campaigns and budgets."""
