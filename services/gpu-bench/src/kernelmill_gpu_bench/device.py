"""The bench's hands: builds programs in fresh layouts and times process pairs. Everything here blocks."""

import math
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelmill.events import BaselineTuned, BuildOptions, PairScore, Telemetry
from kernelmill.identity import digest_framed
from kernelmill.problems import BaselineSource, Problem
from kernelmill.targets.port import (
    Artifact,
    CandidateFault,
    CompileFailure,
    InfrastructureFault,
    Limits,
    PairMeasured,
    PairPlan,
    Program,
    Target,
)
from kernelmill_gpu_bench.errors import DeviceFaultError, MisbehaviourError

_SMALL_BYTES = 1 << 20
_ATTEMPTS = 2
_RACE_DUELS = 12
"""Processes differ by more than duels within a pair do, so a race spends its time on pairs."""
_CONFIRMATION_DUELS = 20
_LAYOUTS = 4
_PROGRAMS_KEPT = 64


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
        self._layouts: OrderedDict[str, list[Artifact]] = OrderedDict()

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

    def build(self, program: Program, *, fresh: bool = True) -> Artifact:
        """Build a program in a random layout: a new one, or one of a few that were built before.

        Races draw from a small pool of layouts, which is enough to keep one lucky layout from winning; confirmations
        are always built anew.

        Raises:
            DeviceFaultError: it does not build here, although it was built before.
        """
        key = _identity(program)
        pool = self._layouts.setdefault(key, [])
        self._layouts.move_to_end(key)
        while len(self._layouts) > _PROGRAMS_KEPT:
            self._layouts.popitem(last=False)
        wanted = 1 if program.language == "python" else _LAYOUTS
        if not fresh and len(pool) >= wanted:
            return secrets.choice(pool)
        built = self._build(program)
        if not fresh:
            pool.append(built)
        return built

    def _build(self, program: Program) -> Artifact:
        seed = None if program.language == "python" else secrets.token_bytes(16)
        built = self.target.compile(program, layout_seed=seed)
        if isinstance(built, CompileFailure):
            raise DeviceFaultError(f"a program that was accepted does not build here: {built.diagnostics[:400]}")
        return built

    def time_pair(  # noqa: PLR0913 - a pair is made of all of these
        self,
        sides: tuple[Program, Program],
        problem: Problem,
        workload: str,
        session: Session,
        limits: Limits,
        *,
        duels: int | None = None,
        error_scale: float = 1.0,
        metric: str = "warm-throughput",
        fresh: bool = True,
    ) -> PairScore:
        """Time one process pair, candidate first, and return its score; both processes are fresh.

        Args:
            sides: the candidate's program and the opponent's.
            problem: the problem.
            workload: the row.
            session: takes what is seen of the machine.
            limits: limits on each process.
            duels: duels that count; None: as many as a race or a confirmation takes.
            error_scale: multiplies the error bound.
            metric: how the row is timed.
            fresh: whether both sides are built anew, in layouts that were never used.

        Raises:
            MisbehaviourError: the candidate did something that it may not.
            DeviceFaultError: the machinery or the opponent failed, twice.
        """
        trouble = ""
        for _ in range(_ATTEMPTS):
            plan = PairPlan(
                duels=duels or (_CONFIRMATION_DUELS if fresh else _RACE_DUELS),
                metric=metric,
                seed=secrets.token_bytes(32),
                batch_seconds=batch_seconds(problem, workload),
            )
            artifacts = [self.build(side, fresh=fresh) for side in sides]
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


def _identity(program: Program) -> str:
    parts = [part for path in sorted(program.files) for part in (path.encode(), program.files[path])]
    return digest_framed([program.entry.encode(), program.build.model_dump_json().encode(), *parts])


def batch_seconds(problem: Problem, workload: str) -> float:
    """Return the aimed length of a batch: half a millisecond, a whole one where a call moves more than a MiB."""
    moved = problem.floor(problem.workload(workload).axes).bytes
    return 0.0005 if moved < _SMALL_BYTES else 0.001
