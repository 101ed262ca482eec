"""Putting rows together: the geometric mean over rows and the worst row, with intervals.

Process pairs of different rows are independent and symmetric about their row's effect, so the mean of one pair of each
row is symmetric about the mean effect: the signed-rank test and its interval apply to these means as they stand.
"""

import math
from collections.abc import Sequence

from kernelmill.evidence.errors import TooFewScoresError
from kernelmill.evidence.statistics.signed_rank import LogInterval, tail_interval, walsh_interval

LEAST_LEVEL = 1e-9
"""What stands for "no confidence at all" where a level has to be above 0."""


def across_rows(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return one mean log ratio over the rows for each pair ordinal.

    There are as many means as the row with the fewest pairs has pairs; a row with more folds its surplus in, pair j
    joining the mean of ordinal j modulo that number.

    Args:
        rows: for each row the log ratios of its process pairs, in the order of measurement.

    Raises:
        TooFewScoresError: for no rows, or a row without pairs.
    """
    count = min((len(row) for row in rows), default=0)
    if count == 0:
        raise TooFewScoresError("a mean over rows needs at least one process pair on every row")
    folded = [[math.fsum(row[start::count]) / len(row[start::count]) for start in range(count)] for row in rows]
    return tuple(math.fsum(means) / len(rows) for means in zip(*folded, strict=True))


def geometric_mean_interval(rows: Sequence[Sequence[float]], level: float) -> LogInterval:
    """Return the interval of the mean log ratio over rows, which is the log of the geometric mean of the speed-ups.

    Raises:
        TooFewScoresError: for no rows, or a row with fewer than two pairs.
    """
    return walsh_interval(across_rows(rows), level)


def worst_row_interval(rows: Sequence[Sequence[float]], level: float) -> LogInterval:
    """Return an interval for the smallest of the rows' log ratios.

    The lower end needs no correction: it can only lie above the truth if the bound of the truly worst row does. The
    upper end is chosen among the rows, so each row gets its share of the error (Bonferroni).

    Raises:
        TooFewScoresError: for no rows, or a row with fewer than two pairs.
    """
    if not rows:
        raise TooFewScoresError("a worst row needs at least one row")
    tail = (1.0 - level) / 2.0
    bounds = [tail_interval(row, tail, tail / len(rows)) for row in rows]
    low_error = max(max(tail, _least_tail(len(row))) for row in rows)
    high_error = math.fsum(max(tail / len(rows), _least_tail(len(row))) for row in rows)
    return LogInterval(
        estimate=min(bound.estimate for bound in bounds),
        low=min(bound.low for bound in bounds),
        high=min(bound.high for bound in bounds),
        level=max(LEAST_LEVEL, 1.0 - low_error - high_error),
    )


def _least_tail(pairs: int) -> float:
    return math.ldexp(1.0, -pairs)
