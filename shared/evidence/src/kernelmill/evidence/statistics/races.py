"""The race: a loose sequential test that eliminates and never crowns."""

from collections.abc import Sequence
from typing import Literal

from kernelmill.events import PairScore, Policy
from kernelmill.evidence.statistics.signed_rank import signed_rank_p

RaceDecision = Literal["continue", "drop", "keep"]
"""Run another pair; the candidate is out; the candidate goes on to the next gate."""


def race_decision(pairs: Sequence[PairScore], policy: Policy) -> RaceDecision:
    """Return what follows from the pairs so far against one opponent on one row.

    From `race_pairs_min` pairs on, a candidate that is slower at the one-sided `race_drop_level` is dropped, and one
    that is faster at the same level is kept without spending the remaining pairs. At `race_pairs_max` an undecided one
    is kept: the race saves device time, and looking several times only makes it a little looser.
    """
    if len(pairs) < policy.race_pairs_min:
        return "continue"
    ratios = [pair.log_ratio for pair in pairs]
    if signed_rank_p([-ratio for ratio in ratios]) <= policy.race_drop_level:
        return "drop"
    if signed_rank_p(ratios) <= policy.race_drop_level or len(pairs) >= policy.race_pairs_max:
        return "keep"
    return "continue"
