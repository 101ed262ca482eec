"""Compares outputs with the reference, element by element and block by block."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.problems.problem import Problem, Reference

QUANTILES = (0.5, 0.9, 0.99, 0.999)
"""Quantiles of the scaled error that are recorded."""

_UNIT_ROUNDOFF = {"f2": 2.0**-11, "f4": 2.0**-24, "f8": 2.0**-53}
_PAYLOAD = {2: 0x01FF, 4: 0x003FFFFF, 8: 0x0007FFFFFFFFFFFF}
_UNSIGNED = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_WORST = 1e9
"""Scaled errors are capped here, so that they stay finite on the log."""
_BLOCK = 64
"""Blocks shorter than this are judged element by element only: their mean says nothing more."""


@dataclass(frozen=True)
class Comparison:
    """How far outputs are from the reference, in units of the error bound: at most 1 passes."""

    worst_error: float
    """Largest scaled error over all elements of all outputs, capped at 1e9."""
    quantiles: tuple[float, ...]
    """Quantiles of the scaled error, see `QUANTILES`."""
    worst_block: float
    """Largest root-mean-square scaled error over the blocks (rows), in units of the block bound."""
    unfinished: bool
    """Whether an element still holds the poison that outputs start from."""
    non_finite: bool
    """Whether an element is not finite where the reference is, or the other way round."""

    @property
    def passed(self) -> bool:
        """Whether everything is within the bound."""
        return self.worst_error <= 1.0 and self.worst_block <= 1.0 and not self.unfinished and not self.non_finite


def error_bound(
    problem: Problem, axes: Mapping[str, int], reference: Reference, name: str, error_scale: float
) -> NDArray[np.float64]:
    """Return the bound of each element of one output.

    c * u * sqrt(k) * magnitude + absolute, with the unit roundoff u of the output's dtype and the reduction length k:
    the probabilistic form of the standard bound for sums (Higham and Mary 2019); the magnitude carries the condition.
    Integers have to be exact.
    """
    bound = problem.settings.bound
    dtype = np.dtype(problem.definition.outputs[name].dtype)
    if dtype.kind != "f":
        return np.zeros_like(reference.magnitude[name])
    roundoff = _UNIT_ROUNDOFF[dtype.str[1:]]
    factor = bound.constant * roundoff * np.sqrt(problem.reduction_length(axes)) * error_scale
    return np.asarray(factor * reference.magnitude[name] + bound.absolute, dtype=np.float64)


def compare(
    problem: Problem,
    axes: Mapping[str, int],
    reference: Reference,
    outputs: Mapping[str, NDArray[Any]],
    error_scale: float = 1.0,
) -> Comparison:
    """Compare a call's outputs with the reference.

    Args:
        problem: the problem.
        axes: lengths of the var axes.
        reference: the right answer for the same inputs.
        outputs: what the program wrote, by name.
        error_scale: multiplies the bound; below 1 is stricter.
    """
    scaled = []
    worst_block, unfinished, non_finite = 0.0, False, False
    for name, expected in reference.outputs.items():
        actual = outputs[name]
        unfinished = unfinished or holds_poison(actual)
        error = _scaled(actual, expected, error_bound(problem, axes, reference, name, error_scale))
        non_finite = non_finite or bool(np.any((error > 0) & (np.isfinite(actual) != np.isfinite(expected))))
        scaled.append(error.reshape(-1))
        if error.ndim and error.size and error.shape[-1] >= _BLOCK:
            root = np.sqrt(np.mean(error**2, axis=-1))
            worst_block = max(worst_block, float(root.max()) / problem.settings.bound.block_constant)
    everything = np.concatenate(scaled) if scaled else np.zeros(1)
    return Comparison(
        worst_error=float(everything.max()),
        quantiles=tuple(float(value) for value in np.quantile(everything, QUANTILES)),
        worst_block=min(worst_block, _WORST),
        unfinished=unfinished,
        non_finite=non_finite,
    )


def largest_difference(
    problem: Problem,
    axes: Mapping[str, int],
    reference: Reference,
    first: Mapping[str, NDArray[Any]],
    second: Mapping[str, NDArray[Any]],
) -> float:
    """Return the largest difference between two runs in units of the error bound; 0 where they agree to the bit."""
    worst = 0.0
    for name in reference.outputs:
        scaled = _scaled(first[name], second[name], error_bound(problem, axes, reference, name, 1.0))
        worst = max(worst, float(scaled.max(initial=0.0)))
    return worst


def worst_error(
    problem: Problem,
    axes: Mapping[str, int],
    reference: Reference,
    outputs: Mapping[str, NDArray[Any]],
    error_scale: float,
) -> float:
    """Return the largest scaled error alone, which is all that the timing loop has time for."""
    worst = 0.0
    for name, expected in reference.outputs.items():
        scaled = _scaled(outputs[name], expected, error_bound(problem, axes, reference, name, error_scale))
        worst = max(worst, float(scaled.max(initial=0.0)))
    return worst


def _scaled(actual: NDArray[Any], expected: NDArray[Any], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the error in units of the bound: 0 where both are the same (NaN, infinities), capped where not finite."""
    if actual.dtype.kind != "f":
        return np.where(actual == expected, 0.0, _WORST)
    with np.errstate(all="ignore"):
        error: NDArray[np.float64] = np.abs(np.asarray(actual, dtype=np.float64) - expected) / bound
    if np.all(error <= _WORST):
        return error
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    return np.where(same, 0.0, np.where(error <= _WORST, error, _WORST))


def holds_poison(array: NDArray[Any]) -> bool:
    """Return whether a floating point array holds a NaN with a payload, which no arithmetic of ours makes.

    The NaN that x86 and numpy make themselves has an empty payload; outputs are poisoned with others.
    """
    if array.dtype.kind != "f" or array.dtype.itemsize not in _PAYLOAD:
        return False
    suspicious = np.isnan(array)
    if not suspicious.any():
        return False
    bits = np.ascontiguousarray(array[suspicious]).view(_UNSIGNED[array.dtype.itemsize])
    return bool(np.any(bits & _PAYLOAD[array.dtype.itemsize]))
