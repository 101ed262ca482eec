"""What a target answers. A fault of the candidate is a value; a fault of the machinery is another value."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernelmill.events import PairScore, Sandboxing, Telemetry, Traits


@dataclass(frozen=True)
class Screening:
    """What screening found in the sources."""

    accepted: bool
    reason: str
    """Empty when accepted; otherwise what is wrong, where, and what to do."""
    traits: Traits
    shape_fingerprint: str
    """Versioned fingerprint of the normalised token stream, for near duplicates; never the identity."""
    extractor: str
    """Name and version of the extractor."""
    construct: bool = False
    """Whether it is refused for a construct in the sources alone: that only saves money, for later gates find what the
    construct would be used for."""


@dataclass(frozen=True)
class Artifact:
    """A program that can be run."""

    path: Path
    digest: str
    """sha256 of the artifact's bytes."""
    toolchain: str
    """Compiler and version, linker flags, harness version."""
    seconds: float
    """Build time."""
    size: int
    """Bytes of text and data."""
    entry: str
    language: str = "c"
    resources: dict[str, float] = field(default_factory=dict)
    """Target-specific figures, for example bytes of text or stack."""


@dataclass(frozen=True)
class CompileFailure:
    """The program does not compile, or not within its limits."""

    stage: Literal["compile", "link", "load"]
    diagnostics: str
    """The compiler's words, with the build folder's path removed."""
    timed_out: bool
    seconds: float


CallOutcome = Literal["completed", "crashed", "timed-out", "memory", "state-changed", "input-changed"]


@dataclass(frozen=True)
class CallResult:
    """What one call did. Outputs start out poisoned; whoever compares them looks for poison."""

    outcome: CallOutcome
    outputs: dict[str, NDArray[np.generic]] | None
    """By name; present when `completed`."""
    detail: str
    """For people: the signal, the limit, the changed register."""


@dataclass(frozen=True)
class PairPlan:
    """How one process pair is timed."""

    duels: int
    """ABBA duels that count."""
    warmup: int = 3
    """Duels before them, not counted."""
    batch_seconds: float = 0.0005
    """Aimed length of a batch; the target chooses the number of calls."""
    pool_bytes: int = 4 << 20
    """Bound on inputs plus outputs of one batch for warm rows; cold rows rotate over twice the last-level cache."""
    metric: str = "warm-throughput"
    seed: bytes = b""
    """From which layouts, orders and inputs of this pair are drawn; at least 16 bytes."""
    deadline_seconds: float = 30.0
    """Wall limit for the whole pair."""


@dataclass(frozen=True)
class PairMeasured:
    """A process pair was timed and every check of its outputs held."""

    score: PairScore
    telemetry: Telemetry
    sandboxing: Sandboxing
    seconds: float
    """Exclusive device seconds."""
    worst_error: float
    """Largest scaled error seen in the checks of timed outputs (at most 1)."""
    calls_checked: int
    single_call_ns: float = 0.0
    """Dispatch overhead per call, as measured with an empty kernel."""


@dataclass(frozen=True)
class CandidateFault:
    """The candidate misbehaved while it was timed."""

    side: Literal["candidate", "opponent"]
    reason: Literal[
        "wrong", "unfinished", "crashed", "timed-out", "memory", "state-changed", "ran-while-frozen", "input-changed"
    ]
    detail: str
    seconds: float


@dataclass(frozen=True)
class InfrastructureFault:
    """The machinery failed; nothing is said about the candidate."""

    reason: str
    seconds: float
