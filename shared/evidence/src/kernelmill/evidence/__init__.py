"""Judging: from recorded evidence to verdicts and crowns, by pure functions that anyone can run again."""

from kernelmill.evidence.confirmation import confirm, head_to_head_effects
from kernelmill.evidence.correctness import CaseFailure, first_failure
from kernelmill.evidence.errors import EvidenceError, TooFewScoresError, UnknownJudgeError
from kernelmill.evidence.gathered import CandidateEvidence
from kernelmill.evidence.judges import JUDGES, Judge
from kernelmill.evidence.judging import judge, recompute
from kernelmill.evidence.policies import default_policy
from kernelmill.evidence.statistics import (
    LogInterval,
    RaceDecision,
    across_rows,
    confirmation_level,
    confirmation_pairs,
    geometric_mean_interval,
    hopeless_on_all_rows,
    race_decision,
    signed_rank_p,
    trimmed_mean,
    walsh_interval,
    worst_row_interval,
)
from kernelmill.evidence.verdict import BEST_BASELINE, HIDDEN_SHAPE_PREFIX, ConfirmationOutcome, VerdictBody

__all__ = [
    "BEST_BASELINE",
    "HIDDEN_SHAPE_PREFIX",
    "JUDGES",
    "CandidateEvidence",
    "CaseFailure",
    "ConfirmationOutcome",
    "EvidenceError",
    "Judge",
    "LogInterval",
    "RaceDecision",
    "TooFewScoresError",
    "UnknownJudgeError",
    "VerdictBody",
    "across_rows",
    "confirm",
    "confirmation_level",
    "confirmation_pairs",
    "default_policy",
    "first_failure",
    "geometric_mean_interval",
    "head_to_head_effects",
    "hopeless_on_all_rows",
    "judge",
    "race_decision",
    "recompute",
    "signed_rank_p",
    "trimmed_mean",
    "walsh_interval",
    "worst_row_interval",
]
