"""Reading correctness cases: the first one that speaks against a candidate."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from kernelmill.events import CaseOutcome


class CaseFailure(NamedTuple):
    """A case that was not passed."""

    outcome: str
    """The recorded outcome, or `wrong` where a case is recorded as passed over its bound."""
    words: str
    """For people; names the distribution and never a shape or a value of a hidden case."""


def first_failure(cases: Iterable[CaseOutcome]) -> CaseFailure | None:
    """Return the first case that was not passed or whose error exceeds its bound, None where all passed."""
    for case in cases:
        worst = case.worst_error
        if case.outcome != "passed":
            error = "" if worst is None else f", largest error {worst:.3g} times the bound"
            return CaseFailure(case.outcome, f"{case.outcome} on a {case.distribution} case{error}")
        if worst is None or math.isnan(worst) or worst > 1.0:
            return CaseFailure("wrong", f"recorded as passed on a {case.distribution} case with error {worst}")
    return None
