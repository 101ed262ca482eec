"""The fold behind every lesson: one note a candidate, and the lessons that people and agents stated."""

import re
from dataclasses import dataclass, field
from typing import Any

from kernelmill.events import (
    CampaignOpened,
    CandidateProposed,
    CandidateScreened,
    CompileFailed,
    CorrectnessMeasured,
    EventBase,
    LessonRetired,
    LessonStated,
    VerdictReached,
    VerdictReinstated,
    VerdictRetracted,
)
from kernelmill.folds import headline

VERSION = 1
"""Version of the projection: a changed fold is a new projection, rebuilt from the log."""

_QUOTED = re.compile("[\u2018'\"`][^\u2019'\"`]*[\u2019'\"`]")
_NUMBER = re.compile(r"\d+")
_LINE = re.compile(r"^[^\s:]+:\d+(:\d+)?: ", re.MULTILINE)


@dataclass
class Note:
    """What is remembered of one candidate."""

    campaign: str
    candidate: str
    parent: str | None
    techniques: tuple[str, ...]
    """Of the author and as the sources show them, sorted."""
    decision: str = ""
    reason: str = ""
    verdict: str = ""
    """Id of the verdict that holds; empty while there is none."""
    retracted: dict[str, tuple[str, str, float | None]] = field(default_factory=dict)
    """Retracted verdicts by id: decision, reason, speed-up."""
    speedup: float | None = None
    """Headline speed-up over the best baselines."""
    signature: str = ""
    """Normalised failure; empty where it did not fail."""

    def plain(self) -> dict[str, Any]:
        """Return the note as JSON data."""
        return {
            "campaign": self.campaign,
            "candidate": self.candidate,
            "parent": self.parent,
            "techniques": list(self.techniques),
            "decision": self.decision,
            "reason": self.reason,
            "verdict": self.verdict,
            "retracted": {key: list(value) for key, value in sorted(self.retracted.items())},
            "speedup": self.speedup,
            "signature": self.signature,
        }

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Note":
        """Return the note in JSON data that `plain` made."""
        retracted = {key: (value[0], value[1], value[2]) for key, value in plain["retracted"].items()}
        return cls(**plain | {"techniques": tuple(plain["techniques"]), "retracted": retracted})


@dataclass
class Memory:
    """Everything that is folded, and which parts changed since they were last stored."""

    campaigns: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Problem and target by campaign."""
    notes: dict[tuple[str, str], Note] = field(default_factory=dict)
    """By campaign and candidate."""
    stated: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Stated lessons by id."""
    position: int = 0
    changed_campaigns: set[str] = field(default_factory=set)
    changed_notes: set[tuple[str, str]] = field(default_factory=set)
    changed_stated: set[str] = field(default_factory=set)

    def apply(self, sequence: int, event: EventBase) -> None:
        """Take the next event of the log."""
        self.position = sequence
        taking = _TAKERS.get(type(event))
        if taking is not None:
            taking(self, event)

    def touch(self, event: Any) -> Note | None:
        """Return the note of an event's candidate, marked as changed; None for an unknown one."""
        key = (event.campaign, event.candidate)
        note = self.notes.get(key)
        if note is not None:
            self.changed_notes.add(key)
        return note


def signature_of(text: str) -> str:
    """Return a failure without what differs from program to program: places, numbers, names in quotes."""
    first = next((line for line in text.splitlines() if "error" in line or "warning" in line), text.strip())
    return _NUMBER.sub("N", _QUOTED.sub("NAME", _LINE.sub("", first))).strip()[:300]


def _open(memory: Memory, event: CampaignOpened) -> None:
    memory.campaigns[event.campaign] = (event.objective.problem, event.target)
    memory.changed_campaigns.add(event.campaign)


def _propose(memory: Memory, event: CandidateProposed) -> None:
    key = (event.campaign, event.candidate)
    parent = event.parents[0] if event.parents else None
    memory.notes[key] = Note(event.campaign, event.candidate, parent, tuple(sorted(set(event.techniques))))
    memory.changed_notes.add(key)


def _screen(memory: Memory, event: CandidateScreened) -> None:
    note = memory.touch(event)
    if note is not None:
        note.techniques = tuple(sorted({*note.techniques, *event.traits.techniques}))


def _fail_to_compile(memory: Memory, event: CompileFailed) -> None:
    note = memory.touch(event)
    if note is not None:
        note.signature = f"compile: {signature_of(event.diagnostics)}"


def _check(memory: Memory, event: CorrectnessMeasured) -> None:
    failed = [case for case in event.cases if case.outcome != "passed"]
    if failed:
        note = memory.touch(event)
        if note is not None:
            note.signature = f"correctness: {failed[0].outcome} on {failed[0].distribution}"


def _judge(memory: Memory, event: VerdictReached) -> None:
    note = memory.touch(event)
    if note is not None:
        best = headline(event.effects)
        note.decision, note.reason, note.verdict = event.decision, event.reason, event.event_id
        note.speedup = best.speedup.estimate if best is not None else None


def _retract(memory: Memory, event: VerdictRetracted) -> None:
    note = memory.touch(event)
    if note is not None and note.verdict == event.verdict:
        note.retracted[event.verdict] = (note.decision, note.reason, note.speedup)
        note.decision, note.reason, note.verdict, note.speedup = "", "", "", None


def _reinstate(memory: Memory, event: VerdictReinstated) -> None:
    note = memory.touch(event)
    if note is not None and event.verdict in note.retracted and not note.verdict:
        note.decision, note.reason, note.speedup = note.retracted.pop(event.verdict)
        note.verdict = event.verdict


def _state(memory: Memory, event: LessonStated) -> None:
    memory.stated[event.lesson] = event.model_dump(mode="json") | {"retired": ""}
    memory.changed_stated.add(event.lesson)


def _retire(memory: Memory, event: LessonRetired) -> None:
    if event.lesson in memory.stated:
        memory.stated[event.lesson]["retired"] = event.because
        memory.changed_stated.add(event.lesson)


_TAKERS: dict[type[EventBase], Any] = {
    CampaignOpened: _open,
    CandidateProposed: _propose,
    CandidateScreened: _screen,
    CompileFailed: _fail_to_compile,
    CorrectnessMeasured: _check,
    VerdictReached: _judge,
    VerdictRetracted: _retract,
    VerdictReinstated: _reinstate,
    LessonStated: _state,
    LessonRetired: _retire,
}

FOLDED = frozenset(kind.__name__ for kind in _TAKERS)
"""Kinds whose bodies the memory depends on."""
