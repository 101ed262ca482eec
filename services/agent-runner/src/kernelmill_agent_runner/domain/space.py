"""The design space of a seed: tunables, rewrites of its marked loops, and build flags, as one set of dimensions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernelmill.events import BuildOptions
from kernelmill.problems import Problem, Seed, render
from kernelmill_agent_runner.domain.rewrites import LoopRewrites, find_loops, rewrite_source

Group = Literal["tunables", "rewrites", "flags"]
Genome = Mapping[str, str]
"""A point of the space: the value of every dimension, and `seed`."""

SEED = "seed"


@dataclass(frozen=True)
class Dimension:
    """One choice."""

    name: str
    values: tuple[str, ...]
    default: str
    technique: str
    group: Group


@dataclass(frozen=True)
class Rendered:
    """A point of the space as a program."""

    files: dict[str, bytes]
    entry: str
    build: BuildOptions
    techniques: tuple[str, ...]
    """Techniques of the choices that differ from the seed as it stands, sorted."""


class Space:
    """The design space of one seed of one problem on one kind of node.

    Args:
        problem: the problem.
        seed: the seed.
        native: what -march=native means on the campaign's node.
        compilers: compilers that the node has.
        groups: groups of choices that may differ from the seed as it stands.
    """

    def __init__(
        self, problem: Problem, seed: Seed, native: Sequence[str], compilers: Sequence[str], groups: frozenset[str]
    ) -> None:
        self.problem = problem
        self.seed = seed
        self._native = tuple(native)
        self._groups = groups
        self.dimensions = [*_tunables(seed), *_rewrites(seed), *_flags(problem, seed, compilers)]

    @property
    def free(self) -> list[Dimension]:
        """Dimensions that may vary."""
        return [item for item in self.dimensions if item.group in self._groups and len(item.values) > 1]

    def defaults(self) -> dict[str, str]:
        """Return the seed as it stands."""
        return {SEED: self.seed.name} | {item.name: item.default for item in self.dimensions}

    def valid(self, genome: Genome) -> bool:
        """Return whether a genome belongs to this space and meets the seed's constraints."""
        if genome.get(SEED) != self.seed.name:
            return False
        if any(genome.get(item.name) not in item.values for item in self.dimensions):
            return False
        return self.seed.valid({item.name: int(genome[item.name]) for item in self.seed.tunables})

    def sample(self, generator: np.random.Generator) -> dict[str, str]:
        """Return a random valid genome."""
        for _ in range(1000):
            genome = self.defaults()
            for item in self.free:
                genome[item.name] = item.values[int(generator.integers(len(item.values)))]
            if self.valid(genome):
                return genome
        return self.defaults()

    def mutate(
        self, genome: Genome, generator: np.random.Generator, groups: frozenset[str], changes: int
    ) -> dict[str, str]:
        """Return a valid genome that differs in up to `changes` dimensions of the given groups."""
        free = [item for item in self.free if item.group in groups] or self.free
        if not free:
            return dict(genome)
        for _ in range(200):
            child = self.defaults() | {key: value for key, value in genome.items() if key in self.defaults()}
            for index in generator.choice(len(free), size=min(changes, len(free)), replace=False):
                item = free[int(index)]
                others = [value for value in item.values if value != child[item.name]]
                child[item.name] = others[int(generator.integers(len(others)))]
            if self.valid(child):
                return child
        return dict(genome)

    def cross(self, left: Genome, right: Genome, generator: np.random.Generator) -> dict[str, str]:
        """Return a valid genome with each choice from one of two parents; flags alone where their seeds differ."""
        shared = [item for item in self.free if item.name in right]
        if right.get(SEED) != self.seed.name:
            shared = [item for item in shared if item.group == "flags"]
        for _ in range(200):
            child = self.defaults() | {key: value for key, value in left.items() if key in self.defaults()}
            for item in shared:
                if generator.random() < 0.5 and right[item.name] in item.values:
                    child[item.name] = right[item.name]
            if self.valid(child):
                return child
        return dict(left)

    def render(self, genome: Genome) -> Rendered:
        """Return the program that a valid genome means."""
        tunables = {item.name: int(genome[item.name]) for item in self.seed.tunables}
        files = render(self.seed, tunables)
        simd = False
        for path in files:
            loops, wants_simd = _wanted_loops(genome, path, len(find_loops(self.seed.files[path])))
            vector_exp = genome.get(f"vector-exp@{path}", "0") == "1"
            if loops or vector_exp:
                files[path] = rewrite_source(files[path], loops, vector_exp=vector_exp)
            simd = simd or wants_simd
        flags = self._build_flags(genome, simd=simd)
        build = BuildOptions.model_validate(
            {"compiler": genome["compiler"], "standard": self.seed.standard, "flags": flags}
        )
        changed = {item.technique for item in self.dimensions if genome[item.name] != item.default and item.technique}
        return Rendered(files, self.seed.entry, build, tuple(sorted(changed | set(self.seed.techniques))))

    def _build_flags(self, genome: Genome, *, simd: bool) -> tuple[str, ...]:
        flags: list[str] = []
        for item in self.dimensions:
            if item.group == "flags" and item.name != "compiler":
                flags += _FLAGS[item.name][genome[item.name]]
        if simd:
            flags.append("-fopenmp-simd")
        resolved: list[str] = []
        for flag in flags:
            resolved += self._native if flag == "-march=native" else (flag,)
        return tuple(resolved)


_FLAGS: dict[str, dict[str, tuple[str, ...]]] = {
    "optimise": {"O2": ("-O2", "-march=native"), "O3": ("-O3", "-march=native")},
    "vector-bits": {
        "default": (),
        "256": ("-mprefer-vector-width=256",),
        "512": ("-mprefer-vector-width=512",),
    },
    "math-errno": {"kept": (), "ignored": ("-fno-math-errno",)},
    "associative": {
        "no": (),
        "yes": ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
    },
    "reciprocal": {"no": (), "yes": ("-freciprocal-math",)},
    "finite": {"no": (), "yes": ("-ffinite-math-only",)},
    "unroll-loops": {"no": (), "yes": ("-funroll-loops",)},
}


def _tunables(seed: Seed) -> list[Dimension]:
    return [
        Dimension(item.name, tuple(map(str, item.values)), str(item.default), item.technique, "tunables")
        for item in seed.tunables
    ]


def _rewrites(seed: Seed) -> list[Dimension]:
    found = []
    for path, source in sorted(seed.files.items()):
        for ordinal, loop in enumerate(find_loops(source)):
            place = f"@{path}:{ordinal}"
            found.append(
                Dimension(f"lanes{place}", ("1", "8", "16", "32", "64", "128"), "1", "accumulators", "rewrites")
            )
            found.append(Dimension(f"unroll{place}", ("1", "2", "4", "8"), "1", "unroll", "rewrites"))
            found.append(Dimension(f"simd{place}", ("0", "1"), "0", "simd-directive", "rewrites"))
            if loop.arrays:
                found.append(Dimension(f"prefetch{place}", ("0", "64", "256", "1024"), "0", "prefetch", "rewrites"))
        if b"expf(" in source:
            found.append(Dimension(f"vector-exp@{path}", ("0", "1"), "0", "vector-exp", "rewrites"))
    return found


def _flags(problem: Problem, seed: Seed, compilers: Sequence[str]) -> list[Dimension]:
    errno = "ignored" if "-fno-math-errno" in seed.flag_sets[0] else "kept"
    level = "O2" if "-O2" in seed.flag_sets[0] else "O3"
    found = [
        Dimension("compiler", tuple(compilers), compilers[0], "compiler", "flags"),
        Dimension("optimise", ("O2", "O3"), level, "optimisation-level", "flags"),
        Dimension("vector-bits", ("default", "256", "512"), "default", "vector-width", "flags"),
        Dimension("math-errno", ("kept", "ignored"), errno, "math-errno", "flags"),
        Dimension("associative", ("no", "yes"), "no", "associative-math", "flags"),
        Dimension("reciprocal", ("no", "yes"), "no", "reciprocal", "flags"),
        Dimension("unroll-loops", ("no", "yes"), "no", "unroll", "flags"),
    ]
    if problem.settings.finite_inputs:
        found.append(Dimension("finite", ("no", "yes"), "no", "finite-math", "flags"))
    return found


def _wanted_loops(genome: Genome, path: str, count: int) -> tuple[dict[int, LoopRewrites], bool]:
    loops, simd = {}, False
    for ordinal in range(count):
        place = f"@{path}:{ordinal}"
        wanted = LoopRewrites(
            lanes=int(genome.get(f"lanes{place}", "1")),
            unroll=int(genome.get(f"unroll{place}", "1")),
            simd=genome.get(f"simd{place}", "0") == "1",
            prefetch=int(genome.get(f"prefetch{place}", "0")),
        )
        if wanted != LoopRewrites():
            loops[ordinal] = wanted
            simd = simd or wanted.simd
    return loops, simd
