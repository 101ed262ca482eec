"""One candidate as a fold of its own stream."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from kernelmill.events import (
    BenchmarkMeasured,
    CandidateAbandoned,
    CandidateProposed,
    CandidateScreened,
    CompileFailed,
    CompileSucceeded,
    ConfirmationMeasured,
    CorrectnessMeasured,
    EventBase,
    EvidenceDisputed,
    MeasurementFailed,
    Stage,
    VerdictReached,
    VerdictReinstated,
    VerdictRetracted,
    WorkStarted,
)
from kernelmill.folds.errors import EmptyStreamError

Progress = Literal["proposed", "screened", "compiled", "checked", "measured", "judged", "abandoned"]


class Positioned(Protocol):
    """An event with its sequence in the log."""

    @property
    def sequence(self) -> int:
        """Sequence in the log."""

    @property
    def event(self) -> EventBase:
        """The event."""


@dataclass
class VerdictState:
    """A verdict and whether it still holds."""

    event: VerdictReached
    sequence: int
    retracted: bool = False
    void: bool = False
    """Reached while another verdict under the same policy was effective, or on inadmissible evidence: never counts."""

    @property
    def effective(self) -> bool:
        """Whether it holds."""
        return not self.retracted and not self.void


@dataclass
class CandidateState:
    """What is known about one candidate."""

    candidate: str
    proposed: CandidateProposed | None = None
    screened: CandidateScreened | None = None
    compiled: CompileSucceeded | None = None
    compile_failed: CompileFailed | None = None
    correctness: CorrectnessMeasured | None = None
    """The latest; evidence that came after the reveal is left out by the campaign's fold."""
    benchmarks: list[BenchmarkMeasured] = field(default_factory=list)
    confirmations: list[ConfirmationMeasured] = field(default_factory=list)
    failures: list[MeasurementFailed] = field(default_factory=list)
    verdicts: list[VerdictState] = field(default_factory=list)
    disputes: list[EvidenceDisputed] = field(default_factory=list)
    starts: Counter[tuple[Stage, str]] = field(default_factory=Counter)
    """Starts of work by (stage, confirmation id or empty): attempts are counted by events."""
    abandoned: CandidateAbandoned | None = None
    device_seconds: float = 0.0
    """Exclusive device seconds of its benchmarks; confirmations have reservations of their own."""
    last_sequence: int = 0
    """Sequence of the newest event of its stream: what an append has to expect."""
    last_at: datetime | None = None
    """Recorded time of that event."""

    @property
    def verdict(self) -> VerdictReached | None:
        """The newest effective verdict under any policy."""
        return next((state.event for state in reversed(self.verdicts) if state.effective), None)

    def verdict_under(self, policy_digest: str) -> VerdictReached | None:
        """Return the effective verdict under one policy; there is at most one."""
        states = (state for state in self.verdicts if state.effective)
        return next((state.event for state in states if state.event.policy_digest == policy_digest), None)

    @property
    def terminal(self) -> bool:
        """Whether nobody owes it any work: it was judged once, or abandoned. A later retraction does not reopen it."""
        return bool(self.verdicts) or self.abandoned is not None

    @property
    def started(self) -> bool:
        """Whether somebody has spent anything on it."""
        return bool(self.starts) or self.screened is not None

    @property
    def parents(self) -> tuple[str, ...]:
        """Candidates that it was made from."""
        return self.proposed.parents if self.proposed else ()

    @property
    def progress(self) -> Progress:
        """The furthest step that it has reached."""
        steps: tuple[tuple[Progress, object], ...] = (
            ("judged", self.verdicts),
            ("abandoned", self.abandoned),
            ("measured", self.benchmarks),
            ("checked", self.correctness),
            ("compiled", self.compiled or self.compile_failed),
            ("screened", self.screened),
        )
        return next((step for step, reached in steps if reached), "proposed")

    def apply(self, sequence: int, event: EventBase) -> None:  # noqa: C901, PLR0912 - one case for each kind
        """Take the next event of the candidate's stream; kinds of other streams are ignored."""
        match event:
            case CandidateProposed():
                self.proposed = self.proposed or event
            case CandidateScreened():
                self.screened = event
            case WorkStarted():
                self.starts[event.stage, event.work] += 1
            case CompileSucceeded():
                self.compiled = event
            case CompileFailed():
                self.compile_failed = event
            case CorrectnessMeasured():
                self.correctness = event
            case BenchmarkMeasured():
                self.benchmarks.append(event)
                self.device_seconds += event.device_seconds
            case ConfirmationMeasured():
                self.confirmations.append(event)
            case MeasurementFailed():
                self.failures.append(event)
            case VerdictReached():
                void = self.verdict_under(event.policy_digest) is not None
                self.verdicts.append(VerdictState(event, sequence, void=void))
            case VerdictRetracted():
                self._retract(event.verdict)
            case VerdictReinstated():
                self._reinstate(event.verdict)
            case EvidenceDisputed():
                self.disputes.append(event)
            case CandidateAbandoned():
                self.abandoned = event
            case _:
                return
        self.last_sequence = sequence
        self.last_at = event.recorded_at

    def release_evidence(self) -> None:
        """Drop the evidence of a judged candidate; verdicts, traits and sums stay. For folds of bounded memory."""
        self.compiled = self.compile_failed = self.correctness = None
        self.benchmarks.clear()

    def _retract(self, verdict: str) -> None:
        for state in self.verdicts:
            if state.event.event_id == verdict:
                state.retracted = True

    def _reinstate(self, verdict: str) -> None:
        for state in self.verdicts:
            if state.event.event_id == verdict and self.verdict_under(state.event.policy_digest) is None:
                state.retracted = False


def fold_candidate(stream: Iterable[EventBase | Positioned]) -> CandidateState:
    """Return the state of one candidate from the events of its stream, in order.

    Plain events are numbered from 1; pass records with sequences where `last_sequence` matters.

    Raises:
        EmptyStreamError: there is no event, or none of them belongs to a candidate.
    """
    state: CandidateState | None = None
    sequence = 0
    for item in stream:
        event, sequence = (item, sequence + 1) if isinstance(item, EventBase) else (item.event, item.sequence)
        candidate = getattr(event, "candidate", None)
        if state is None and event.declaration.stream == "candidate":
            state = CandidateState(str(candidate))
        if state is not None and candidate == state.candidate:
            state.apply(sequence, event)
    if state is None:
        raise EmptyStreamError("the stream holds no event of a candidate: read it from its first event on")
    return state
