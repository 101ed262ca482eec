"""Validates a problem before any candidate: null solutions and mutants fail at least twofold, honest ones pass."""

import math
from dataclasses import dataclass

import numpy as np

from kernelmill.problems.cases import derive_cases
from kernelmill.problems.comparing import compare
from kernelmill.problems.errors import ProblemFormatError
from kernelmill.problems.problem import Problem
from kernelmill.problems.solutions import (
    Prepared,
    Solution,
    honest_solutions,
    prepare,
    rounded_reference,
    wrong_solutions,
)

FAILS_AT = 2.0
"""A wrong solution has to exceed the bound this many times."""

_ROUNDS = 3
_SECRET = b"validation of a problem, no secret"


@dataclass(frozen=True)
class Finding:
    """A solution on the wrong side of the bound."""

    name: str
    worst_error: float


@dataclass(frozen=True)
class ValidationReport:
    """What validation found."""

    failed: dict[str, float]
    """Null solutions and mutants with their largest scaled error, all of which should be at least 2."""
    passed: dict[str, float]
    """Honest implementations with theirs, all of which should be at most 1."""
    refuted_by: tuple[Finding, ...]
    """Wrong solutions that got through, and honest ones that did not."""

    @property
    def valid(self) -> bool:
        """Whether the problem tells right from wrong."""
        return not self.refuted_by

    @property
    def detail(self) -> str:
        """What is wrong, in words."""
        lines = []
        for finding in self.refuted_by:
            if finding.name in self.failed:
                lines.append(
                    f"the wrong solution '{finding.name}' reaches only {finding.worst_error:.3g} of the bound, "
                    f"{FAILS_AT} is needed: tighten [bound] or add a distribution under which it matters"
                )
            else:
                lines.append(
                    f"the honest implementation '{finding.name}' is at {finding.worst_error:.3g} of the bound, at most "
                    "1 may be: the bound is too tight for it, or it is not right"
                )
        return "; ".join(lines)


def validate(problem: Problem) -> ValidationReport:
    """Run null solutions, mutants (mutants.py) and honest implementations (Python baselines) on three case rounds.

    A wrong solution counts as failed when it exceeds the bound twofold in *every* round: a candidate sees one only.

    Raises:
        ProblemFormatError: reference.py, mutants.py or a baseline cannot be run, or [sampling] does not hold.
    """
    _check_sampling(problem)
    rounds = [derive_cases(problem, _SECRET, "validation", number) for number in range(_ROUNDS)]
    prepared = [[prepare(problem, case) for case in cases] for cases in rounds]

    def worst_of_rounds(solution: Solution) -> list[float]:
        return [_worst_of_round(problem, solution, cases) for cases in prepared]

    failed = {name: min(worst_of_rounds(solution)) for name, solution in wrong_solutions(problem).items()}
    passed = {name: max(worst_of_rounds(solution)) for name, solution in honest_solutions(problem).items()}
    refuted = [Finding(name, worst) for name, worst in failed.items() if worst < FAILS_AT]
    refuted += [Finding(name, worst) for name, worst in passed.items() if worst > 1.0]
    return ValidationReport(failed, passed, tuple(refuted))


def _worst_of_round(problem: Problem, solution: Solution, cases: list[Prepared]) -> float:
    worst = 0.0
    for prepared in cases:
        found = compare(problem, prepared.case.axes, prepared.reference, solution(prepared))
        worst = max(worst, found.worst_error, found.worst_block)
    return worst


def _check_sampling(problem: Problem) -> None:
    """Check that a right answer passes the timing loop's own checks, which look at parts of it."""
    workload = min(problem.timed_workloads or problem.workloads, key=lambda row: math.prod(row.axes.values()))
    row = problem.timed_row(workload.uuid)
    inputs = {spec.name: np.empty(spec.shape, spec.dtype) for spec in row.inputs}
    row.fill(inputs, _SECRET)
    outputs = rounded_reference(problem, workload.axes, problem.reference(inputs, workload.axes))
    if row.full_check(inputs, outputs) > 1.0:
        return  # The bound itself is too tight; the honest solutions tell that.
    for number in range(_ROUNDS):
        try:
            worst = row.spot_check(inputs, outputs, bytes([number]) * 16)
            why = f"they are off by {worst:.3g} times the bound"
        except ProblemFormatError as error:
            worst, why = math.inf, error.message
        if not worst <= 1.0:
            message = (
                f"[sampling] does not hold: the outputs at a few indices cannot be computed from the inputs at these "
                f"alone ({why}); name an axis along which outputs are independent, or leave [sampling] out"
            )
            raise ProblemFormatError("problem.toml", message)
