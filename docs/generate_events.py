"""Writes docs/events.md from the event classes: `python docs/generate_events.py`."""

import types
import typing
from pathlib import Path

from kernelmill.events import EVENT_TYPES, EventBase
from kernelmill.events import values as shared_values
from kernelmill.events.base import Value

HEAD = """# The events

Every event is an immutable fact in the past tense. It is owned by one stream and published once; its id is the
deterministic id of the command that appended it. This page is generated from the classes in `kernelmill.events`.

Subjects are `kernelmill.v1.<target>.<campaign>.<stream>.<id>.<EventKind>.<facet>`, `_` where an event belongs to no
target or campaign. Bodies are canonical JSON (RFC 8785). Headers follow CloudEvents in binary mode (`ce-id`, `ce-type`
with the version, `ce-source`, `ce-time`), and `Kernelmill-Prev` holds the hash of the message before in the same
stream. A reader that meets a kind or a version that it does not know stops there, unless the kind is marked as one that
may be skipped; a person can void a message with `EventVoided`.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD, "## Kinds\n", _overview()]
    streams: dict[str, list[type[EventBase]]] = {}
    for event_type in EVENT_TYPES.values():
        streams.setdefault(event_type.declaration.stream, []).append(event_type)
    for stream, event_types in streams.items():
        parts.append(f"## Stream `{stream}`\n")
        parts += [_section(event_type) for event_type in event_types]
    parts.append("## Values\n\nParts that several events share.\n")
    parts += [_value(item) for item in vars(shared_values).values() if _is_value(item)]
    return "\n".join(parts)


def _overview() -> str:
    lines = ["| kind | stream | appended by | facet | version | may be skipped |", "|---|---|---|---|---|---|"]
    for kind, event_type in EVENT_TYPES.items():
        declared = event_type.declaration
        roles = ", ".join(sorted(declared.appended_by))
        skip = "" if declared.must_understand else "yes"
        facet = declared.facet_field or "_"
        lines.append(
            f"| [{kind}](#{kind.lower()}) | {declared.stream} | {roles} | {facet} | {declared.version} | {skip} |"
        )
    return "\n".join(lines) + "\n"


def _section(event_type: type[EventBase]) -> str:
    return f"### {event_type.__name__}\n\n{_words(event_type)}\n\n{_fields(event_type)}"


def _value(value: type[Value]) -> str:
    return f"### {value.__name__}\n\n{_words(value)}\n\n{_fields(value)}"


def _words(value: type[Value]) -> str:
    return " ".join((value.__doc__ or "").split())


def _fields(value: type[Value]) -> str:
    lines = ["| field | type | what |", "|---|---|---|"]
    for name, field in value.model_fields.items():
        if name != "kind":
            what = " ".join((field.description or "").split()).replace("|", "\\|")
            lines.append(f"| `{name}` | `{_type(field.annotation)}` | {what} |")
    return "\n".join(lines) + "\n"


def _type(annotation: object) -> str:
    """Return a type as people write it, without the constraints that pydantic keeps in it."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(arguments[0])
    if origin in {typing.Union, types.UnionType}:
        return " \\| ".join(_type(item) for item in arguments)
    if origin is typing.Literal:
        return " \\| ".join(repr(item) for item in arguments)
    if origin is not None:
        inner = ", ".join("..." if item is ... else _type(item) for item in arguments)
        return f"{origin.__name__}[{inner}]"
    return "None" if annotation is type(None) else getattr(annotation, "__name__", str(annotation))


def _is_value(item: object) -> bool:
    return (
        isinstance(item, type) and issubclass(item, Value) and item is not Value and item.__module__.endswith("values")
    )


if __name__ == "__main__":
    Path(__file__).with_name("events.md").write_text(render())
