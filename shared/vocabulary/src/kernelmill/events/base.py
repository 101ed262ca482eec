"""What every event has in common, and the declaration from which documentation, permissions and checks are derived."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kernelmill.identity import EventId

StreamName = Literal["campaign", "task", "candidate", "problem", "baseline", "node", "policy", "lesson", "log"]
Role = Literal["console", "planner", "agent-runner", "verifier", "gpu-bench", "lessons", "sealer"]


def _utc_microseconds(value: datetime) -> datetime:
    if value.tzinfo is None:
        msg = "a time needs a time zone; use UTC"
        raise ValueError(msg)
    return value.astimezone(UTC)


Timestamp = Annotated[datetime, AfterValidator(_utc_microseconds)]
"""A time in UTC with microseconds."""


class Value(BaseModel):
    """A frozen part of an event's body."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, ser_json_inf_nan="strings")


@dataclass(frozen=True)
class Declaration:
    """What the system must know about an event class."""

    stream: StreamName
    """The kind of stream that owns the event."""
    id_field: str
    """The field of the body that names the stream's id."""
    appended_by: frozenset[Role]
    """The roles that may append it."""
    version: int = 1
    """The version of the body; older versions are upcast when read."""
    facet_field: str | None = None
    """The field of the body whose value becomes the facet in the subject, if any."""
    must_understand: bool = True
    """Whether a reader that does not know the kind has to stop."""


class EventBase(Value):
    """An immutable fact in the past tense. It is owned by one stream and published once."""

    declaration: ClassVar[Declaration]

    event_id: EventId
    """Unique id of this event; other events cite it. It is the deterministic id of the command that appended it, so the
    same command delivered twice is one event."""
    recorded_at: Timestamp
    """When the appender recorded the fact (UTC, microseconds). A fold never reads another clock."""

    def stream_id(self) -> str:
        """Return the id of the stream that owns this event."""
        return str(getattr(self, self.declaration.id_field))

    def facet(self) -> str:
        """Return the facet by which consumers filter, `_` where the kind has none."""
        if self.declaration.facet_field is None:
            return "_"
        return str(getattr(self, self.declaration.facet_field))


def declare(
    stream: StreamName,
    id_field: str,
    *appended_by: Role,
    facet: str | None = None,
    version: int = 1,
    must_understand: bool = True,
) -> Declaration:
    """Return the declaration of an event class (a shorthand for the class bodies)."""
    return Declaration(stream, id_field, frozenset(appended_by), version, facet, must_understand)


Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""
NonNegative = Annotated[float, Field(ge=0.0)]
"""A finite number of at least 0."""
Count = Annotated[int, Field(ge=0)]
"""A whole number of at least 0."""
