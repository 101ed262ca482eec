"""Tunes baselines: every setting of a sweep against one reference, then the best ones once more. All of it blocks."""

from collections.abc import Iterator
from dataclasses import dataclass

from kernelmill.events import BuildOptions, TriedSetting
from kernelmill.problems import BaselineSource, Problem
from kernelmill.targets.port import Artifact, CompileFailure, Limits, Program
from kernelmill_gpu_bench.device import Device, Session
from kernelmill_gpu_bench.errors import BenchError

_QUICK_DUELS = 8
_FINAL_DUELS = 16
_FINALISTS = 2


@dataclass(frozen=True)
class Tuning:
    """What tuning found for one baseline on one row."""

    build: BuildOptions | None
    """Best settings; None for Python baselines and where it is unsupported."""
    nanoseconds: float
    tried: tuple[TriedSetting, ...]
    unsupported: str
    """Why the node cannot run it on this row; empty if it can."""


class Tuner:
    """Tunes the baselines of one problem on one device."""

    def __init__(self, device: Device, problem: Problem, limits: Limits, metric: str) -> None:
        self._device = device
        self._problem = problem
        self._limits = limits
        self._metric = metric
        self._reference = self._find_reference()
        self._settings: dict[str, list[tuple[BuildOptions, Program | None, str]]] = {}

    def tune(self, name: str, workload: str) -> Tuning:
        """Return the best settings of a baseline on a row."""
        source = self._problem.baselines[name]
        if missing := source.missing():
            return Tuning(None, 0.0, (), f"the Python package '{missing}' is not installed")
        if self._reference is None:
            return Tuning(None, 0.0, (), "no program of this problem runs here to compare with")
        tried: list[TriedSetting] = []
        scored: list[tuple[float, BuildOptions, Program]] = []
        for build, program, unbuilt in self._programs(source):
            ratio, nanoseconds, fault = 0.0, 0.0, unbuilt
            if program is not None:
                ratio, nanoseconds, fault = self._score(program, workload, _QUICK_DUELS)
            tried.append(TriedSetting(build=build, nanoseconds=nanoseconds, fault=fault[:400]))
            if program is not None and not fault:
                scored.append((ratio, build, program))
        if not scored:
            return Tuning(None, 0.0, tuple(tried), tried[0].fault if tried else "its sweep is empty")
        scored.sort(key=lambda item: -item[0])
        finals = []
        for _, build, program in scored[:_FINALISTS]:
            ratio, nanoseconds, fault = self._score(program, workload, _FINAL_DUELS)
            if not fault:
                finals.append((ratio, nanoseconds, build))
        if not finals:
            return Tuning(None, 0.0, tuple(tried), "its best settings failed when they were timed again")
        _, nanoseconds, build = max(finals, key=lambda item: item[0])
        return Tuning(build if source.kind == "c" else None, nanoseconds, tuple(tried), "")

    def _find_reference(self) -> Program | None:
        for source in self._problem.baselines.values():
            if source.kind == "c":
                for _, program, _ in self._candidates(source):
                    if program is not None:
                        return program
        for seed in self._problem.seeds.values():
            build = self._device.target.resolve(BuildOptions(flags=seed.flag_sets[0]))
            program = Program(files=seed.files, entry=seed.entry, build=build)
            if isinstance(self._device.target.compile(program), Artifact):
                return program
        return None

    def _programs(self, source: BaselineSource) -> list[tuple[BuildOptions, Program | None, str]]:
        if source.name not in self._settings:
            self._settings[source.name] = list(self._candidates(source))
        return self._settings[source.name]

    def _candidates(self, source: BaselineSource) -> Iterator[tuple[BuildOptions, Program | None, str]]:
        present = self._device.target.capabilities().get("compilers", "gcc").replace(",", " ").split()
        for build in source.sweep:
            if source.kind == "c" and build.compiler not in present:
                continue
            program = self._device.baseline_program(source, build)
            built = self._device.target.compile(program)
            failed = built.diagnostics if isinstance(built, CompileFailure) else ""
            yield program.build, None if failed else program, failed

    def _score(self, program: Program, workload: str, duels: int) -> tuple[float, float, str]:
        if self._reference is None:
            return 0.0, 0.0, "no reference"
        try:
            score = self._device.time_pair(
                (program, self._reference),
                self._problem,
                workload,
                Session(),
                self._limits,
                duels=duels,
                metric=self._metric,
                fresh=False,
            )
        except BenchError as error:
            return 0.0, 0.0, str(error)
        return score.log_ratio, score.candidate_ns, ""
