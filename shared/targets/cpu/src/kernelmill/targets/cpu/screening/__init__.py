"""Screening: what can be said about a program from its sources and flags alone."""

from kernelmill.targets.cpu.screening.screen import EXTRACTOR, screen

__all__ = ["EXTRACTOR", "screen"]
