"""Screens, compiles, checks and judges candidates; keeps the secrets of hidden cases."""
