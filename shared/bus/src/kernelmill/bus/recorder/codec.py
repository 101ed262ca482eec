"""Between the library's stored events and ours: originators are stream addresses, topics are kinds with versions."""

import re
from typing import Final, Protocol
from uuid import UUID

from eventsourcing.persistence import DataError, StoredEvent

from kernelmill.bus.errors import MalformedMessageError
from kernelmill.bus.headers import kind_and_version
from kernelmill.bus.log import StoredMessage, StreamAddress
from kernelmill.bus.messages import Understanding
from kernelmill.bus.subjects import ROOT, Subject
from kernelmill.events import EventBase, decode

_TOPIC: Final = re.compile(r"([A-Za-z0-9]+)\.v([1-9][0-9]*)")


class Codec(Protocol):
    """Turns stored events into events of the log, and messages of the log into stored events."""

    def address(self, originator_id: UUID | str) -> StreamAddress:
        """Return the stream of an originator.

        Raises:
            DataError: no stream can have that originator.
        """
        ...

    def event(self, stored: StoredEvent) -> EventBase:
        """Return the event that the log is to hold.

        Raises:
            DataError: topic or originator do not fit.
            DecodeError: the state is not what its topic demands.
        """
        ...

    def follows(self, version: int, last: int | None) -> bool:
        """Return whether a version may follow the `last` one of its stream, None for an empty stream."""
        ...

    def read(self, message: StoredMessage, ordinal: int) -> StoredEvent | None:
        """Return what a message holds, None where a reader may pass over it.

        Args:
            message: as the log holds it.
            ordinal: the message's place in its stream, counted from 1.

        Raises:
            HaltedError: the message must be understood and cannot be.
        """
        ...


class WireCodec:
    """The product's codec.

    The originator is the stream's address, `<target>.<campaign>.<stream>.<id>`; the version is the event's place in
    that stream, counted from 1; the topic is kind and version of the body, such as `CandidateProposed.v1`; the state
    is the JSON body itself. Nothing of Python stands on the wire, so other languages read the same events.
    """

    def address(self, originator_id: UUID | str) -> StreamAddress:
        """Return the stream of an originator; see `Codec.address`."""
        return address_of(originator_id)

    def event(self, stored: StoredEvent) -> EventBase:
        """Return the event in a stored event's state, validated; see `Codec.event`."""
        kind, version = kind_of(stored.topic)
        event = decode(kind, version, stored.state)
        if version != event.declaration.version:
            raise DataError(f"{stored.topic} is out of date: new {kind} are of version {event.declaration.version}")
        if originator_of(StreamAddress.of(event)) != stored.originator_id:
            raise DataError(
                f"{kind} {event.event_id} belongs to {originator_of(StreamAddress.of(event))}, not to"
                f" {stored.originator_id}"
            )
        return event

    def follows(self, version: int, last: int | None) -> bool:
        """Return whether the version is the next place in the stream."""
        return version == (last or 0) + 1

    def read(self, message: StoredMessage, ordinal: int) -> StoredEvent | None:
        """Return what a message holds, after the checks that every reader makes; see `Codec.read`."""
        if Understanding().understand(message) is None:
            return None
        kind, version = kind_and_version(message.headers)
        return StoredEvent(
            originator_id=originator_of(Subject.parse(message.subject).address),
            originator_version=ordinal,
            topic=topic_of(kind, version),
            state=message.body,
        )


def topic_of(kind: str, version: int) -> str:
    """Return the topic of events of a kind, for example to name it in `Projection.topics`."""
    return f"{kind}.v{version}"


def kind_of(topic: str) -> tuple[str, int]:
    """Return the kind and the version of a topic.

    Raises:
        DataError: it is not `<Kind>.v<version>`.
    """
    found = _TOPIC.fullmatch(topic)
    if found is None:
        raise DataError(f"'{topic}' is no topic of the log (expected <Kind>.v<version>, such as CandidateProposed.v1)")
    return found[1], int(found[2])


def originator_of(address: StreamAddress) -> str:
    """Return the originator id of a stream."""
    return f"{address.target}.{address.campaign}.{address.stream}.{address.id}"


def address_of(originator_id: UUID | str) -> StreamAddress:
    """Return the stream of an originator id.

    Raises:
        DataError: it is not `<target>.<campaign>.<stream>.<id>`.
    """
    try:
        # The grammar of subjects decides; a kind and a facet only make the text whole.
        return Subject.parse(f"{ROOT}.{originator_id}.Any._").address
    except MalformedMessageError:
        raise DataError(
            f"'{originator_id}' is no stream of the log (expected <target>.<campaign>.<stream>.<id>)"
        ) from None
