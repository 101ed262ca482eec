"""Whether the files of a problem's folder agree with each other."""

from kernelmill.problems.errors import ExpressionError, ProblemFormatError
from kernelmill.problems.expression import evaluate
from kernelmill.problems.problem import Problem

_SETTINGS = "problem.toml"


def check_consistency(problem: Problem) -> None:
    """Check names and lengths across files.

    Raises:
        ProblemFormatError: a file names what another does not have, or a row breaks a rule.
    """
    _check_axes(problem)
    _check_sampling(problem)
    ids = {row.uuid for row in problem.workloads}
    for row_id in problem.settings.confirmation_only:
        if row_id not in ids:
            message = f"confirmation_only names '{row_id}', which is no row of workloads.jsonl"
            raise ProblemFormatError(_SETTINGS, message)
    for name in problem.settings.inputs:
        if name not in problem.definition.inputs:
            raise ProblemFormatError(_SETTINGS, f"[inputs.{name}] is no input of the definition")
    _check_lengths(problem)


def unchecked_constraints(problem: Problem) -> tuple[str, ...]:
    """Return the definition's constraints that are no expressions over its axes."""
    return tuple(
        text for text in problem.definition.constraints if _holds(problem, text, problem.workloads[0].axes) is None
    )


def _check_axes(problem: Problem) -> None:
    settings = problem.settings
    if set(settings.sizes) != set(problem.var_axes):
        raise ProblemFormatError(_SETTINGS, f"[sizes] has to list lengths for exactly {list(problem.var_axes)}")
    for place, names in (("derived_axes", settings.derived_axes), ("[multiples]", settings.multiples)):
        for axis in names:
            if axis not in problem.var_axes:
                raise ProblemFormatError(_SETTINGS, f"{place} names '{axis}', which is no var axis of the definition")


def _check_sampling(problem: Problem) -> None:
    sampling = problem.settings.sampling
    for axis in (sampling.rows, sampling.columns) if sampling else ():
        if axis is None:
            continue
        if axis not in problem.var_axes:
            raise ProblemFormatError(_SETTINGS, f"[sampling] names '{axis}', which is no var axis of the definition")
        for name, tensor in problem.definition.outputs.items():
            if axis not in (tensor.shape or ()):
                message = f"[sampling] names '{axis}', which the output {name} does not have; leave [sampling] out"
                raise ProblemFormatError(_SETTINGS, message)


def _check_lengths(problem: Problem) -> None:
    for row in problem.workloads:
        for expression in problem.definition.constraints:
            if _holds(problem, expression, row.axes) is False:
                raise ProblemFormatError("workloads.jsonl", f"row {row.uuid} does not meet '{expression}'")
        for axis, expression in problem.settings.derived_axes.items():
            try:
                length = evaluate(expression, row.axes)
            except ExpressionError as error:
                raise ProblemFormatError(_SETTINGS, f"derived_axes: {error}") from error
            if row.axes[axis] != length:
                message = f"row {row.uuid} has {axis} = {row.axes[axis]}, but derived_axes makes it {length}"
                raise ProblemFormatError("workloads.jsonl", message)


def _holds(problem: Problem, expression: str, axes: dict[str, int]) -> bool | None:
    """Return whether a constraint holds; None where it is no expression over axes."""
    try:
        return bool(evaluate(expression, problem.all_axes(axes)))
    except ExpressionError:
        return None
