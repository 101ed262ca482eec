"""Between the library's domain events and stored events: our events keep their own JSON."""

import json
from dataclasses import dataclass
from typing import Any

from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import (
    Cipher,
    Compressor,
    DataError,
    Mapper,
    ProgrammingError,
    StoredEvent,
    Transcoder,
)

from kernelmill.bus.log import StreamAddress
from kernelmill.bus.recorder.codec import kind_of, originator_of, topic_of
from kernelmill.bus.recorder.errors import translated
from kernelmill.events import Event, decode, encode
from kernelmill.identity import canonical_json


@dataclass(frozen=True)
class LoggedEvent:
    """One of our events as the library's domain event."""

    originator_id: str
    """The stream, `<target>.<campaign>.<stream>.<id>`."""
    originator_version: int
    """Place in the stream, counted from 1."""
    event: Event

    @classmethod
    def of(cls, event: Event, version: int) -> "LoggedEvent":
        """Return `event` as the one at place `version` of its stream."""
        return cls(originator_of(StreamAddress.of(event)), version, event)


class WireTranscoder(Transcoder):
    """Canonical JSON; it needs no registered types, since events are validated by their kind."""

    def encode(self, obj: Any) -> bytes:
        """Return the bytes of JSON data."""
        return canonical_json(obj)

    def decode(self, data: bytes) -> Any:
        """Return the JSON data in the bytes."""
        return json.loads(data)


class WireMapper(Mapper[str]):
    """Maps `LoggedEvent`s; older versions of a body are lifted to this program's when read."""

    def __init__(
        self, transcoder: Transcoder, compressor: Compressor | None = None, cipher: Cipher | None = None
    ) -> None:
        """Make a mapper.

        Raises:
            ProgrammingError: a compressor or cipher is set: the bodies on the log are plain JSON.
        """
        if compressor is not None or cipher is not None:
            raise ProgrammingError("the log holds plain JSON; unset COMPRESSOR_TOPIC, CIPHER_TOPIC and CIPHER_KEY")
        super().__init__(transcoder)

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> StoredEvent:
        """Return the stored event of a `LoggedEvent`.

        Raises:
            DataError: it is none; the log holds only events of the vocabulary.
        """
        if not isinstance(domain_event, LoggedEvent):
            raise DataError(f"{type(domain_event).__name__} is no event of the log; wrap one in LoggedEvent")
        event = domain_event.event
        return StoredEvent(
            originator_id=domain_event.originator_id,
            originator_version=domain_event.originator_version,
            topic=topic_of(type(event).__name__, event.declaration.version),
            state=encode(event),
        )

    def to_domain_event(self, stored_event: StoredEvent) -> LoggedEvent:
        """Return the `LoggedEvent` of a stored event.

        Raises:
            DataError: topic or state are not of this program's vocabulary.
        """
        kind, version = kind_of(stored_event.topic)
        with translated():
            event = decode(kind, version, stored_event.state)
        return LoggedEvent(str(stored_event.originator_id), stored_event.originator_version, event)
