"""Turns the clocked duels of a process pair into its score."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from kernelmill.events import PairScore
from kernelmill.evidence import trimmed_mean


@dataclass(frozen=True)
class Duel:
    """One turn of each side on the same inputs."""

    candidate_seconds: float
    opponent_seconds: float
    calls: int

    @property
    def log_ratio(self) -> float:
        """ln(opponent seconds / candidate seconds)."""
        return math.log(self.opponent_seconds / self.candidate_seconds)


def score_duels(duels: Sequence[Duel], discarded: int) -> PairScore:
    """Return the pair's score.

    Args:
        duels: Those that count, at least one.
        discarded: How many were thrown away.
    """
    ratios = [duel.log_ratio for duel in duels]
    return PairScore(
        log_ratio=trimmed_mean(ratios),
        mean_log_ratio=fmean(ratios),
        duels=len(duels),
        discarded=discarded,
        candidate_ns=1e9 * median(duel.candidate_seconds / duel.calls for duel in duels),
        opponent_ns=1e9 * median(duel.opponent_seconds / duel.calls for duel in duels),
    )
