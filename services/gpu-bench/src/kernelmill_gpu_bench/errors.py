"""Errors of the bench."""


class BenchError(Exception):
    """The root of this package's errors."""


class DeviceFaultError(BenchError):
    """The machinery failed while it timed; it says nothing about a candidate."""


class MisbehaviourError(BenchError):
    """A check of timed outputs or of the frozen process found something."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
