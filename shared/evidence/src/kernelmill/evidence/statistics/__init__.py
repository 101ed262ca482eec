"""The statistics of process pairs: exact, distribution-free, in log ratios (above 0 the candidate is faster)."""

from kernelmill.evidence.statistics.levels import confirmation_level, confirmation_pairs
from kernelmill.evidence.statistics.races import RaceDecision, hopeless_on_all_rows, race_decision
from kernelmill.evidence.statistics.rows import across_rows, geometric_mean_interval, worst_row_interval
from kernelmill.evidence.statistics.signed_rank import LogInterval, signed_rank_p, walsh_interval
from kernelmill.evidence.statistics.trimming import TRIM, trimmed_mean

__all__ = [
    "TRIM",
    "LogInterval",
    "RaceDecision",
    "across_rows",
    "confirmation_level",
    "confirmation_pairs",
    "geometric_mean_interval",
    "hopeless_on_all_rows",
    "race_decision",
    "signed_rank_p",
    "trimmed_mean",
    "walsh_interval",
    "worst_row_interval",
]
