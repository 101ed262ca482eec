"""What the end of a harness means: from exit status, signal and the harness's own hint to an outcome with words."""

import signal
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kernelmill.sandbox import Ended
from kernelmill.targets.port import Limits

REPORT_NONE, _, REPORT_MEMORY, REPORT_INPUT, REPORT_STATE, REPORT_GUARD = range(6)
EXIT_SILENT, EXIT_STATE = 3, 4
Failure = Literal["crashed", "timed-out", "memory", "state-changed", "input-changed"]


@dataclass(frozen=True)
class HarnessFailed:
    """The process ended, or must be ended, and why."""

    outcome: Failure
    detail: str


class Report(NamedTuple):
    """What the harness wrote about its end, if it could; a hint that names a failure and never excuses one."""

    kind: int
    number: int
    address: int


def explain(ended: Ended, report: Report, limits: Limits) -> tuple[Failure, str]:
    """Return the outcome and its words, which go on with when it happened.

    Args:
        ended: What the launcher saw: the truth.
        report: What the harness wrote: believed only where it agrees with the truth.
        limits: The limits under which it ran.
    """
    if ended.kind == "signal":
        return _explain_signal(ended, limits)
    if ended.number == EXIT_SILENT:
        return "crashed", "it closed its channel to the parent"
    if report.kind == REPORT_STATE and ended.number == EXIT_STATE:
        vector, legacy = ((word >> 32, word & 0xFFFFFFFF) for word in (report.number, report.address))
        changes = (f"{vector[0]:#x} became {vector[1]:#x}", f"{legacy[0]:#x} became {legacy[1]:#x}")
        return "state-changed", f"floating point control state changed: vector {changes[0]}, x87 {changes[1]},"
    if report.kind == REPORT_NONE or ended.number != 128 + report.number:
        return "crashed", f"it ended with exit status {ended.number}"
    return _explain_caught(report, limits)


def _explain_caught(report: Report, limits: Limits) -> tuple[Failure, str]:
    name = _signal_name(report.number)
    if report.kind == REPORT_INPUT:
        return "input-changed", f"it wrote to an input ({name})"
    if report.kind == REPORT_GUARD:
        return "crashed", f"it read or wrote beyond an input or output ({name})"
    if report.kind == REPORT_MEMORY:
        return "memory", f"it asked for more than {limits.memory_bytes >> 20} MiB ({name})"
    return "crashed", f"{name} at address {report.address:#x}"


def _explain_signal(ended: Ended, limits: Limits) -> tuple[Failure, str]:
    if ended.number == signal.SIGKILL:
        if ended.timed_out or ended.cpu_seconds >= 0.95 * limits.cpu_seconds:
            return "timed-out", "it was killed at its limit of CPU or wall time"
        return "memory", "it was killed by the kernel, most likely for memory,"
    hint = " (a system call that kernels may not make)" if ended.number == signal.SIGSYS else ""
    return "crashed", f"{_signal_name(ended.number)}{hint}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
