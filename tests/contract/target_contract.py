"""What every target behind the port must do. A target's own test module inherits the suite and gives it programs."""

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelmill.events import BuildOptions
from kernelmill.problems import Uniform, numpy_uniform
from kernelmill.targets.port import (
    Artifact,
    Call,
    CandidateFault,
    CompileFailure,
    InfrastructureFault,
    Limits,
    PairMeasured,
    PairPlan,
    Program,
    Target,
    TensorSpec,
)

FLOAT = np.dtype(np.float32)
BOUND = 1e-5


@dataclass(frozen=True)
class DoublingRow:
    """y = 2 x: the simplest row that can be checked."""

    size: int = 4096

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        return (TensorSpec("x", (self.size,), FLOAT),)

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        return (TensorSpec("y", (self.size,), FLOAT),)

    @property
    def axes(self) -> tuple[int, ...]:
        return (self.size,)

    def fill(self, into: Mapping[str, NDArray[np.generic]], seed: bytes, uniform: Uniform = numpy_uniform) -> None:
        uniform(into["x"], 1.0, int.from_bytes(seed[:8], "little"))

    def spot_check(
        self, inputs: Mapping[str, NDArray[np.generic]], outputs: Mapping[str, NDArray[np.generic]], seed: bytes
    ) -> float:
        start = int.from_bytes(seed[:4], "little") % self.size
        part = slice(start, start + 64)
        return self._error(inputs["x"][part], outputs["y"][part])

    def full_check(
        self, inputs: Mapping[str, NDArray[np.generic]], outputs: Mapping[str, NDArray[np.generic]]
    ) -> float:
        return self._error(inputs["x"], outputs["y"])

    def plant(self, into: Mapping[str, NDArray[np.generic]], seed: bytes) -> tuple[int, ...]:
        """One element out of the range of all others."""
        place = int.from_bytes(seed[:4], "little") % self.size
        into["x"][place] = 100.0
        return (place,)

    def planted_check(
        self,
        inputs: Mapping[str, NDArray[np.generic]],
        outputs: Mapping[str, NDArray[np.generic]],
        rows: tuple[int, ...],
    ) -> float:
        return self._error(inputs["x"][list(rows)], outputs["y"][list(rows)])

    @staticmethod
    def _error(x: NDArray[np.generic], y: NDArray[np.generic]) -> float:
        return float(np.max(np.abs(2.0 * x.astype(np.float64) - y)) / BOUND)

    def call(self) -> Call:
        inputs = {spec.name: np.zeros(spec.shape, spec.dtype) for spec in self.inputs}
        self.fill(inputs, b"contract")
        return Call(inputs, self.outputs, self.axes)


def plan(duels: int = 8) -> PairPlan:
    return PairPlan(duels=duels, seed=os.urandom(16))


class TargetContract:
    """Inherit and give the fixtures below; the fixture `target` comes from the folder's conftest."""

    row = DoublingRow()

    @pytest.fixture
    @abstractmethod
    def right(self) -> Program:
        """Compute `DoublingRow`."""

    @pytest.fixture
    @abstractmethod
    def wrong(self) -> Program:
        """Write zeros everywhere."""

    @pytest.fixture
    @abstractmethod
    def unfinished(self) -> Program:
        """Leave the last element alone."""

    @pytest.fixture
    @abstractmethod
    def crashing(self) -> Program:
        """Die in the call."""

    @pytest.fixture
    @abstractmethod
    def broken(self) -> Program:
        """Not compile."""

    def built(self, target: Target, program: Program, layout_seed: bytes | None = None) -> Artifact:
        artifact = target.compile(program, layout_seed=layout_seed)
        assert isinstance(artifact, Artifact), artifact
        return artifact

    def test_fingerprint_is_stable(self, target: Target) -> None:
        assert target.fingerprint() == target.fingerprint()
        assert target.fingerprint().facts["target"] == target.name

    def test_capabilities_name_what_a_node_joined_event_needs(self, target: Target) -> None:
        assert {"native-flags", "compilers", "threads"} <= set(target.capabilities())

    def test_resolving_is_idempotent_and_leaves_no_native(self, target: Target) -> None:
        once = target.resolve(BuildOptions(flags=("-O3", "-march=native")))
        assert target.resolve(once) == once
        assert not [flag for flag in once.flags if "native" in flag]

    def test_honest_program_passes_screening(self, target: Target, right: Program) -> None:
        screening = target.screen(right, finite_inputs=False)
        assert screening.accepted, screening.reason
        assert screening.shape_fingerprint

    def test_result_of_compiling_is_named_by_its_bytes(self, target: Target, right: Program) -> None:
        first, second = self.built(target, right), self.built(target, right)
        assert first.digest == second.digest
        assert first.path.exists()

    def test_layouts_differ(self, target: Target, right: Program) -> None:
        layouts = {self.built(target, right, bytes([seed] * 16)).digest for seed in range(3)}
        assert len(layouts) == 3

    def test_program_that_does_not_compile_is_a_value(self, target: Target, broken: Program) -> None:
        failure = target.compile(broken)
        assert isinstance(failure, CompileFailure)
        assert failure.diagnostics
        assert not failure.timed_out

    def test_session_computes_call_after_call(self, target: Target, right: Program) -> None:
        with target.session(self.built(target, right), Limits()) as session:
            for _ in range(3):
                call = self.row.call()
                result = session.run(call)
                assert result.outcome == "completed", result.detail
                assert result.outputs is not None
                assert self.row.full_check(call.inputs, result.outputs) <= 1.0

    def test_outputs_start_poisoned(self, target: Target, unfinished: Program) -> None:
        with target.session(self.built(target, unfinished), Limits()) as session:
            result = session.run(self.row.call())
            assert result.outputs is not None
            assert np.isnan(result.outputs["y"][-1])

    def test_crash_ends_the_session(self, target: Target, crashing: Program) -> None:
        with target.session(self.built(target, crashing), Limits()) as session:
            for _ in range(2):
                result = session.run(self.row.call())
                assert result.outcome == "crashed"
                assert result.outputs is None
                assert result.detail

    def test_pair_is_scored(self, target: Target, right: Program) -> None:
        artifact = self.built(target, right)
        measured = target.time_pair(artifact, artifact, self.row, plan(), Limits())
        if isinstance(measured, InfrastructureFault):
            measured = target.time_pair(artifact, artifact, self.row, plan(), Limits())
        assert isinstance(measured, PairMeasured), measured
        assert measured.score.duels + measured.score.discarded == 8
        assert measured.score.candidate_ns > 0
        assert measured.worst_error <= 1.0
        assert measured.calls_checked >= 2 * 8
        assert measured.sandboxing == target.sandboxing()

    @pytest.mark.parametrize("side", ["candidate", "opponent"])
    @pytest.mark.parametrize("fault", ["wrong", "unfinished", "crashing"])
    def test_fault_names_side_and_reason(
        self, target: Target, right: Program, side: str, fault: str, request: pytest.FixtureRequest
    ) -> None:
        honest, faulty = self.built(target, right), self.built(target, request.getfixturevalue(fault))
        sides = (faulty, honest) if side == "candidate" else (honest, faulty)
        outcome = target.time_pair(*sides, self.row, plan(), Limits())
        assert isinstance(outcome, CandidateFault), outcome
        assert outcome.side == side
        assert outcome.reason == ("crashed" if fault == "crashing" else fault)

    def test_floor_grows_with_work(self, target: Target) -> None:
        small, large = (target.probe_floor(size, 0, 1) for size in (1 << 18, 1 << 24))
        assert 0 < small < large
        assert target.probe_floor(1 << 18, 10**9, 1) > small
