"""The protocols: Target, Session and the row of a problem that is timed."""

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from kernelmill.events import BuildOptions, Fingerprint, Sandboxing
from kernelmill.problems import TensorSpec, Uniform
from kernelmill.targets.port.outcomes import (
    Artifact,
    CallResult,
    CandidateFault,
    CompileFailure,
    InfrastructureFault,
    PairMeasured,
    PairPlan,
    Screening,
)
from kernelmill.targets.port.program import Call, Limits, Program


class TimedRow(Protocol):
    """One workload as the timing loop needs it; the problem implements it, the target knows no mathematics."""

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Inputs in the order of the definition."""
        ...

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Outputs in the order of the definition."""
        ...

    @property
    def axes(self) -> tuple[int, ...]:
        """Values of the var axes, in order."""
        ...

    def fill(self, into: Mapping[str, NDArray[np.generic]], seed: bytes, uniform: Uniform = ...) -> None:
        """Write fresh inputs into the given arrays; the same seed and `uniform` give the same inputs.

        Args:
            into: arrays by the names of the inputs.
            seed: at least 16 bytes.
            uniform: fills a float32 array; a target passes its own where that is faster than numpy's.
        """
        ...

    def spot_check(
        self, inputs: Mapping[str, NDArray[np.generic]], outputs: Mapping[str, NDArray[np.generic]], seed: bytes
    ) -> float:
        """Return the largest scaled error over secret random parts of the outputs; above 1 (or NaN) is wrong."""
        ...

    def full_check(
        self, inputs: Mapping[str, NDArray[np.generic]], outputs: Mapping[str, NDArray[np.generic]]
    ) -> float:
        """Return the largest scaled error over all outputs; above 1 (or NaN) is wrong."""
        ...

    def plant(self, into: Mapping[str, NDArray[np.generic]], seed: bytes) -> tuple[int, ...]:
        """Overwrite a part of filled inputs by hard ones, such as correctness cases have, and return which part."""
        ...

    def planted_check(
        self,
        inputs: Mapping[str, NDArray[np.generic]],
        outputs: Mapping[str, NDArray[np.generic]],
        rows: tuple[int, ...],
    ) -> float:
        """Return the largest scaled error over the part that `plant` named; above 1 (or NaN) is wrong."""
        ...


class Session(Protocol):
    """One fresh, exec'd, sandboxed process that has loaded an artifact. Use it as a context manager."""

    def run(self, call: Call) -> CallResult:
        """Run one call on poisoned outputs. After any outcome but `completed` the session is over."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Target(Protocol):
    """A kind of hardware with its toolchains. Planner, verifier and bench know only this."""

    name: str

    def fingerprint(self) -> Fingerprint:
        """Return everything a timing on this machine depends on besides the code."""
        ...

    def capabilities(self) -> dict[str, str]:
        """Return what NodeJoined tells: `native-flags` (what -march=native means here), `compilers`, `threads`."""
        ...

    def sandboxing(self) -> Sandboxing:
        """Return how strongly candidates are isolated on this machine."""
        ...

    def resolve(self, build: BuildOptions) -> BuildOptions:
        """Return the options with `native` replaced by named features."""
        ...

    def screen(self, program: Program, *, finite_inputs: bool) -> Screening:
        """Look at sources and flags only. `finite_inputs`: the problem leaves non-finite inputs undefined."""
        ...

    def compile(self, program: Program, *, layout_seed: bytes | None = None) -> Artifact | CompileFailure:
        """Build in the sandbox. A layout seed shuffles functions and pads randomly without touching the code."""
        ...

    def session(self, artifact: Artifact, limits: Limits) -> Session:
        """Return a fresh sandboxed process with the artifact loaded.

        Raises:
            OSError: when the sandbox itself cannot be set up.
        """
        ...

    def time_pair(
        self, candidate: Artifact, opponent: Artifact, row: TimedRow, plan: PairPlan, limits: Limits
    ) -> PairMeasured | CandidateFault | InfrastructureFault:
        """Time two fresh processes against each other on the same fresh inputs, outputs checked."""
        ...

    def probe_floor(self, footprint_bytes: int, flops: int, threads: int) -> float:
        """Return the seconds that the node's own best probe needs for these bytes and operations, cached per node."""
        ...
