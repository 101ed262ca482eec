"""Tunes baselines: every setting of a sweep against one reference, then the best ones once more. All of it blocks."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from kernelmill.events import BuildOptions, PairScore, TriedSetting
from kernelmill.problems import BaselineSource, Problem
from kernelmill.targets.port import Artifact, CompileFailure, Limits, Program
from kernelmill_gpu_bench.device import Device, Session
from kernelmill_gpu_bench.errors import BenchError

_DUELS = 8
_FINALISTS = 2
_MORE_PAIRS = 2
"""Pairs of each finalist besides the first, so that a median is of three."""
_FAR_BEHIND = 0.5


@dataclass(frozen=True)
class Tuning:
    """What tuning found for one baseline on one row."""

    build: BuildOptions | None
    """Best settings; None for Python baselines and where it is unsupported."""
    nanoseconds: float
    log_ratio: float
    """Over the common reference; 0 where it is unsupported."""
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
        self._best: dict[str, float] = {}
        """The best log ratio so far on each row."""
        self._settings: dict[str, list[tuple[BuildOptions, Program | None, str]]] = {}

    def tune(self, name: str, workload: str) -> Tuning:
        """Return the best settings of a baseline on a row."""
        source = self._problem.baselines[name]
        if missing := source.missing():
            return Tuning(None, 0.0, 0.0, (), f"the Python package '{missing}' is not installed")
        if self._reference is None:
            return Tuning(None, 0.0, 0.0, (), "no program of this problem runs here to compare with")
        tried: list[TriedSetting] = []
        scored: list[tuple[PairScore, BuildOptions, Program]] = []
        for build, program, unbuilt in self._programs(source):
            score, fault = self._score(program, workload) if program is not None else (None, unbuilt)
            tried.append(TriedSetting(build=build, nanoseconds=score.candidate_ns if score else 0.0, fault=fault[:400]))
            if program is not None and score is not None:
                scored.append((score, build, program))
        if not scored:
            return Tuning(None, 0.0, 0.0, tuple(tried), tried[0].fault if tried else "its sweep is empty")
        scored.sort(key=lambda item: -item[0].log_ratio)
        finals = [(self._again(score, program, workload), build) for score, build, program in scored[:_FINALISTS]]
        best, build = max(finals, key=lambda item: median(score.log_ratio for score in item[0]))
        self._best[workload] = max(self._best.get(workload, -math.inf), median(score.log_ratio for score in best))
        return Tuning(
            build if source.kind == "c" else None,
            median(score.candidate_ns for score in best),
            median(score.log_ratio for score in best),
            tuple(tried),
            "",
        )

    def _again(self, first: PairScore, program: Program, workload: str) -> list[PairScore]:
        """Return the first score and those of further pairs: one process can be slow for life.

        A baseline that is far behind another one on the row will never be anybody's opponent, and one pair tells that.
        """
        if first.log_ratio < self._best.get(workload, -math.inf) - _FAR_BEHIND:
            return [first]
        more = (self._score(program, workload)[0] for _ in range(_MORE_PAIRS))
        return [first, *(score for score in more if score is not None)]

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

    def _score(self, program: Program, workload: str) -> tuple[PairScore | None, str]:
        """Return the score of one pair against the reference, or why there is none."""
        if self._reference is None:
            return None, "no reference"
        try:
            score = self._device.time_pair(
                (program, self._reference),
                self._problem,
                workload,
                Session(),
                self._limits,
                layouts=self._device.pool,
                duels=_DUELS,
                metric=self._metric,
            )
        except BenchError as error:
            return None, str(error)
        return score, ""
