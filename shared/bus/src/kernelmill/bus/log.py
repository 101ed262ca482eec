"""The log port: what every service may ask of the log, whoever implements it."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kernelmill.events import BlobClass, BlobRef, Event, EventBase, StreamName

ABSENT = "_"
"""Stands in an address where an event belongs to no target or no campaign."""

TOGETHER_LIMIT = 1000
"""Most events that are appended together."""


@dataclass(frozen=True, order=True)
class StreamAddress:
    """The stream that owns an event."""

    target: str
    campaign: str
    stream: StreamName
    id: str

    @classmethod
    def of(cls, event: EventBase) -> "StreamAddress":
        """Return the address of the stream that owns `event`."""
        return cls(
            target=str(getattr(event, "target", ABSENT)),
            campaign=str(getattr(event, "campaign", ABSENT)),
            stream=event.declaration.stream,
            id=event.stream_id(),
        )


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as the log holds it, not yet understood."""

    sequence: int
    subject: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event with its place in the log."""

    sequence: int
    event: Event


class Log(Protocol):
    """An append-only log of events with optimistic concurrency per stream."""

    log_id: str
    """Positions are pairs of log id and sequence; a restored log has another id."""

    async def append(self, event: EventBase, *, expected: int | None) -> int:
        """Append one event and return its sequence.

        The id of an event is the deterministic id of the command that appends it (`kernelmill.identity.command_id`), so
        appending it again, also after a lost acknowledgement or a crash, returns the first sequence.

        Args:
            event: the fact; its class says which stream owns it.
            expected: sequence of the last event of that stream as the caller knows it, 0 for an empty stream, None to
                append whatever the stream holds.

        Raises:
            ConflictError: the stream has moved on and does not hold this command: reload and decide again.
            OversizedEventError: the body is over the limit of a message; put the large part into a blob.
            LogUnavailableError: no acknowledgement within the deadline, after retries; it is not known to be appended.
        """
        ...

    async def append_together(self, events: Sequence[EventBase], *, expected: Mapping[StreamAddress, int]) -> list[int]:
        """Append several events, of one stream or of several, or none of them; return their sequences.

        For imports and foreign writers. It costs several syncs of the disk, so a service appends one event at a time.
        Appending the same events again returns the first sequences.

        Args:
            events: at most `TOGETHER_LIMIT`, in the order in which they shall stand.
            expected: for each stream that owns one of them, the sequence of its last event, 0 for an empty stream.

        Raises:
            ConflictError: a stream has moved on and does not hold these commands: reload and decide again.
            OversizedEventError: a body is over the limit of a message, or there are too many events.
            LogUnavailableError: no acknowledgement within the deadline, after retries; it is not known to be appended.
        """
        ...

    async def read_stream(self, address: StreamAddress, *, after: int = 0) -> list[Recorded]:
        """Return the events of one stream with sequences above `after`, in order, read from the leader."""
        ...

    async def read_campaign(self, campaign: str, *, after: int = 0) -> list[Recorded]:
        """Return the events of all streams of one campaign (campaign, tasks, candidates), in order."""
        ...

    def replay(
        self, *, after: int = 0, until: int | None = None, kinds: frozenset[str] | None = None
    ) -> AsyncIterator[Recorded]:
        """Yield all events with sequences above `after` up to `until` (default: the end as it is now), then stop.

        Args:
            after: only sequences above this.
            until: only sequences up to this.
            kinds: only events of these kinds (and EventVoided); the bodies of others are not read, so that a broken one
                among them does not halt. Only for what another reader has understood before.

        Raises:
            HaltedError: at an event that must be understood and cannot be (unknown kind, newer version, broken body).
        """
        ...

    def follow(self, *, after: int = 0) -> AsyncIterator[Recorded]:
        """Yield all events with sequences above `after` and go on with new ones until closed.

        Raises:
            HaltedError: as `replay`.
        """
        ...

    def stored(
        self, address: StreamAddress | None = None, *, after: int = 0, limit: int | None = None
    ) -> AsyncGenerator[StoredMessage, None]:
        """Yield the messages of one stream, or of the log, as they are, at most `limit` of them: for audits."""
        ...

    def arrivals(self, *, after: int = 0) -> AsyncGenerator[StoredMessage, None]:
        """Yield the messages of the log as they are and go on with new ones until closed."""
        ...

    async def voided(self) -> set[int]:
        """Return the sequences that people have voided; every reader passes over them."""
        ...

    async def last_sequence(self) -> int:
        """Return the sequence of the newest event, 0 for an empty log."""
        ...


class Blobs(Protocol):
    """A content-addressed store: put is idempotent, get verifies the digest."""

    async def put(self, data: bytes, blob_class: BlobClass) -> BlobRef:
        """Store the bytes (again) and return the reference. Call it before appending the event that cites it."""
        ...

    async def get(self, ref: BlobRef) -> bytes:
        """Return the bytes.

        Raises:
            BlobMissingError: nothing is stored under the digest.
            BlobCorruptError: what is stored does not have the digest.
        """
        ...


class Secrets(Protocol):
    """Create-if-absent secrets that only verifier and bench may read."""

    async def create(self, name: str, value: bytes) -> bytes:
        """Store `value` unless the name is taken; return what is stored, read back."""
        ...

    async def read(self, name: str) -> bytes:
        """Return the stored secret.

        Raises:
            SecretMissingError: nothing is stored under the name.
        """
        ...
