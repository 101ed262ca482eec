"""Errors of the cpu target. All of them are faults of the machinery, never of a candidate."""


class CpuTargetError(OSError):
    """The target cannot do its work on this machine."""


class CompilerMissingError(CpuTargetError):
    """The compiler that a program asks for is not installed."""


class MeasurementError(CpuTargetError):
    """Timing failed for a reason that says nothing about the candidate."""
