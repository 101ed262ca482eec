"""The error budget of a campaign's confirmations."""

import math


def confirmation_level(alpha: float, k: int) -> float:
    """Return the level of the k-th confirmation: alpha * 6 / (pi^2 k^2), which sums to alpha over all k >= 1.

    Raises:
        ValueError: for k < 1.
    """
    if k < 1:
        raise ValueError(f"confirmations count from 1, got {k}")
    return alpha * 6.0 / (math.pi * k) ** 2
