"""Binaries of a program in random layouts: one lucky layout must not win. Everything here blocks."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol

from kernelmill.identity import digest_framed
from kernelmill.targets.port import Artifact, CompileFailure, Program, Target
from kernelmill_gpu_bench.errors import DeviceFaultError

_LAYOUTS = 4
_USES = 2
"""Uses of a program for which another layout is built: most candidates are out after a few pairs."""
_PROGRAMS_KEPT = 64


class Layouts(Protocol):
    """Where a pair gets its binaries from."""

    def of(self, program: Program) -> Artifact:
        """Return a binary of the program.

        Raises:
            DeviceFaultError: it does not build here, although it was built before.
        """
        ...


class PooledLayouts:
    """A random one of a few layouts, built on first need: enough for races, which never crown."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pools: OrderedDict[str, _Pool] = OrderedDict()

    def of(self, program: Program) -> Artifact:
        """Return a new layout on every other use while the pool is not full, else any of it."""
        key = _identity(program)
        pool = self._pools.setdefault(key, _Pool())
        self._pools.move_to_end(key)
        while len(self._pools) > _PROGRAMS_KEPT:
            self._pools.popitem(last=False)
        pool.used += 1
        wanted = 1 if program.language == "python" else min(_LAYOUTS, -(-pool.used // _USES))
        if len(pool.built) < wanted:
            pool.built.append(_build(self._target, program))
            return pool.built[-1]
        return secrets.choice(pool.built)


@dataclass
class _Pool:
    built: list[Artifact] = field(default_factory=list)
    used: int = 0


class FreshLayouts:
    """One layout that was never used, kept for one round of pairs.

    The scores that a confirmation tests are means over the rows of a round, so rounds have to be independent; rows of
    the same round may share a binary.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._built: dict[str, Artifact] = {}

    def of(self, program: Program) -> Artifact:
        """Return this round's binary of the program."""
        key = _identity(program)
        if key not in self._built:
            self._built[key] = _build(self._target, program)
        return self._built[key]


def _build(target: Target, program: Program) -> Artifact:
    seed = None if program.language == "python" else secrets.token_bytes(16)
    built = target.compile(program, layout_seed=seed)
    if isinstance(built, CompileFailure):
        raise DeviceFaultError(f"a program that was accepted does not build here: {built.diagnostics[:400]}")
    return built


def _identity(program: Program) -> str:
    parts = [part for path in sorted(program.files) for part in (path.encode(), program.files[path])]
    return digest_framed([program.entry.encode(), program.build.model_dump_json().encode(), *parts])
