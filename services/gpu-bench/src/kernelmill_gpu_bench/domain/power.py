"""How often decisions would be right on this node: its own A/A pairs, resampled and shifted by a known effect."""

import math
import statistics
from collections.abc import Callable, Sequence

from kernelmill.events import Policy, PowerPoint
from kernelmill.evidence import (
    across_rows,
    confirmation_level,
    confirmation_pairs,
    geometric_mean_interval,
    signed_rank_p,
)

EFFECTS = (1.0, 1.01, 1.02, 1.03, 1.05)
TRIALS = 1000
LEAST_PAIRS = 30
"""With fewer pairs, resampling says more about the sample than about the node."""


def power_curve(
    ratios: Sequence[float], rows: int, policy: Policy, below: Callable[[int], int]
) -> tuple[PowerPoint, ...]:
    """Return what verdict and first confirmation make of candidates with a known true effect on every row.

    A candidate's scores are drawn, with replacement, from log ratios of identical code in fresh processes, with the
    bias of the sample taken out and half of them mirrored (either side may be the slow one), and shifted by the effect.

    Args:
        ratios: log ratios of A/A process pairs.
        rows: rows over which a decision averages.
        policy: levels and numbers of pairs.
        below: returns a random whole number from 0 up to its argument.
    """
    if len(ratios) < LEAST_PAIRS:
        return ()
    centre = statistics.median(ratios)
    noise = [ratio - centre for ratio in ratios]
    level = confirmation_level(policy.confirm_alpha, 1)
    pairs = confirmation_pairs(rows, level, policy)

    def scores(count: int, effect: float) -> list[list[float]]:
        shift = math.log(effect)
        return [[shift + (1 - 2 * below(2)) * noise[below(len(noise))] for _ in range(count)] for _ in range(rows)]

    points = []
    for effect in EFFECTS:
        accepted = confirmed = 0
        for _ in range(TRIALS):
            interval = geometric_mean_interval(scores(policy.baseline_pairs, effect), policy.interval_level)
            accepted += math.exp(interval.low) > policy.accept_speedup
            confirmed += signed_rank_p(across_rows(scores(pairs, effect))) <= level
        points.append(PowerPoint(effect=effect, accepted=accepted / TRIALS, confirmed=confirmed / TRIALS))
    return tuple(points)
