"""The exact Wilcoxon signed-rank test and the interval of Walsh averages that belongs to it.

Sources: Wilcoxon (1945); Pratt (1959) for zeros; Hodges and Lehmann (1963) and Tukey (1949) for the estimate and the
interval; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, chapter 3.
"""

import itertools
import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kernelmill.evidence.errors import TooFewScoresError


@dataclass(frozen=True)
class LogInterval:
    """An estimate of a log ratio with its two-sided interval and the confidence that the interval really has."""

    estimate: float
    low: float
    high: float
    level: float
    """The level that was asked for, or less where so few scores cannot reach it."""


def signed_rank_p(values: Sequence[float]) -> float:
    """Return the exact one-sided p value against "the centre of symmetry is at most 0".

    Equal magnitudes share their mid-rank and zeros keep their ranks but never count (Pratt). The null distribution is
    that of the statistic over all sign flips of exactly these ranks, so the level holds with ties as well.

    Args:
        values: one log ratio per process pair; above 0 speaks for the candidate.

    Raises:
        TooFewScoresError: for no values.
    """
    scores = _checked(values)
    order = sorted(scores, key=abs)
    if all(abs(before) < abs(after) for before, after in itertools.pairwise([0.0, *order])):
        against = sum(rank for rank, score in enumerate(order, 1) if score < 0.0)
        return _rank_sum_cumulative(len(order))[against]
    return _with_ties(np.asarray(scores))


def _with_ties(scores: NDArray[np.float64]) -> float:
    ranks = _doubled_midranks(np.abs(scores))[scores != 0.0]
    statistic = int(ranks[scores[scores != 0.0] > 0.0].sum())
    tail = float(_flip_distribution(ranks)[statistic:].sum())
    return min(1.0, tail)


def walsh_interval(values: Sequence[float], level: float) -> LogInterval:
    """Return the Hodges-Lehmann estimate and the interval that inverts the signed-rank test.

    The interval takes off as many of the smallest and largest Walsh averages as the level allows. Where the level
    cannot be reached with so few scores, the interval is the whole range and its `level` says what it is worth,
    1 - 2**(1 - n).

    Args:
        values: one log ratio per process pair, at least two.
        level: two-sided confidence level, 0 < level < 1.

    Raises:
        TooFewScoresError: for fewer than two values.
    """
    return tail_interval(values, (1.0 - level) / 2.0, (1.0 - level) / 2.0)


def tail_interval(values: Sequence[float], low_tail: float, high_tail: float) -> LogInterval:
    """Return the Walsh interval that errs with at most `low_tail` below and `high_tail` above, if it can be reached.

    Raises:
        TooFewScoresError: for fewer than two values.
    """
    scores = _checked(values)
    if len(scores) < 2:
        raise TooFewScoresError("an interval needs at least two process pairs; measure more")
    # Halving before adding keeps sums of large scores finite. For a few pairs numpy would take ten times as long.
    halves = [score / 2.0 for score in scores]
    walsh = sorted(left + right for left, right in itertools.combinations_with_replacement(halves, 2))
    cumulative = _rank_sum_cumulative(len(scores))
    below, above = bisect_right(cumulative, low_tail), bisect_right(cumulative, high_tail)
    reached = max(low_tail, cumulative[0]) + max(high_tail, cumulative[0])
    return LogInterval(
        estimate=statistics.median(walsh),
        low=walsh[max(below - 1, 0)],
        high=walsh[len(walsh) - max(above, 1)],
        level=1.0 - reached,
    )


def _checked(values: Sequence[float]) -> list[float]:
    scores = [float(value) for value in values]
    if not scores or not all(map(math.isfinite, scores)):
        raise TooFewScoresError("the signed-rank statistics need at least one score, and only finite ones")
    return scores


def _doubled_midranks(magnitudes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the mid-ranks, which are whole numbers."""
    ordered = np.sort(magnitudes)
    first = np.searchsorted(ordered, magnitudes, side="left")
    last = np.searchsorted(ordered, magnitudes, side="right")
    return (first + last + 1).astype(np.int64)


def _flip_distribution(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P(sum of the ranks with positive sign = s) for s = 0, 1, ... when every sign is a fair coin."""
    chances = np.zeros(int(ranks.sum()) + 1)
    chances[0] = 1.0
    reach = 0
    for rank in ranks:
        step = int(rank)
        moved = chances[: reach + 1] / 2.0
        chances[: reach + 1] = moved
        chances[step : reach + step + 1] += moved
        reach += step
    return chances


@lru_cache(maxsize=128)
def _rank_sum_cumulative(count: int) -> tuple[float, ...]:
    """Return P(W <= w) for the ranks 1..count without ties."""
    return tuple(np.cumsum(_flip_distribution(np.arange(1, count + 1, dtype=np.int64))).tolist())
