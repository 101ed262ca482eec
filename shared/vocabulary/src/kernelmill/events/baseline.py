"""Events of a baseline on a node: tuned on first need."""

from typing import ClassVar, Literal

from kernelmill.events.base import Declaration, EventBase, NonNegative, Value, declare
from kernelmill.events.values import BuildOptions
from kernelmill.identity import Digest, NodeId, Token


class TriedSetting(Value):
    """One point of a baseline's sweep."""

    build: BuildOptions
    """How it was compiled."""
    nanoseconds: NonNegative
    """Median nanoseconds per call; 0 where it did not run."""
    fault: str = ""
    """Why it did not run."""


class BaselineEvent(EventBase):
    """The address of a baseline's stream."""

    target: Token
    """The target."""
    baseline_key: Digest
    """Digest of (problem digest, workload, baseline, fingerprint)."""


class BaselineTuned(BaselineEvent):
    """A baseline got its best settings on this node for this workload, under the candidates' own protocol."""

    declaration: ClassVar[Declaration] = declare("baseline", "baseline_key", "gpu-bench", facet="outcome")
    kind: Literal["BaselineTuned"] = "BaselineTuned"

    problem_digest: Digest
    """The problem."""
    workload: Token
    """The row."""
    baseline: Token
    """Name of the baseline."""
    node: NodeId
    """Where."""
    fingerprint: Digest
    """The node's fingerprint."""
    metric: Token
    """How the row is timed."""
    threads: int
    """Threads; candidates get the same."""
    outcome: Literal["tuned", "unsupported"]
    """`unsupported`: the node cannot run it on this row, which is never a win for anybody."""
    build: BuildOptions | None
    """The best settings; None where unsupported or not compiled."""
    nanoseconds: NonNegative
    """Median nanoseconds per call at the best settings."""
    log_ratio: float = 0.0
    """Log of the reference's time over this baseline's, median over pairs. The reference is one program of the problem,
    the same for all its baselines, so that baselines timed at different moments can be compared."""
    tried: tuple[TriedSetting, ...]
    """The whole sweep."""
    detail: str = ""
    """Why it is unsupported."""
