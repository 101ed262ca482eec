"""The error budget of a campaign's confirmations."""

import math

from kernelmill.events import Policy
from kernelmill.evidence.statistics.signed_rank import signed_rank_p

SEVERAL_ROWS = 4


def confirmation_level(alpha: float, k: int) -> float:
    """Return the level of the k-th confirmation: alpha * 6 / (pi^2 k^2), which sums to alpha over all k >= 1.

    Raises:
        ValueError: for k < 1.
    """
    if k < 1:
        raise ValueError(f"confirmations count from 1, got {k}")
    return alpha * 6.0 / (math.pi * k) ** 2


def confirmation_pairs(rows: int, level: float, policy: Policy) -> int:
    """Return the process pairs that a confirmation measures on each row.

    The decision is one signed-rank test over pairs of the mean over rows. Averaging four rows halves the noise of a
    pair, so fewer pairs show the same gain. There are at least so many that all but one can carry the decision: one
    process in some hundred runs slowly for life, and that must not cost anybody the crown.
    """
    pairs = policy.confirm_pairs_several if rows >= SEVERAL_ROWS else policy.confirm_pairs
    while signed_rank_p([-float(pairs), *range(1, pairs)]) > level:
        pairs += 1
    return pairs
