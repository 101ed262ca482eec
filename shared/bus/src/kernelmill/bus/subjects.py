"""The subject grammar: `kernelmill.v1.<target>.<campaign>.<stream>.<id>.<EventKind>.<facet>`."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, get_args

from kernelmill.bus.errors import MalformedMessageError
from kernelmill.bus.log import ABSENT, StreamAddress
from kernelmill.bus.work import WorkFilter
from kernelmill.events import EventBase, StreamName

ROOT: Final = "kernelmill.v1"
EVERYTHING: Final = f"{ROOT}.>"
"""Matches every event of the log."""

_STREAMS: Final = frozenset(get_args(StreamName))
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


def is_token(text: str) -> bool:
    """Return whether `text` is safe as one token of a subject."""
    return _TOKEN.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of one event, token by token."""

    address: StreamAddress
    """The stream that owns the event."""
    kind: str
    """The class of the event."""
    facet: str
    """The value by which consumers filter, `_` where the kind has none."""

    @classmethod
    def of(cls, event: EventBase) -> "Subject":
        """Return the subject under which `event` belongs.

        Raises:
            MalformedMessageError: a part of the event is not safe as a token.
        """
        subject = cls(StreamAddress.of(event), type(event).__name__, event.facet())
        for token in subject.tokens():
            if not is_token(token):
                raise MalformedMessageError(
                    f"{subject.kind} {event.event_id} cannot be addressed: '{token}' is not a token of letters, digits,"
                    " '_' and '-' (1 to 128 of them); correct the field that it comes from"
                )
        return subject

    @classmethod
    def parse(cls, text: str) -> "Subject":
        """Return the parts of a subject's text.

        Raises:
            MalformedMessageError: the text does not follow the grammar.
        """
        root, version, *tokens = text.split(".") if text.count(".") == 7 else ("", "")
        if f"{root}.{version}" != ROOT or not all(map(is_token, tokens)) or tokens[2] not in _STREAMS:
            raise MalformedMessageError(
                f"'{text}' is no subject of the log (expected {ROOT}.<target>.<campaign>.<stream>.<id>.<kind>.<facet>)"
            )
        target, campaign, stream, identifier, kind, facet = tokens
        return cls(StreamAddress(target, campaign, stream, identifier), kind, facet)  # type: ignore[arg-type] # checked

    def tokens(self) -> tuple[str, ...]:
        """Return the variable tokens in the order of the grammar."""
        address = self.address
        return (address.target, address.campaign, address.stream, address.id, self.kind, self.facet)

    def __str__(self) -> str:
        return ".".join((ROOT, *self.tokens()))


def subject_text(event: EventBase) -> str:
    """Return the text of the subject under which `event` belongs, the same as of `Subject.of` and faster.

    Raises:
        MalformedMessageError: a part of the event is not safe as a token.
    """
    declaration = event.declaration
    start = _joined(
        str(getattr(event, "target", ABSENT)),
        str(getattr(event, "campaign", ABSENT)),
        declaration.stream,
        str(getattr(event, declaration.id_field)),
    )
    end = _joined(type(event).__name__, event.facet())
    return f"{ROOT}.{start}.{end}" if start and end else str(Subject.of(event))


@lru_cache(maxsize=4096)
def _joined(*tokens: str) -> str:
    """Return the tokens with dots between them, nothing if one of them is not safe; a stream's come again and again."""
    return ".".join(tokens) if all(map(is_token, tokens)) else ""


def stream_filter(address: StreamAddress) -> str:
    """Return the filter that matches exactly the events of one stream."""
    return f"{ROOT}.{address.target}.{address.campaign}.{address.stream}.{address.id}.>"


def campaign_filter(campaign: str) -> str:
    """Return the filter that matches the events of all streams of one campaign."""
    return f"{ROOT}.*.{campaign}.>"


def kind_filter(kind: str) -> str:
    """Return the filter that matches all events of one kind."""
    return f"{ROOT}.*.*.*.*.{kind}.*"


def work_filter(work: WorkFilter) -> str:
    """Return the filter that matches what a worker competes for."""
    declaration = work.kind.declaration
    return f"{ROOT}.{work.target or '*'}.*.{declaration.stream}.*.{work.kind.__name__}.{work.facet or '*'}"
