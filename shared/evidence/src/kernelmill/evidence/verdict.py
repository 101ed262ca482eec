"""What judging and confirming return: values, to be wrapped into events by the services."""

from dataclasses import dataclass

from kernelmill.events import Decision, EffectEstimate, ReasonCode
from kernelmill.identity import EventId

BEST_BASELINE = "best-baseline"
"""Opponent of a figure over several rows, each against the best baseline of its row."""

HIDDEN_SHAPE_PREFIX = "hidden-"
"""Workload ids of a confirmation that start so are generated shapes that no agent could tune for. They stand outside
the geometric mean and decide only whether the champion is specialised."""


@dataclass(frozen=True)
class VerdictBody:
    """The part of a verdict that is a pure function of evidence and policy."""

    decision: Decision
    """What it says."""
    reason: ReasonCode
    """Why, as a code."""
    detail: str
    """Why, in words."""
    effects: tuple[EffectEstimate, ...]
    """Speed-ups against the baselines by row and over rows; for a candidate that lost its race those of the race."""
    evidence: tuple[EventId, ...]
    """Ids of the events it rests on, in stream order."""


@dataclass(frozen=True)
class ConfirmationOutcome:
    """What a confirmation showed."""

    holds: bool
    """Whether the candidate may be crowned if the opponent still reigns."""
    conclusive: bool
    """False where the machine, not the candidate, is why it does not hold; a conclusive failure is final."""
    effects: tuple[EffectEstimate, ...]
    """Head to head and against the baselines: the only figures that are ever reported for a champion."""
    specialised: bool
    """Whether a hidden shape fell behind the best baseline, so that an export has to guard its shapes."""
    detail: str
    """Why, in words."""
