"""The evidence about one candidate, gathered from the events of its stream."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kernelmill.events import (
    BenchmarkMeasured,
    CandidateScreened,
    CompileFailed,
    CompileSucceeded,
    CorrectnessMeasured,
    EventBase,
    MeasurementFailed,
)
from kernelmill.identity import EventId


@dataclass(frozen=True)
class CandidateEvidence:
    """What is known about a candidate. Where a gate was passed several times, the last event counts."""

    screened: CandidateScreened | None = None
    """The sources."""
    compiled: CompileSucceeded | CompileFailed | None = None
    """The build."""
    correctness: CorrectnessMeasured | None = None
    """The hidden cases."""
    benchmark: BenchmarkMeasured | None = None
    """Race and comparison with the baselines."""
    failure: MeasurementFailed | None = None
    """The last failure of the machinery at `check` or `measure`, unless a result came after it."""

    @classmethod
    def of(cls, events: Iterable[EventBase], *, inadmissible: Collection[EventId] = ()) -> "CandidateEvidence":
        """Gather the evidence from the events of one candidate's stream, in order.

        Args:
            events: the stream; events that are no evidence (starts, verdicts, confirmations) are passed over.
            inadmissible: ids that do not count, such as correctness evidence sequenced after the cases were revealed.
        """
        screened: CandidateScreened | None = None
        compiled: CompileSucceeded | CompileFailed | None = None
        correctness: CorrectnessMeasured | None = None
        benchmark: BenchmarkMeasured | None = None
        failure: MeasurementFailed | None = None
        for event in events:
            if event.event_id in inadmissible:
                continue
            match event:
                case CandidateScreened():
                    screened = event
                case CompileSucceeded():
                    compiled = event
                case CompileFailed():
                    compiled, failure = event, None
                case CorrectnessMeasured():
                    correctness, failure = event, None
                case BenchmarkMeasured():
                    benchmark, failure = event, None
                case MeasurementFailed(stage="check" | "measure"):
                    failure = event
                case _:
                    pass
        return cls(screened, compiled, correctness, benchmark, failure)

    def ids(self) -> tuple[EventId, ...]:
        """Return the ids of the events that it consists of, in the order of the gates."""
        parts = (self.screened, self.compiled, self.correctness, self.benchmark, self.failure)
        return tuple(part.event_id for part in parts if part is not None)
