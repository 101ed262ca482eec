"""Runs correctness cases through a session of any target: the reference stays on this side."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmill.events import CaseOutcome
from kernelmill.problems import Case, Problem, compare, input_digest, largest_difference
from kernelmill.targets.port.outcomes import Artifact, CallResult
from kernelmill.targets.port.port import Session, Target
from kernelmill.targets.port.program import Call, Limits

REPEAT_SHARE = 0.25
"""Largest difference between two runs, as a share of the error bound."""


@dataclass(frozen=True)
class CheckRules:
    """What a campaign demands of an outcome."""

    error_scale: float = 1.0
    """Multiplies the problem's bound; below 1 is stricter."""
    bitwise: bool = False
    """Whether two runs have to agree to the bit."""


@dataclass(frozen=True)
class CheckedCases:
    """Outcomes of the cases that were run; after a failed case the rest is not run."""

    outcomes: tuple[CaseOutcome, ...]
    bitwise_repeatable: bool | None
    """Whether repeated runs agreed to the bit; None when none completed."""

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return bool(self.outcomes) and all(item.outcome == "passed" for item in self.outcomes)


def run_cases(  # noqa: PLR0913, PLR0917 - a check is made of all of these
    target: Target, artifact: Artifact, problem: Problem, cases: Iterable[Case], limits: Limits, rules: CheckRules
) -> CheckedCases:
    """Run every case twice in one fresh session and compare with the reference.

    Raises:
        OSError: the sandbox could not be set up; that says nothing about the program.
    """
    outcomes: list[CaseOutcome] = []
    repeatable: bool | None = None
    with target.session(artifact, limits) as session:
        for case in cases:
            outcome, agreed = _run_case(session, problem, case, rules)
            outcomes.append(outcome)
            if agreed is not None:
                repeatable = agreed if repeatable is None else repeatable and agreed
            if outcome.outcome != "passed":
                break
    return CheckedCases(tuple(outcomes), repeatable)


def _run_case(session: Session, problem: Problem, case: Case, rules: CheckRules) -> tuple[CaseOutcome, bool | None]:
    inputs = case.inputs(problem)
    digest = input_digest(inputs)
    call = Call(inputs, problem.output_specs(case.axes), problem.axis_values(case.axes))
    results: list[dict[str, NDArray[np.generic]]] = []
    for _ in range(2):
        result = session.run(call)
        if result.outputs is None:
            return _failed(case, digest, result), None
        results.append({name: array.copy() for name, array in result.outputs.items()})
    reference = problem.reference(inputs, case.axes)
    worst = [compare(problem, case.axes, reference, outputs, rules.error_scale) for outputs in results]
    found = max(worst, key=lambda item: (not item.passed, item.worst_error))
    agreed = all(results[0][name].tobytes() == results[1][name].tobytes() for name in results[0])
    difference = 0.0 if agreed else largest_difference(problem, case.axes, reference, results[0], results[1])
    limit = 0.0 if rules.bitwise or problem.settings.deterministic else REPEAT_SHARE
    outcome = CaseOutcome(
        case=case.id,
        distribution=case.distribution,
        axes=case.axes,
        outcome="unfinished"
        if found.unfinished
        else "non-finite"
        if found.non_finite
        else "wrong"
        if not found.passed
        else "nondeterministic"
        if difference > limit
        else "passed",
        worst_error=found.worst_error,
        quantiles=found.quantiles,
        worst_block=found.worst_block,
        repeat_difference=difference,
        input_digest=digest,
    )
    return outcome, agreed


def _failed(case: Case, digest: str, result: CallResult) -> CaseOutcome:
    outcome = "state-changed" if result.outcome == "input-changed" else result.outcome
    return CaseOutcome.model_validate(
        {
            "case": case.id,
            "distribution": case.distribution,
            "axes": case.axes,
            "outcome": outcome,
            "worst_error": None,
            "input_digest": digest,
        }
    )
