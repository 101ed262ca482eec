"""The story of a candidate, told from its events: each statement names the event that it rests on."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kernelmill.events import (
    BenchmarkMeasured,
    CandidateAbandoned,
    CandidateProposed,
    CandidateScreened,
    ChampionCrowned,
    CompileFailed,
    CompileSucceeded,
    ConfirmationExpired,
    ConfirmationMeasured,
    ConfirmationRequested,
    CorrectnessMeasured,
    EffectEstimate,
    Event,
    EvidenceDisputed,
    MeasurementFailed,
    VerdictReached,
    VerdictReinstated,
    VerdictRetracted,
    WorkStarted,
)
from kernelmill.folds import by_opponent
from kernelmill_console.domain.ids import SHORT, opponent_name, shorten


@dataclass(frozen=True)
class Statement:
    """One sentence of a story."""

    when: datetime
    text: str
    event_id: str


def concerns(event: Event, candidate: str) -> bool:
    """Return whether an event is part of the candidate's story."""
    return getattr(event, "candidate", None) == candidate


def candidate_story(events: Iterable[Event], candidate: str) -> list[Statement]:
    """Return what happened to a candidate, in log order."""
    return [Statement(event.recorded_at, tell(event), event.event_id) for event in events if concerns(event, candidate)]


def effect_text(effect: EffectEstimate) -> str:
    """Return an effect as people read it, with its interval."""
    interval = effect.speedup
    return (
        f"{effect.workload} against {opponent_name(effect.opponent)}: {interval.estimate:.3f}x "
        f"[{interval.low:.3f}, {interval.high:.3f}] at {interval.level:.0%}"
    )


def tell(event: Event) -> str:
    """Return one sentence for an event."""
    return shorten(_sentence(event))


def _sentence(event: Event) -> str:  # noqa: C901, PLR0911, PLR0912 - one sentence for each kind reads best in one place
    match event:
        case CandidateProposed():
            parents = ", ".join(event.parents) or "no parent"
            flags = " ".join(event.build.flags)
            return (
                f"proposed by {event.author} ({event.origin or 'free form'}) from {parents}; "
                f"{event.build.compiler} {flags}; {event.hypothesis}"
            )
        case CandidateScreened():
            techniques = ", ".join(event.traits.techniques) or "no known technique"
            return f"screening {event.outcome}{': ' + event.reason if event.reason else ''}; shows {techniques}"
        case WorkStarted():
            return f"{event.stage} started on {event.node}, attempt {event.attempt}"
        case CompileSucceeded():
            return f"compiled in {event.seconds:.2f} s with {event.toolchain} ({event.artifact.size} bytes)"
        case CompileFailed():
            return f"did not {event.stage}{' in time' if event.timed_out else ''}: {event.diagnostics.strip()[:400]}"
        case CorrectnessMeasured():
            return _correctness(event)
        case BenchmarkMeasured():
            return _benchmark(event)
        case ConfirmationRequested():
            opponent = event.opponent or "the best baselines"
            return (
                f"confirmation {event.ordinal} requested against {opponent}: {event.pairs} process pairs a row "
                f"at level {event.level:.2e}"
            )
        case ConfirmationMeasured():
            passed = sum(case.outcome == "passed" for case in event.cases)
            return (
                f"confirmation measured on {event.node}: {passed} of {len(event.cases)} new cases passed, "
                f"{len(event.head_to_head)} rows head to head, {len(event.rows)} against baselines, "
                f"{event.device_seconds:.1f} device seconds{'; ' + event.misbehaviour if event.misbehaviour else ''}"
            )
        case ConfirmationExpired():
            return f"confirmation ended without a result: {event.reason}"
        case MeasurementFailed():
            return f"{event.stage} failed, not by the candidate's fault ({event.fault}): {event.detail}"
        case VerdictReached():
            told = f"{event.decision}, {event.reason}: {event.detail}"
            means = _over_rows(event.effects)
            return told if not means or event.detail.startswith("geometric-mean") else f"{told} ({means})"
        case ChampionCrowned():
            beaten = event.opponent or "the best baselines"
            how = " (specialised)" if event.specialised else ""
            return f"crowned champion over {beaten}{how}: {_over_rows(event.effects)}"
        case EvidenceDisputed():
            return f"evidence disputed by {event.disputed_by}: {event.because}"
        case VerdictRetracted():
            return f"verdict {event.verdict[:SHORT]} retracted: {event.because}"
        case VerdictReinstated():
            return f"verdict {event.verdict[:SHORT]} reinstated: {event.because}"
        case CandidateAbandoned():
            return f"abandoned: {event.because}"
        case _:
            return event.kind


def _over_rows(effects: Iterable[EffectEstimate]) -> str:
    return "; ".join(effect_text(effect) for effect in by_opponent(effects).values())


def _correctness(event: CorrectnessMeasured) -> str:
    counts = Counter(case.outcome for case in event.cases)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    worst = max((case.worst_error for case in event.cases if case.worst_error is not None), default=None)
    error = "no output" if worst is None else f"worst error {worst:.3g} of the bound"
    failed = [f"{case.distribution} {case.outcome}" for case in event.cases if case.outcome != "passed"]
    tail = f" (failed: {', '.join(failed[:4])})" if failed else ""
    return f"correctness {event.outcome}: {summary}; {error}{tail}"


def _benchmark(event: BenchmarkMeasured) -> str:
    if event.misbehaviour:
        return f"misbehaved while it was timed: {event.misbehaviour}"
    race = "no race"
    if event.race:
        dropped = any(row.stopped_early for row in event.race)
        race = f"race over {sum(len(row.pairs) for row in event.race)} pairs, {'dropped' if dropped else 'kept'}"
    return (
        f"timed on {event.node}: {race}; {len(event.rows)} comparisons with baselines; "
        f"{event.calls_checked} timed calls checked; {event.device_seconds:.1f} device seconds"
    )
