"""A problem: what is to be computed, on which rows, how right it has to be."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.identity import digest_framed
from kernelmill.problems.baselines import BaselineSource
from kernelmill.problems.definition import ConstAxis, Definition, Tensor, Workload
from kernelmill.problems.distributions import FAMILIES
from kernelmill.problems.errors import ProblemFormatError, UnknownWorkloadError
from kernelmill.problems.expression import evaluate
from kernelmill.problems.seeds import Seed
from kernelmill.problems.settings import Settings
from kernelmill.problems.tensor import TensorSpec

if TYPE_CHECKING:
    from kernelmill.problems.cases import Case
    from kernelmill.problems.timed import ProblemRow

Arrays = Mapping[str, NDArray[Any]]

_LARGEST_INTEGER = 100
"""Bound on integer inputs without declared choices; it fits every integer type."""


@dataclass(frozen=True)
class Reference:
    """The right answer in float64 (integers in int64), and the magnitude that the error bound is made of, by output."""

    outputs: dict[str, NDArray[Any]]
    magnitude: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Floor:
    """What any implementation has to move and do for one call."""

    bytes: int
    flops: int


@dataclass(frozen=True, eq=False)
class Problem:
    """A validated folder. Make it with `load_problem` or `problem_from_files`."""

    files: Mapping[str, bytes]
    """Every file of the folder by its path."""
    definition: Definition
    workloads: tuple[Workload, ...]
    settings: Settings
    baselines: dict[str, BaselineSource]
    """What a user would use instead, by name."""
    seeds: dict[str, Seed]
    """Starting candidates, by name."""
    functions: Mapping[str, Any]
    """`run` and `magnitude` of reference.py."""

    @property
    def name(self) -> str:
        """Name of the problem."""
        return self.definition.name

    @cached_property
    def digest(self) -> str:
        """Digest over path and bytes of every file."""
        return digest_framed(part for path in sorted(self.files) for part in (path.encode(), self.files[path]))

    @cached_property
    def var_axes(self) -> tuple[str, ...]:
        """Names of the var axes in the order in which kernels get them."""
        return tuple(name for name, axis in self.definition.axes.items() if not isinstance(axis, ConstAxis))

    @cached_property
    def timed_workloads(self) -> tuple[Workload, ...]:
        """Rows that races and confirmations time, without the confirmation-only ones."""
        return tuple(row for row in self.workloads if row.uuid not in self.settings.confirmation_only)

    def workload(self, workload: str) -> Workload:
        """Return a row by its id.

        Raises:
            UnknownWorkloadError: there is none.
        """
        for row in self.workloads:
            if row.uuid == workload:
                return row
        known = ", ".join(row.uuid for row in self.workloads)
        raise UnknownWorkloadError(f"problem {self.name} has no workload '{workload}'; it has {known}")

    def all_axes(self, axes: Mapping[str, int]) -> dict[str, int]:
        """Return the lengths of all axes, the const ones included."""
        constants = {name: axis.value for name, axis in self.definition.axes.items() if isinstance(axis, ConstAxis)}
        return constants | {name: axes[name] for name in self.var_axes}

    def input_specs(self, axes: Mapping[str, int]) -> tuple[TensorSpec, ...]:
        """Return shapes and dtypes of the inputs in the definition's order."""
        return self._specs(self.definition.inputs, axes)

    def output_specs(self, axes: Mapping[str, int]) -> tuple[TensorSpec, ...]:
        """Return shapes and dtypes of the outputs in the definition's order."""
        return self._specs(self.definition.outputs, axes)

    def axis_values(self, axes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the lengths of the var axes in the order in which kernels get them."""
        return tuple(axes[name] for name in self.var_axes)

    def reference(self, inputs: Arrays, axes: Mapping[str, int]) -> Reference:
        """Return the right answer in float64 (integers exact) with its magnitude.

        Args:
            inputs: arrays by name, as the kernel gets them.
            axes: lengths of the var axes.

        Raises:
            ProblemFormatError: reference.py raises, or returns something else than one array for each output.
        """
        wide = {name: self._widen(inputs[name]) for name in self.definition.inputs}
        lengths = self.axis_values(axes)
        specs = self.output_specs(axes)
        answers: dict[str, dict[str, NDArray[Any]]] = {}
        for function in ("run", "magnitude"):
            with np.errstate(all="ignore"):
                try:
                    answers[function] = _named(self.functions[function](*wide.values(), *lengths), specs, function)
                except ProblemFormatError:
                    raise
                except Exception as error:
                    raise ProblemFormatError(
                        "reference.py", f"{function} raises {type(error).__name__} for {dict(axes)}: {error}"
                    ) from error
        for name, array in answers["magnitude"].items():
            if np.any(array < 0):
                raise ProblemFormatError("reference.py", f"magnitude of {name} is negative somewhere for {dict(axes)}")
        return Reference(answers["run"], answers["magnitude"])

    def make_inputs(
        self,
        axes: Mapping[str, int],
        distribution: str,
        seed: bytes,
        scalars: Mapping[str, float] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Return inputs of one distribution family; the same seed gives the same inputs.

        Args:
            axes: lengths of the var axes.
            distribution: a family that problem.toml lists; inputs declared `plain` stay normal.
            seed: at least 16 bytes.
            scalars: values of scalar inputs; others are drawn from their declared choices.
        """
        generator = np.random.Generator(np.random.SFC64(int.from_bytes(seed, "big")))
        scale = self.settings.distributions.get(distribution, 1.0)
        made: dict[str, NDArray[Any]] = {}
        for spec in self.input_specs(axes):
            declared = self.settings.inputs.get(spec.name)
            if scalars is not None and spec.name in scalars:
                made[spec.name] = np.asarray(scalars[spec.name], dtype=spec.dtype)
            elif declared is not None and declared.choices:
                made[spec.name] = generator.choice(np.asarray(declared.choices), spec.shape).astype(spec.dtype)
            elif declared is not None and declared.plain:
                made[spec.name] = (generator.standard_normal(spec.shape) * declared.scale).astype(spec.dtype)
            else:
                own = 1.0 if declared is None else declared.scale
                values = np.asarray(FAMILIES[distribution](generator, spec.shape, scale * own))
                if spec.dtype.kind != "f":
                    values = np.clip(np.nan_to_num(values), -_LARGEST_INTEGER, _LARGEST_INTEGER)
                made[spec.name] = values.astype(spec.dtype)
        return made

    def cases(self, secret: bytes, subject: str, case_round: int) -> tuple["Case", ...]:
        """Return the hidden cases of one candidate and round; see `kernelmill.problems.cases`."""
        from kernelmill.problems.cases import derive_cases  # noqa: PLC0415 - cases are made from problems

        return derive_cases(self, secret, subject, case_round)

    def public_cases(self) -> tuple["Case", ...]:
        """Return public twins of the hidden cases: same families and kinds of shapes, a constant seed."""
        return self.cases(b"public twins of the hidden cases", "public", 0)

    def timed_row(self, workload: str, error_scale: float = 1.0) -> "ProblemRow":
        """Return a row as the timing loop needs it."""
        from kernelmill.problems.timed import ProblemRow  # noqa: PLC0415 - rows are made from problems

        return ProblemRow(self, self.workload(workload), error_scale)

    def floor(self, axes: Mapping[str, int]) -> Floor:
        """Return the bytes and operations that any implementation needs for one call."""
        names = self.all_axes(axes)
        return Floor(evaluate(self.settings.floor.bytes, names), evaluate(self.settings.floor.flops, names))

    def reduction_length(self, axes: Mapping[str, int]) -> int:
        """Return k, the length of the longest reduction."""
        return max(1, evaluate(self.settings.bound.reduction, self.all_axes(axes)))

    def scalars(self, workload: Workload) -> dict[str, float]:
        """Return the scalar inputs that a row fixes."""
        return {name: float(made.value) for name, made in workload.inputs.items() if made.type == "scalar"}

    def _specs(self, tensors: Mapping[str, Tensor], axes: Mapping[str, int]) -> tuple[TensorSpec, ...]:
        lengths = self.all_axes(axes)
        return tuple(
            TensorSpec(
                name,
                tuple(lengths[axis] for axis in tensor.shape or ()),
                np.dtype(tensor.dtype),
                self.settings.alignment,
            )
            for name, tensor in tensors.items()
        )

    @staticmethod
    def _widen(array: NDArray[Any]) -> NDArray[Any]:
        return array.astype(np.float64) if array.dtype.kind == "f" else array


def _named(result: Any, specs: tuple[TensorSpec, ...], function: str) -> dict[str, NDArray[Any]]:
    values = result if isinstance(result, tuple | list) else [result]
    if len(values) != len(specs):
        raise ProblemFormatError(
            "reference.py", f"{function} returns {len(values)} arrays, the definition has {len(specs)} outputs"
        )
    arrays = {}
    for spec, value in zip(specs, values, strict=True):
        exact = function == "run" and spec.dtype.kind != "f"
        array = np.asarray(value, dtype=np.int64 if exact else np.float64)
        if array.shape != spec.shape:
            raise ProblemFormatError(
                "reference.py", f"{function} returns {spec.name} of shape {array.shape}, the axes make it {spec.shape}"
            )
        arrays[spec.name] = array
    return arrays
