"""The next step of a check, from the candidate's own stream: a check that was cut off goes on where the stream ends."""

from typing import Literal

from kernelmill.events import Policy
from kernelmill.folds import CandidateState

CheckStep = Literal["start", "lost", "screen", "compile", "run-cases", "done"]


def next_step(state: CandidateState, policy: Policy, *, started_here: bool) -> CheckStep:
    """Return what a check has to do next.

    Args:
        state: fold of the candidate's stream.
        policy: says how many starts without a result are believed.
        started_here: whether this very delivery has announced its start already.
    """
    failed_before = any(failure.stage == "check" for failure in state.failures)
    if state.terminal or failed_before or state.correctness is not None or state.compile_failed is not None:
        return "done"
    if state.screened is not None and state.screened.outcome != "passed":
        return "done"
    if not started_here:
        return "lost" if state.starts["check", ""] >= policy.attempts else "start"
    if state.screened is None:
        return "screen"
    return "compile" if state.compiled is None else "run-cases"
