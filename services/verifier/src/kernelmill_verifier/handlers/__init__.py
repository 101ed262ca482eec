"""Subscribers of the verifier: openings, checks, verdicts."""

from kernelmill_verifier.handlers.checking import Checker
from kernelmill_verifier.handlers.judging import Judging
from kernelmill_verifier.handlers.openings import Openings

__all__ = ["Checker", "Judging", "Openings"]
