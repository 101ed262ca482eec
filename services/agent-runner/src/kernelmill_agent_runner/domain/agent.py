"""The agent port: from a brief to proposals."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernelmill.events import BuildOptions, Direction, LessonAdvice, Prediction
from kernelmill.problems import Problem
from kernelmill_agent_runner.domain.space import Genome


@dataclass(frozen=True)
class Known:
    """A candidate of the campaign as an agent may know it."""

    candidate: str
    genome: Genome
    """Empty for free-form code."""
    estimate: float | None
    """ln of the estimated speed-up over the best baselines; None where it was never timed."""
    failed: bool
    """Whether it was found wrong, did not compile, or misbehaved."""


@dataclass(frozen=True)
class Brief:
    """Everything that an agent gets for one task."""

    problem: Problem
    target: str
    direction: Direction
    parents: tuple[Known, ...]
    """Candidates to start from, best first."""
    known: tuple[Known, ...]
    """Candidates of the campaign so far."""
    taken: frozenset[str]
    """Ids of all candidates of the campaign: proposing one again is refused."""
    advice: tuple[LessonAdvice, ...]
    techniques: frozenset[str]
    """Allowed groups of choices; empty: all."""
    banned: frozenset[str]
    """Techniques that are out."""
    native: tuple[str, ...]
    """What -march=native means on the campaign's node."""
    compilers: tuple[str, ...]
    cap: int
    """Most proposals."""


@dataclass(frozen=True)
class Proposal:
    """One program that an agent proposes."""

    candidate: str
    """Digest of its content."""
    files: dict[str, bytes]
    entry: str
    build: BuildOptions
    parents: tuple[str, ...]
    configuration: dict[str, str]
    origin: str
    techniques: tuple[str, ...]
    hypothesis: str
    prediction: Prediction | None


class Agent(Protocol):
    """A proposer. It never builds or runs what it proposes."""

    name: str

    def propose(self, brief: Brief, generator: np.random.Generator) -> Iterable[Proposal]:
        """Yield up to `brief.cap` proposals that are not taken; the same brief and generator give the same ones."""
        ...
