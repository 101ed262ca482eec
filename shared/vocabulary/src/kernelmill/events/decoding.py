"""From bytes to events: versions are upcast, and what cannot be understood says so."""

import json
from collections.abc import Callable
from typing import Any, cast

from pydantic import ValidationError

from kernelmill.events.base import EventBase
from kernelmill.events.catalogue import EVENT_TYPES, Event
from kernelmill.identity import canonical_json


class DecodeError(ValueError):
    """A message of the log cannot be turned into an event."""


class UnknownKindError(DecodeError):
    """The kind is not in this program's vocabulary: upgrade the program, or void the event."""


class NewerVersionError(DecodeError):
    """The kind is known, but its body is of a newer version: upgrade the program, or void the event."""


class UndecodableError(DecodeError):
    """The body is not what its kind demands: void the event."""


Upcast = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTS: dict[tuple[str, int], Upcast] = {}
"""From (kind, version) to the function that lifts a raw body of that version to the next one."""


def encode(event: EventBase) -> bytes:
    """Return the canonical JSON bytes of an event's body."""
    return canonical_json(event.model_dump(mode="json"))


def known_type(kind: str, version: int) -> type[EventBase]:
    """Return the class of a kind that this program understands in that version.

    Raises:
        UnknownKindError: the kind is not in the vocabulary.
        NewerVersionError: the version is newer than this program's.
    """
    event_type = EVENT_TYPES.get(kind)
    if event_type is None:
        raise UnknownKindError(
            f"unknown event kind '{kind}' (version {version}); upgrade this program or void the event"
        )
    known = event_type.declaration.version
    if version > known:
        raise NewerVersionError(
            f"{kind} is of version {version}, this program knows up to {known}; upgrade this program or void the event"
        )
    return event_type


def decode(kind: str, version: int, body: bytes) -> Event:
    """Return the event in `body`, upcast to this program's version.

    Raises:
        UnknownKindError: the kind is not in the vocabulary.
        NewerVersionError: the version is newer than this program's.
        UndecodableError: the body does not validate.
    """
    event_type = known_type(kind, version)
    known = event_type.declaration.version
    try:
        if version == known:
            # The class itself and not the union of all: a third faster, and the body must be of the kind in the header.
            return cast("Event", event_type.model_validate_json(body))
        raw = json.loads(body)
        for step in range(version, known):
            raw = UPCASTS[kind, step](raw)
        return cast("Event", event_type.model_validate(raw))
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise UndecodableError(f"the body of a {kind} (version {version}) does not validate: {error}") from error
