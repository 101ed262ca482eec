"""Message headers: CloudEvents in binary mode, the stream's hash chain, and room for trace context."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from kernelmill.bus.errors import MalformedMessageError
from kernelmill.events import EventBase

CE_ID: Final = "ce-id"
CE_TYPE: Final = "ce-type"
PREVIOUS: Final = "Kernelmill-Prev"
"""Hash of the message before in the same stream; see `kernelmill.bus.chain`."""
IGNORABLE: Final = "Kernelmill-Ignorable"
"""`true` on kinds that a reader may skip when it does not know them."""

_TYPE: Final = re.compile(r"kernelmill\.([A-Za-z0-9]{1,128})\.v([1-9][0-9]{0,5})")


def event_headers(
    event: EventBase, *, source: str, previous: str, trace: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the headers of the message that carries `event`.

    Args:
        event: the fact.
        source: CloudEvents source: role and instance of the appender.
        previous: hash of the stream's last message.
        trace: W3C trace context (`traceparent`, `tracestate`) of the work that led to the event.
    """
    declaration = event.declaration
    headers = {
        "ce-specversion": "1.0",
        CE_ID: event.event_id,
        CE_TYPE: f"kernelmill.{type(event).__name__}.v{declaration.version}",
        "ce-source": source,
        "ce-time": event.recorded_at.astimezone(UTC).isoformat(timespec="microseconds"),
        "ce-datacontenttype": "application/json",
        PREVIOUS: previous,
    }
    if not declaration.must_understand:
        headers[IGNORABLE] = "true"
    return headers | dict(trace or {})


def kind_and_version(headers: Mapping[str, str]) -> tuple[str, int]:
    """Return the event kind and the version of its body.

    Raises:
        MalformedMessageError: the header is missing or does not follow `kernelmill.<Kind>.v<version>`.
    """
    return _parts_of_type(headers.get(CE_TYPE, ""))


@lru_cache(maxsize=256)
def _parts_of_type(text: str) -> tuple[str, int]:
    found = _TYPE.fullmatch(text)
    if found is None:
        raise MalformedMessageError(f"header {CE_TYPE} is '{text}', not kernelmill.<Kind>.v<version>")
    return found[1], int(found[2])


def is_ignorable(headers: Mapping[str, str]) -> bool:
    """Return whether a reader that does not know the kind may skip the message."""
    return headers.get(IGNORABLE) == "true"


def ce_time(headers: Mapping[str, str]) -> datetime | None:
    """Return the CloudEvents time, None where it is missing or unreadable."""
    try:
        return datetime.fromisoformat(headers.get("ce-time", ""))
    except ValueError:
        return None
