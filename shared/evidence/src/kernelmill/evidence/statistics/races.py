"""The race: a loose sequential test that eliminates and never crowns."""

import math
import statistics
from collections.abc import Sequence
from typing import Literal

from kernelmill.events import PairScore, Policy
from kernelmill.evidence.statistics.rows import across_rows
from kernelmill.evidence.statistics.signed_rank import signed_rank_p

_LEAST_PAIRS = 2

RaceDecision = Literal["continue", "drop", "keep"]
"""Run another pair; the candidate is out; the candidate goes on to the next gate."""


def race_decision(pairs: Sequence[PairScore], policy: Policy) -> RaceDecision:
    """Return what follows from the pairs so far against one opponent on one row.

    Two first pairs that are both slower than `race_hopeless` end it at once: that is no noise, and most of what a
    search proposes is far from the champion. From `race_pairs_min` pairs on, a candidate that is slower at the
    one-sided `race_drop_level` is dropped, and one that is faster at the same level is kept without spending the rest.
    At `race_pairs_max` an undecided one is kept if it is ahead. The race saves device time, and looking several times
    only makes it a little looser.
    """
    ratios = [pair.log_ratio for pair in pairs]
    if len(ratios) >= _LEAST_PAIRS and all(math.exp(ratio) < policy.race_hopeless for ratio in ratios):
        return "drop"
    if len(ratios) < policy.race_pairs_min:
        return "continue"
    if signed_rank_p([-ratio for ratio in ratios]) <= policy.race_drop_level:
        return "drop"
    if signed_rank_p(ratios) <= policy.race_drop_level:
        return "keep"
    if len(ratios) < policy.race_pairs_max:
        return "continue"
    return "keep" if statistics.fmean(ratios) > 0.0 else "drop"


def hopeless_on_all_rows(rows: Sequence[Sequence[PairScore]], policy: Policy) -> bool:
    """Return whether a candidate is so far behind over all rows together that further pairs would be wasted.

    The mean over rows is much less noisy than a single row, so two rounds tell what four pairs of a row do not.

    Args:
        rows: the pairs of each row, in the order of measurement; only complete rounds count.
        policy: the policy.
    """
    rounds = min((len(pairs) for pairs in rows), default=0)
    if rounds < _LEAST_PAIRS:
        return False
    means = across_rows([[pair.log_ratio for pair in pairs[:rounds]] for pairs in rows])
    return all(math.exp(mean) < policy.rows_hopeless for mean in means)
