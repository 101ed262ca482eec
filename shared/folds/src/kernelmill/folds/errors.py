"""Errors of the folds; each says what is wrong, where, and what to do."""


class FoldError(Exception):
    """The root of this package's errors."""


class EmptyStreamError(FoldError):
    """A stream that has to start with a certain event is empty or starts with another one."""
