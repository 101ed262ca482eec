"""Validates a problem before any candidate: null solutions and mutants fail at least twofold, honest ones pass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.problems.cases import Case, derive_cases
from kernelmill.problems.comparing import compare
from kernelmill.problems.errors import ProblemFormatError
from kernelmill.problems.problem import Problem, Reference
from kernelmill.problems.sources import module_of

FAILS_AT = 2.0
"""A wrong solution has to exceed the bound this many times."""

_ROUNDS = 3
_SECRET = b"validation of a problem, no secret"

Solution = Callable[[dict[str, NDArray[Any]], Mapping[str, int], Reference], dict[str, NDArray[Any]]]


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
        ProblemFormatError: reference.py, mutants.py or a baseline cannot be run.
    """
    rounds = [derive_cases(problem, _SECRET, "validation", number) for number in range(_ROUNDS)]
    prepared = [[_prepare(problem, case) for case in cases] for cases in rounds]
    failed = {name: _least(problem, solution, prepared) for name, solution in _wrong(problem).items()}
    passed = {name: _most(problem, solution, prepared) for name, solution in _honest(problem).items()}
    refuted = [Finding(name, worst) for name, worst in failed.items() if worst < FAILS_AT]
    refuted += [Finding(name, worst) for name, worst in passed.items() if worst > 1.0]
    return ValidationReport(failed, passed, tuple(refuted))


@dataclass(frozen=True)
class _Prepared:
    case: Case
    inputs: dict[str, NDArray[Any]]
    reference: Reference


def _prepare(problem: Problem, case: Case) -> _Prepared:
    inputs = case.inputs(problem)
    return _Prepared(case, inputs, problem.reference(inputs, case.axes))


def _worst_of_round(problem: Problem, solution: Solution, cases: list[_Prepared]) -> float:
    worst = 0.0
    for prepared in cases:
        outputs = solution(prepared.inputs, prepared.case.axes, prepared.reference)
        found = compare(problem, prepared.case.axes, prepared.reference, outputs)
        worst = max(worst, found.worst_error, found.worst_block)
    return worst


def _least(problem: Problem, solution: Solution, rounds: list[list[_Prepared]]) -> float:
    return min(_worst_of_round(problem, solution, cases) for cases in rounds)


def _most(problem: Problem, solution: Solution, rounds: list[list[_Prepared]]) -> float:
    return max(_worst_of_round(problem, solution, cases) for cases in rounds)


def _wrong(problem: Problem) -> dict[str, Solution]:
    solutions: dict[str, Solution] = {
        "zeros": lambda _inputs, axes, _reference: _filled(problem, axes, 0.0),
        "ones": lambda _inputs, axes, _reference: _filled(problem, axes, 1.0),
        "copied first input": lambda inputs, axes, _reference: _copied(problem, inputs, axes),
        "last element left out": lambda _inputs, axes, reference: _without_last(problem, axes, reference),
        "half precision": lambda _inputs, axes, reference: _rounded(problem, axes, reference),
    }
    if "mutants.py" in problem.files:
        module = module_of(problem.files["mutants.py"], "mutants.py")
        for name, function in vars(module).items():
            if (
                callable(function)
                and not name.startswith("_")
                and getattr(function, "__module__", "") == module.__name__
            ):
                solutions[name.replace("_", " ")] = _from_function(problem, function, f"mutants.py: {name}")
    return solutions


def _honest(problem: Problem) -> dict[str, Solution]:
    solutions: dict[str, Solution] = {}
    for name, baseline in problem.baselines.items():
        if baseline.kind == "python" and not baseline.missing():
            for path, source in baseline.files.items():
                run = module_of(source, f"baselines/{path}").__dict__.get("run")
                if not callable(run):
                    raise ProblemFormatError(f"baselines/{path}", "it has to define run(*inputs, *outputs, *axes)")
                solutions[name] = _from_baseline(problem, run)
    return solutions


def _filled(problem: Problem, axes: Mapping[str, int], value: float) -> dict[str, NDArray[Any]]:
    return {spec.name: np.full(spec.shape, value, dtype=spec.dtype) for spec in problem.output_specs(axes)}


def _copied(problem: Problem, inputs: dict[str, NDArray[Any]], axes: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    first = next(iter(inputs.values())).reshape(-1)
    return {
        spec.name: np.resize(first, spec.shape).astype(spec.dtype, copy=False) for spec in problem.output_specs(axes)
    }


def _without_last(problem: Problem, axes: Mapping[str, int], reference: Reference) -> dict[str, NDArray[Any]]:
    outputs = {}
    for spec in problem.output_specs(axes):
        values = _narrow(reference.outputs[spec.name], spec.dtype)
        values[..., -1] = 0
        outputs[spec.name] = values
    return outputs


def _rounded(problem: Problem, axes: Mapping[str, int], reference: Reference) -> dict[str, NDArray[Any]]:
    outputs = {}
    for spec in problem.output_specs(axes):
        mantissa, exponent = np.frexp(reference.outputs[spec.name])
        with np.errstate(all="ignore"):
            outputs[spec.name] = np.ldexp(np.round(mantissa * 2.0**11) / 2.0**11, exponent).astype(spec.dtype)
    return outputs


def _from_function(problem: Problem, function: Callable[..., Any], where: str) -> Solution:
    def solution(
        inputs: dict[str, NDArray[Any]], axes: Mapping[str, int], _reference: Reference
    ) -> dict[str, NDArray[Any]]:
        try:
            with np.errstate(all="ignore"):
                result = function(*inputs.values(), *problem.axis_values(axes))
        except Exception as error:
            raise ProblemFormatError(where, f"raises {type(error).__name__} for {dict(axes)}: {error}") from error
        values = result if isinstance(result, tuple) else (result,)
        specs = problem.output_specs(axes)
        return {spec.name: _narrow(np.asarray(value), spec.dtype) for spec, value in zip(specs, values, strict=True)}

    return solution


def _from_baseline(problem: Problem, run: Callable[..., None]) -> Solution:
    def solution(
        inputs: dict[str, NDArray[Any]], axes: Mapping[str, int], _reference: Reference
    ) -> dict[str, NDArray[Any]]:
        outputs = _filled(problem, axes, np.nan)
        with np.errstate(all="ignore"):
            run(*inputs.values(), *outputs.values(), *problem.axis_values(axes))
        return outputs

    return solution


def _narrow(values: NDArray[Any], dtype: np.dtype[np.generic]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return values.astype(dtype)
