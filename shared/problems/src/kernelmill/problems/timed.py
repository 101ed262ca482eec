"""One row of a problem as the timing loop needs it: fill, spot check, full check."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.problems.comparing import holds_poison, worst_error
from kernelmill.problems.definition import Workload
from kernelmill.problems.problem import Arrays, Problem
from kernelmill.problems.tensor import TensorSpec
from kernelmill.problems.uniform import Uniform, numpy_uniform

_ROWS = 2
_COLUMNS = 32
_SPREAD = 2.0


class ProblemRow:
    """A timed row. Inputs are uniform: as cheap as copying, fresh for every duel, and nothing to memoise."""

    def __init__(self, problem: Problem, workload: Workload, error_scale: float) -> None:
        self._problem = problem
        self._workload = workload
        self._error_scale = error_scale
        self._axes = dict(workload.axes)
        self._scalars = problem.scalars(workload)
        self._inputs = problem.input_specs(self._axes)
        self._outputs = problem.output_specs(self._axes)
        declared = problem.settings.inputs
        self._spreads = {
            spec.name: _SPREAD * (declared[spec.name].scale if spec.name in declared else 1.0)
            for spec in self._inputs
            if spec.dtype == np.float32 and not (spec.name in declared and declared[spec.name].choices)
        }

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Inputs in the order of the definition."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Outputs in the order of the definition."""
        return self._outputs

    @property
    def axes(self) -> tuple[int, ...]:
        """Lengths of the var axes, in order."""
        return self._problem.axis_values(self._axes)

    def fill(self, into: Mapping[str, NDArray[Any]], seed: bytes, uniform: Uniform = numpy_uniform) -> None:
        """Write fresh inputs into the given arrays: uniform within two standard deviations of the declared scale."""
        for number, spec in enumerate(self._inputs):
            name, array = spec.name, into[spec.name]
            if name in self._scalars:
                array[...] = self._scalars[name]
            elif name in self._spreads:
                uniform(array, self._spreads[name], int.from_bytes(_own(seed, number)[:8], "big"))
            else:
                bits = np.random.SFC64(int.from_bytes(_own(seed, number), "big"))
                array[...] = self._drawn(np.random.Generator(bits), spec)

    def _drawn(self, generator: np.random.Generator, spec: TensorSpec) -> NDArray[Any]:
        declared = self._problem.settings.inputs.get(spec.name)
        if declared is not None and declared.choices:
            return generator.choice(np.asarray(declared.choices), spec.shape)
        return generator.standard_normal(spec.shape)

    def spot_check(self, inputs: Arrays, outputs: Arrays, seed: bytes) -> float:
        """Return the largest scaled error over a few secret rows (and columns, for products); NaN if unfinished."""
        sampling = self._problem.settings.sampling
        if sampling is None:
            return self.full_check(inputs, outputs)
        generator = np.random.Generator(np.random.SFC64(int.from_bytes(seed, "big")))
        chosen = {sampling.rows: self._choose(generator, sampling.rows, _ROWS)}
        if sampling.columns is not None:
            chosen[sampling.columns] = self._choose(generator, sampling.columns, _COLUMNS)
        return self._worst_of_part(inputs, outputs, chosen)

    def full_check(self, inputs: Arrays, outputs: Arrays) -> float:
        """Return the largest scaled error over all outputs; NaN if unfinished."""
        return self._worst(inputs, outputs, self._axes)

    def plant(self, into: Arrays, seed: bytes) -> tuple[int, ...]:
        """Overwrite random rows, or all where rows are not independent, by families of the hidden cases.

        Returns:
            The rows, for `planted_check`; empty where everything was overwritten.
        """
        generator = np.random.Generator(np.random.SFC64(int.from_bytes(seed, "big")))
        families = list(self._problem.settings.distributions)
        drawn = [families[index] for index in generator.permutation(len(families))]
        sampling = self._problem.settings.sampling
        if sampling is None:
            made = self._problem.make_inputs(self._axes, drawn[0], seed, self._scalars)
            for name, array in made.items():
                into[name][...] = array
            return ()
        axis = sampling.rows
        rows = generator.permutation(self._axes[axis])[: len(drawn)]
        for row, family in zip(rows, drawn, strict=False):
            made = self._problem.make_inputs(self._axes | {axis: 1}, family, _own(seed, int(row)), self._scalars)
            for name, tensor in self._problem.definition.inputs.items():
                shape = tensor.shape or ()
                if axis in shape:
                    place: tuple[Any, ...] = (slice(None),) * shape.index(axis)
                    into[name][(*place, row)] = made[name][(*place, 0)]
        return tuple(sorted(int(row) for row in rows))

    def planted_check(self, inputs: Arrays, outputs: Arrays, rows: tuple[int, ...]) -> float:
        """Return the largest scaled error over planted rows; NaN if unfinished."""
        sampling = self._problem.settings.sampling
        if sampling is None or not rows:
            return self.full_check(inputs, outputs)
        return self._worst_of_part(inputs, outputs, {sampling.rows: np.asarray(rows)})

    def _choose(self, generator: np.random.Generator, axis: str, count: int) -> NDArray[np.int64]:
        length = self._axes[axis]
        return np.unique(generator.integers(0, length, min(count, length)))

    def _worst_of_part(self, inputs: Arrays, outputs: Arrays, chosen: Mapping[str, NDArray[np.int64]]) -> float:
        axes = self._axes | {axis: len(indices) for axis, indices in chosen.items()}
        definition = self._problem.definition
        part = {name: take(inputs[name], tensor.shape, chosen) for name, tensor in definition.inputs.items()}
        written = {name: take(outputs[name], tensor.shape, chosen) for name, tensor in definition.outputs.items()}
        return self._worst(part, written, axes)

    def _worst(self, inputs: Arrays, outputs: Arrays, axes: Mapping[str, int]) -> float:
        if any(holds_poison(array) for array in outputs.values()):
            return float("nan")
        reference = self._problem.reference(inputs, axes)
        return worst_error(self._problem, axes, reference, outputs, self._error_scale)


def _own(seed: bytes, number: int) -> bytes:
    """Return the seed of one input."""
    return hashlib.sha256(seed + number.to_bytes(4, "big")).digest()


def take(array: NDArray[Any], shape: tuple[str, ...] | None, chosen: Mapping[str, NDArray[np.int64]]) -> NDArray[Any]:
    """Return the part of a tensor that has only the chosen indices of some axes."""
    for place, axis in enumerate(shape or ()):
        if axis in chosen:
            array = np.take(array, chosen[axis], axis=place)
    return array
