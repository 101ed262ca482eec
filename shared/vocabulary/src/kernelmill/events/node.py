"""Events of a node: joined, calibrated, quarantined, left."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelmill.events.base import Declaration, EventBase, NonNegative, Timestamp, Value, declare
from kernelmill.events.values import Fingerprint, Sandboxing
from kernelmill.identity import EventId, NodeId, Token


class NodeEvent(EventBase):
    """The address of a node's stream."""

    target: Token
    """The target that it serves."""
    node: NodeId
    """The node: a device on a machine."""


class NodeJoined(NodeEvent):
    """A bench owns a device and is ready."""

    declaration: ClassVar[Declaration] = declare("node", "node", "gpu-bench")
    kind: Literal["NodeJoined"] = "NodeJoined"

    fingerprint: Fingerprint
    """Everything a timing depends on besides the code."""
    capabilities: dict[str, str]
    """What it offers: native flags, compilers, threads."""
    sandboxing: Sandboxing
    """How strongly it isolates candidates."""


class PowerPoint(Value):
    """What the node's noise means for decisions about a candidate of a known true effect."""

    effect: float
    """True speed-up on every row, for example 1.03; 1 is identical code."""
    accepted: Annotated[float, Field(ge=0.0, le=1.0)]
    """Share of such candidates that a verdict accepts; at effect 1 these are false."""
    confirmed: Annotated[float, Field(ge=0.0, le=1.0)]
    """Share of such candidates that the first confirmation of a campaign would crown."""


class NodeCalibrated(NodeEvent):
    """A/A measurements and ceilings of a node."""

    declaration: ClassVar[Declaration] = declare("node", "node", "gpu-bench", facet="outcome")
    kind: Literal["NodeCalibrated"] = "NodeCalibrated"

    outcome: Literal["good", "failed"]
    """Whether identical code came out equal within the stated bound."""
    pair_sd: NonNegative
    """Standard deviation of the log ratio over A/A process pairs."""
    pair_bias: float
    """Mean log ratio over A/A process pairs."""
    pairs: int
    """How many."""
    dispatch_ns: NonNegative
    """Nanoseconds of an empty call."""
    ceilings: dict[str, float]
    """Best own probes, for example bytes per second by footprint."""
    curve: tuple[PowerPoint, ...] = ()
    """Shares of right and wrong decisions by true effect, by resampling the pairs; empty for too few pairs."""


class NodeQuarantined(NodeEvent):
    """Nothing measured here since the last good calibration is trusted."""

    declaration: ClassVar[Declaration] = declare("node", "node", "gpu-bench", "verifier")
    kind: Literal["NodeQuarantined"] = "NodeQuarantined"

    suspect_since: Timestamp
    """Time of the last good calibration."""
    calibration: EventId
    """The failed calibration."""
    because: str
    """In words."""


class NodeLeft(NodeEvent):
    """The bench has shut down in order."""

    declaration: ClassVar[Declaration] = declare("node", "node", "gpu-bench")
    kind: Literal["NodeLeft"] = "NodeLeft"

    because: str
    """In words."""
