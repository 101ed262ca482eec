"""What is handed to a target: a program, a call of it, and limits."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmill.events import BuildOptions, CandidateProposed
from kernelmill.problems import TensorSpec


@dataclass(frozen=True)
class Program:
    """Sources with an entry point: a candidate, a seed or a baseline."""

    files: Mapping[str, bytes]
    """Path to bytes, LF line ends."""
    entry: str
    """Name of the exported function, or `run` for a Python baseline."""
    build: BuildOptions
    """How it is compiled; not used for Python baselines."""
    language: str = "c"
    """`c` (compiled) or `python` (a trusted baseline that the target's Python driver calls with `out=` arrays)."""
    link: tuple[str, ...] = ()
    """Trusted libraries that a baseline may link, by name; always empty for candidates."""


@dataclass(frozen=True)
class Call:
    """One call: inputs by name in the definition's order, the outputs to allocate, and the var axes in order."""

    inputs: Mapping[str, NDArray[np.generic]]
    outputs: tuple[TensorSpec, ...]
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Limits:
    """Limits on one sandboxed process."""

    wall_seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory_bytes: int = 2 << 30
    threads: int = 1


def program_of(proposed: CandidateProposed, sources: Mapping[str, bytes]) -> Program:
    """Return a candidate's program from its proposal and the bytes of its files."""
    return Program(files=dict(sources), entry=proposed.entry, build=proposed.build)
