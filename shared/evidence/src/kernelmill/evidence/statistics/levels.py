"""The error budget of a campaign's confirmations."""

import math

from kernelmill.events import Policy

SEVERAL_ROWS = 4
SPARE_PAIRS = 3
"""Pairs beyond the fewest that can reach a level at all, so that a few pairs may disagree."""


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
    pair, so fewer pairs show the same gain; n pairs can never reach a level below 2^-n.
    """
    preset = policy.confirm_pairs_several if rows >= SEVERAL_ROWS else policy.confirm_pairs
    return max(preset, math.ceil(-math.log2(level)) + SPARE_PAIRS)
