"""Events of a stated lesson: a sentence with evidence."""

from typing import ClassVar, Literal

from pydantic import Field

from kernelmill.events.base import Declaration, EventBase, declare
from kernelmill.identity import EventId, Token


class LessonEvent(EventBase):
    """The address of a lesson's stream."""

    lesson: Token
    """The lesson."""


class LessonStated(LessonEvent):
    """An agent or a person says what it learned. Without evidence it is shown as a guess."""

    declaration: ClassVar[Declaration] = declare("lesson", "lesson", "agent-runner", "console")
    kind: Literal["LessonStated"] = "LessonStated"

    claim: str = Field(max_length=2000)
    """The sentence."""
    problem_class: str
    """Where it holds: a problem's name or `any`."""
    for_target: str
    """The target where it holds, or `any`."""
    techniques: tuple[str, ...] = ()
    """Techniques that it is about."""
    evidence: tuple[EventId, ...]
    """Events that support it."""
    author: str
    """Who."""


class LessonRetired(LessonEvent):
    """A stated lesson is withdrawn."""

    declaration: ClassVar[Declaration] = declare("lesson", "lesson", "agent-runner", "console")
    kind: Literal["LessonRetired"] = "LessonRetired"

    because: str
    """The reason."""
