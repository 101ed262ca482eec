"""From row effects to speed-ups with intervals: the best baseline of each row, single rows, and rows together."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from kernelmill.events import EffectEstimate, Interval, RowEffect
from kernelmill.evidence.statistics import (
    LogInterval,
    across_rows,
    geometric_mean_interval,
    signed_rank_p,
    walsh_interval,
    worst_row_interval,
)


def ratios(row: RowEffect) -> list[float]:
    """Return the log ratios of a row's process pairs, in the order of measurement."""
    return [pair.log_ratio for pair in row.pairs]


def opponent_ns(row: RowEffect) -> float:
    """Return the opponent's nanoseconds per call: the median over process pairs, infinite without pairs."""
    return statistics.median(pair.opponent_ns for pair in row.pairs) if row.pairs else math.inf


def candidate_ns(row: RowEffect) -> float:
    """Return the candidate's nanoseconds per call: the median over process pairs, infinite without pairs."""
    return statistics.median(pair.candidate_ns for pair in row.pairs) if row.pairs else math.inf


def best_baselines(rows: Iterable[RowEffect]) -> dict[str, RowEffect]:
    """Return for each workload the row against the fastest baseline, in the order of first appearance."""
    best: dict[str, RowEffect] = {}
    for row in rows:
        known = best.get(row.workload)
        if known is None or (opponent_ns(row), row.opponent) < (opponent_ns(known), known.opponent):
            best[row.workload] = row
    return best


def headline(rows: Mapping[str, RowEffect], dispatch_ns: float, share: float) -> dict[str, RowEffect]:
    """Return the rows whose dispatch overhead is under `share` of the opponent's time.

    The opponent's time decides, so that no candidate can move a row out of the mean. Where every row is that short, all
    of them count: dispatch is common to both sides and only shrinks the effect.
    """
    kept = {workload: row for workload, row in rows.items() if dispatch_ns < share * opponent_ns(row)}
    return kept or dict(rows)


def row_effect(row: RowEffect, level: float) -> EffectEstimate:
    """Return the speed-up on one row.

    Raises:
        TooFewScoresError: for fewer than two pairs.
    """
    scores = ratios(row)
    return EffectEstimate(
        workload=row.workload,
        opponent=row.opponent,
        speedup=as_speedup(walsh_interval(scores, level)),
        p_value=signed_rank_p(scores),
    )


def mean_effect(rows: Sequence[RowEffect], opponent: str, level: float) -> EffectEstimate:
    """Return the geometric mean over rows.

    Raises:
        TooFewScoresError: for no rows, or a row with fewer than two pairs.
    """
    scores = [ratios(row) for row in rows]
    return EffectEstimate(
        workload="geometric-mean",
        opponent=opponent,
        speedup=as_speedup(geometric_mean_interval(scores, level)),
        p_value=signed_rank_p(across_rows(scores)),
    )


def worst_effect(rows: Sequence[RowEffect], opponent: str, level: float) -> EffectEstimate:
    """Return the smallest speed-up over rows.

    Raises:
        TooFewScoresError: for no rows, or a row with fewer than two pairs.
    """
    interval = worst_row_interval([ratios(row) for row in rows], level)
    return EffectEstimate(workload="worst-row", opponent=opponent, speedup=as_speedup(interval))


def as_speedup(interval: LogInterval) -> Interval:
    """Return the interval of the log ratio as one of the ratio."""
    return Interval(
        estimate=math.exp(interval.estimate),
        low=math.exp(interval.low),
        high=math.exp(interval.high),
        level=interval.level,
    )
