"""Timing: frozen processes, turns by the parent's clock, duels, scores, probes."""
