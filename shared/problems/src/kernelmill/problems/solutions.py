"""Solutions that validation runs: wrong ones that have to fail, and honest ones that have to pass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.problems.cases import Case, case_seed
from kernelmill.problems.errors import ProblemFormatError
from kernelmill.problems.problem import Problem, Reference
from kernelmill.problems.sources import module_of

Outputs = dict[str, NDArray[Any]]

MUTANTS = "mutants.py"
_HALF_BITS = 11
_UNWRITTEN = -77


@dataclass(frozen=True)
class Prepared:
    """A case with its inputs and the right answer."""

    case: Case
    inputs: dict[str, NDArray[Any]]
    reference: Reference


Solution = Callable[[Prepared], Outputs]


def prepare(problem: Problem, case: Case) -> Prepared:
    """Return the case, ready to be solved."""
    inputs = case.inputs(problem)
    return Prepared(case, inputs, problem.reference(inputs, case.axes))


def wrong_solutions(problem: Problem) -> dict[str, Solution]:
    """Return null solutions and the mutants of mutants.py.

    Raises:
        ProblemFormatError: mutants.py cannot be loaded.
    """
    solutions: dict[str, Solution] = {
        "zeros": lambda prepared: _filled(problem, prepared.case.axes, 0),
        "ones": lambda prepared: _filled(problem, prepared.case.axes, 1),
        "copied first input": lambda prepared: _copied(problem, prepared),
        "answer to an earlier call": lambda prepared: _stale(problem, prepared),
        "last element left out": lambda prepared: _without_last(problem, prepared),
    }
    if _all_floats(problem):
        solutions["half precision"] = lambda prepared: _rounded(problem, prepared)
    if MUTANTS in problem.files:
        module = module_of(problem.files[MUTANTS], MUTANTS)
        for name, function in vars(module).items():
            own = callable(function) and getattr(function, "__module__", "") == module.__name__
            if own and not name.startswith("_"):
                solutions[name.replace("_", " ")] = _from_function(problem, function, f"{MUTANTS}: {name}")
    return solutions


def honest_solutions(problem: Problem) -> dict[str, Solution]:
    """Return the Python baselines whose modules are installed.

    Raises:
        ProblemFormatError: a baseline cannot be loaded.
    """
    solutions: dict[str, Solution] = {}
    for name, baseline in problem.baselines.items():
        if baseline.kind == "python" and not baseline.missing():
            for path, source in baseline.files.items():
                where = f"baselines/{path}"
                run = module_of(source, where).__dict__.get("run")
                if not callable(run):
                    raise ProblemFormatError(where, "it has to define run(*inputs, *outputs, *axes)")
                solutions[name] = _from_baseline(problem, run, where)
    return solutions


def rounded_reference(problem: Problem, axes: Mapping[str, int], reference: Reference) -> Outputs:
    """Return the right answer in the outputs' own types: the best that any program can write."""
    return {spec.name: _narrow(reference.outputs[spec.name], spec.dtype) for spec in problem.output_specs(axes)}


def _all_floats(problem: Problem) -> bool:
    return all(spec.dtype.kind == "f" for spec in problem.output_specs(problem.workloads[0].axes))


def _filled(problem: Problem, axes: Mapping[str, int], value: float) -> Outputs:
    return {spec.name: np.full(spec.shape, value, dtype=spec.dtype) for spec in problem.output_specs(axes)}


def _copied(problem: Problem, prepared: Prepared) -> Outputs:
    first = next(iter(prepared.inputs.values())).reshape(-1)
    specs = problem.output_specs(prepared.case.axes)
    return {spec.name: _narrow(np.resize(first, spec.shape), spec.dtype) for spec in specs}


def _stale(problem: Problem, prepared: Prepared) -> Outputs:
    case = prepared.case
    inputs = problem.make_inputs(case.axes, case.distribution, case_seed(case.seed, "earlier call"), case.scalars)
    return rounded_reference(problem, case.axes, problem.reference(inputs, case.axes))


def _without_last(problem: Problem, prepared: Prepared) -> Outputs:
    outputs = rounded_reference(problem, prepared.case.axes, prepared.reference)
    for values in outputs.values():
        np.atleast_1d(values)[..., -1:] = 0
    return outputs


def _rounded(problem: Problem, prepared: Prepared) -> Outputs:
    outputs = {}
    for spec in problem.output_specs(prepared.case.axes):
        mantissa, exponent = np.frexp(prepared.reference.outputs[spec.name])
        outputs[spec.name] = _narrow(
            np.ldexp(np.round(mantissa * 2.0**_HALF_BITS) / 2.0**_HALF_BITS, exponent), spec.dtype
        )
    return outputs


def _from_function(problem: Problem, function: Callable[..., Any], where: str) -> Solution:
    def solution(prepared: Prepared) -> Outputs:
        axes = prepared.case.axes
        specs = problem.output_specs(axes)
        try:
            with np.errstate(all="ignore"):
                result = function(*prepared.inputs.values(), *problem.axis_values(axes))
            values = result if isinstance(result, tuple) else (result,)
            return {
                spec.name: _narrow(np.asarray(value), spec.dtype) for spec, value in zip(specs, values, strict=True)
            }
        except Exception as error:
            raise ProblemFormatError(where, f"raises {type(error).__name__} for {dict(axes)}: {error}") from error

    return solution


def _from_baseline(problem: Problem, run: Callable[..., None], where: str) -> Solution:
    def solution(prepared: Prepared) -> Outputs:
        axes = prepared.case.axes
        # An output that is not written shows: no honest program leaves these values.
        outputs = _filled(problem, axes, np.nan) if _all_floats(problem) else _filled(problem, axes, _UNWRITTEN)
        try:
            with np.errstate(all="ignore"):
                run(*prepared.inputs.values(), *outputs.values(), *problem.axis_values(axes))
        except Exception as error:
            raise ProblemFormatError(where, f"run raises {type(error).__name__} for {dict(axes)}: {error}") from error
        return outputs

    return solution


def _narrow(values: NDArray[Any], dtype: np.dtype[np.generic]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return values.astype(dtype)
