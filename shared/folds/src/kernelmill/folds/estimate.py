"""Which of a verdict's effects is the headline, and what a race says where no headline was measured."""

import math
from collections.abc import Iterable

from kernelmill.events import EffectEstimate, RowEffect

GEOMETRIC_MEAN = "geometric-mean"


def headline(effects: Iterable[EffectEstimate]) -> EffectEstimate | None:
    """Return the geometric mean over rows against the strongest opponent, None where no mean was computed.

    Where means against several opponents are given, the smallest counts: a gain over a weak opponent is no headline.
    """
    means = [effect for effect in effects if effect.workload == GEOMETRIC_MEAN]
    return min(means, key=lambda effect: effect.speedup.estimate, default=None)


def by_opponent(effects: Iterable[EffectEstimate]) -> dict[str, EffectEstimate]:
    """Return the geometric means over rows by opponent."""
    return {effect.opponent: effect for effect in effects if effect.workload == GEOMETRIC_MEAN}


def mean_race_log_ratio(race: Iterable[RowEffect]) -> float | None:
    """Return the mean over all process pairs of ln(champion seconds / candidate seconds), None without a pair."""
    scores = [pair.log_ratio for row in race for pair in row.pairs]
    return math.fsum(scores) / len(scores) if scores else None
