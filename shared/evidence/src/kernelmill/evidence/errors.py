"""Errors of this package; each says what is wrong and what to do."""


class EvidenceError(Exception):
    """The root of this package's errors."""


class UnknownJudgeError(EvidenceError, LookupError):
    """The policy names a judging function that this version does not have: install a version that has it."""


class TooFewScoresError(EvidenceError, ValueError):
    """A statistic was asked of fewer scores than it is defined for: measure more process pairs."""
