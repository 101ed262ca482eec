"""Between events and messages of the log: encode, decode, and check that subject, headers and body agree."""

from dataclasses import dataclass, field
from typing import Final

import structlog

from kernelmill.bus.errors import HaltedError, MalformedMessageError, OversizedEventError
from kernelmill.bus.headers import CE_ID, is_ignorable, kind_and_version
from kernelmill.bus.log import Recorded, StoredMessage
from kernelmill.bus.subjects import subject_text
from kernelmill.events import DecodeError, Event, EventBase, EventVoided, UnknownKindError, decode, encode, known_type

MESSAGE_LIMIT: Final = 256 * 1024
"""Most bytes of one message: headers and body together."""
HEADER_ROOM: Final = 4 * 1024
"""Bytes of a message that are kept for headers."""

_logger = structlog.get_logger(__name__)


def encode_body(event: EventBase) -> bytes:
    """Return the body of the message that carries `event`.

    Raises:
        OversizedEventError: the body is over the log's limit.
    """
    body = encode(event)
    if len(body) > MESSAGE_LIMIT - HEADER_ROOM:
        raise OversizedEventError(
            f"{type(event).__name__} {event.event_id} has {len(body)} bytes, the log takes at most"
            f" {MESSAGE_LIMIT - HEADER_ROOM}; put the large part into a blob and cite it"
        )
    return body


def decode_message(message: StoredMessage) -> Event:
    """Return the event in a message.

    Raises:
        DecodeError: the kind or its version is unknown, or the body does not validate.
        MalformedMessageError: subject, headers and body do not agree.
    """
    kind, version = kind_and_version(message.headers)
    event = decode(kind, version, message.body)
    proper = subject_text(event)
    if message.subject != proper:
        raise MalformedMessageError(f"the event belongs under {proper} and stands under {message.subject}")
    if message.headers.get(CE_ID) != event.event_id:
        raise MalformedMessageError(
            f"header {CE_ID} is '{message.headers.get(CE_ID, '')}', the body's id is '{event.event_id}'"
        )
    return event


@dataclass
class Understanding:
    """Turns messages into events for one reader, and knows which messages a person has voided."""

    voided: set[int] = field(default_factory=set)
    """Sequences that every reader passes over."""
    kinds: frozenset[str] | None = None
    """Kinds that the reader folds; of others kind, version and subject are checked and the body is not read."""

    def understand(self, message: StoredMessage) -> Recorded | None:
        """Return the event, or None for a message that is voided or may be skipped.

        Raises:
            HaltedError: the message must be understood and cannot be.
        """
        if message.sequence in self.voided:
            return None
        try:
            if self.kinds is not None and self._is_not_folded(message):
                return None
            event = decode_message(message)
        except UnknownKindError as error:
            if is_ignorable(message.headers):
                _logger.info("skipped an event of an unknown kind", sequence=message.sequence, subject=message.subject)
                return None
            raise HaltedError(message.sequence, str(error)) from error
        except (DecodeError, MalformedMessageError) as error:
            raise HaltedError(
                message.sequence, f"{error}; upgrade this program or void the message with EventVoided"
            ) from error
        if type(event) is EventVoided:  # isinstance asks pydantic's metaclass, which is slow, for every event
            self.voided.add(event.voided_sequence)
        return Recorded(message.sequence, event)

    def _is_not_folded(self, message: StoredMessage) -> bool:
        kind, version = kind_and_version(message.headers)
        if kind in (self.kinds or ()) or kind == EventVoided.__name__:
            return False
        known_type(kind, version)
        if message.subject.split(".")[-2:-1] != [kind]:
            raise MalformedMessageError(f"the headers name a {kind}, which does not stand under {message.subject}")
        return True
