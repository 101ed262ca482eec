"""The subject grammar: `kernelmill.v1.<target>.<campaign>.<stream>.<id>.<EventKind>.<facet>`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Final, get_args

from kernelmill.bus.errors import MalformedMessageError
from kernelmill.bus.log import StreamAddress
from kernelmill.bus.work import WorkFilter
from kernelmill.events import EventBase, StreamName

ROOT: Final = "kernelmill.v1"
EVERYTHING: Final = f"{ROOT}.>"
"""Matches every event of the log."""

_STREAMS: Final = frozenset(get_args(StreamName))
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SUBJECT: Final = re.compile(r"kernelmill\.v1(?:\.[A-Za-z0-9_-]{1,128}){6}")


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
    """Return the text of the subject under which `event` belongs: that of `Subject.of`, in a fifth of the time.

    Raises:
        MalformedMessageError: a part of the event is not safe as a token.
    """
    form = _form(type(event))
    if form is not None:
        pattern, read = form
        text: str = pattern % read(event)
        if _SUBJECT.fullmatch(text):
            return text
    return str(Subject.of(event))


@cache
def _form(kind: type[EventBase]) -> tuple[str, Callable[[EventBase], Any]] | None:
    """Return how the subject of a kind is put together, None for kinds without target or campaign, which are rare."""
    declaration = kind.declaration
    fields = ["target", "campaign", declaration.id_field]
    if declaration.facet_field is not None:
        fields.append(declaration.facet_field)
    if not kind.model_fields.keys() >= set(fields):
        return None
    facet = "_" if declaration.facet_field is None else "%s"
    return f"{ROOT}.%s.%s.{declaration.stream}.%s.{kind.__name__}.{facet}", attrgetter(*fields)


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
