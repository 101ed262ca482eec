"""The bench's hands: the programs of baselines, process pairs, floors. Everything here blocks."""

import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelmill.events import BaselineTuned, BuildOptions, PairScore, Telemetry
from kernelmill.problems import BaselineSource, Problem
from kernelmill.targets.port import (
    CandidateFault,
    InfrastructureFault,
    Limits,
    PairMeasured,
    PairPlan,
    Program,
    Target,
)
from kernelmill_gpu_bench.errors import DeviceFaultError, MisbehaviourError
from kernelmill_gpu_bench.layouts import Layouts, PooledLayouts

_SMALL_BYTES = 1 << 20
_ATTEMPTS = 2


@dataclass
class Session:
    """What one measurement has seen of the machine."""

    seconds: float = 0.0
    calls_checked: int = 0
    worst_error: float | None = None
    dispatch_ns: float = 0.0
    telemetry: list[Telemetry] = field(default_factory=list)

    def add(self, measured: PairMeasured) -> None:
        """Take a pair."""
        self.seconds += measured.seconds
        self.calls_checked += measured.calls_checked
        self.worst_error = max(self.worst_error or 0.0, measured.worst_error)
        self.dispatch_ns = min(self.dispatch_ns or math.inf, measured.single_call_ns or math.inf)
        self.telemetry.append(measured.telemetry)


class Device:
    """One target on this machine, used by one measurement at a time."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.pool = PooledLayouts(target)
        """Binaries for races and tuning."""

    def baseline_program(self, source: BaselineSource, build: BuildOptions | None) -> Program:
        """Return a baseline's program at the given settings."""
        return Program(
            files=source.files,
            entry=source.entry,
            build=self.target.resolve(build) if build is not None else BuildOptions(),
            language=source.kind,
            link=source.link,
        )

    def tuned_program(self, problem: Problem, tuned: BaselineTuned) -> Program:
        """Return a baseline's program at the settings that tuning found."""
        return self.baseline_program(problem.baselines[tuned.baseline], tuned.build)

    def time_pair(  # noqa: PLR0913 - a pair is made of all of these
        self,
        sides: tuple[Program, Program],
        problem: Problem,
        workload: str,
        session: Session,
        limits: Limits,
        *,
        layouts: Layouts,
        duels: int,
        error_scale: float = 1.0,
        metric: str = "warm-throughput",
    ) -> PairScore:
        """Time one process pair, candidate first, and return its score; both processes are fresh.

        Args:
            sides: the candidate's program and the opponent's.
            problem: the problem.
            workload: the row.
            session: takes what is seen of the machine.
            limits: limits on each process.
            layouts: where both sides' binaries come from.
            duels: duels that count.
            error_scale: multiplies the error bound.
            metric: how the row is timed.

        Raises:
            MisbehaviourError: the candidate did something that it may not.
            DeviceFaultError: the machinery or the opponent failed, twice.
        """
        trouble = ""
        for _ in range(_ATTEMPTS):
            plan = PairPlan(
                duels=duels,
                metric=metric,
                seed=secrets.token_bytes(32),
                batch_seconds=batch_seconds(problem, workload),
            )
            artifacts = [layouts.of(side) for side in sides]
            row = problem.timed_row(workload, error_scale)
            measured = self.target.time_pair(artifacts[0], artifacts[1], row, plan, limits)
            if isinstance(measured, PairMeasured):
                session.add(measured)
                return measured.score
            session.seconds += measured.seconds
            if isinstance(measured, CandidateFault) and measured.side == "candidate":
                raise MisbehaviourError(measured.reason, f"{workload}: {measured.detail}")
            trouble = measured.reason if isinstance(measured, InfrastructureFault) else f"opponent: {measured.detail}"
        raise DeviceFaultError(f"row {workload} could not be timed: {trouble}")

    def floors(
        self, problem: Problem, workloads: Mapping[str, Mapping[str, int]], threads: int, factor: float
    ) -> dict[str, float]:
        """Return for each row the nanoseconds below which a time is not believed."""
        floors = {}
        for workload, axes in workloads.items():
            work = problem.floor(axes)
            floors[workload] = self.target.probe_floor(work.bytes, work.flops, threads) * 1e9 * factor
        return floors


def batch_seconds(problem: Problem, workload: str) -> float:
    """Return the aimed length of a batch: half a millisecond, a whole one where a call moves more than a MiB."""
    moved = problem.floor(problem.workload(workload).axes).bytes
    return 0.0005 if moved < _SMALL_BYTES else 0.001
