"""The trimmed mean that makes one score of a process pair's duels."""

import math
from collections.abc import Sequence

from kernelmill.evidence.errors import TooFewScoresError

TRIM = 0.25
"""Share that is cut from each end."""


def trimmed_mean(values: Sequence[float], share: float = TRIM) -> float:
    """Return the mean of what is left after floor(n * share) values are cut from each end.

    Args:
        values: log ratios of the duels of one process pair, in any order.
        share: share to cut from each end, 0 <= share < 0.5.

    Raises:
        TooFewScoresError: for no values.
    """
    if not values:
        raise TooFewScoresError("a trimmed mean needs at least one duel; every duel of this pair was discarded")
    ordered = sorted(values)
    cut = math.floor(len(ordered) * share)
    kept = ordered[cut : len(ordered) - cut]
    return math.fsum(kept) / len(kept)
