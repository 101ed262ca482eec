"""judge-v1: gates in order, then the comparison with the best baseline of each row.

Once a release has named it, never edit it: add a judge-v2.
"""

from kernelmill.events import (
    BenchmarkMeasured,
    CandidateScreened,
    CompileFailed,
    CompileSucceeded,
    CorrectnessMeasured,
    Decision,
    EffectEstimate,
    MeasurementFailed,
    Policy,
    ReasonCode,
    RowEffect,
)
from kernelmill.evidence.correctness import first_failure
from kernelmill.evidence.doubts import below_floor, stolen, trimming_matters, untrimmed
from kernelmill.evidence.effects import best_baselines, headline, mean_effect, row_effect, worst_effect
from kernelmill.evidence.gathered import CandidateEvidence
from kernelmill.evidence.statistics import hopeless_on_all_rows, race_decision
from kernelmill.evidence.verdict import BEST_BASELINE, VerdictBody

_Finding = tuple[Decision, ReasonCode, str]


def judge_v1(evidence: CandidateEvidence, policy: Policy) -> VerdictBody | None:
    """Return the verdict, None while the evidence neither ends the candidate nor is complete."""
    effects: tuple[EffectEstimate, ...] = ()
    finding = _screened(evidence.screened) or _compiled(evidence.compiled) or _correct(evidence.correctness)
    if finding is None and evidence.benchmark is not None and evidence.correctness is not None:
        finding, effects = _timed(evidence.benchmark, policy)
    if finding is None and evidence.failure is not None:
        finding = _failed(evidence.failure)
    if finding is None:
        return None
    decision, reason, detail = finding
    return VerdictBody(decision, reason, detail, effects, evidence.ids())


def _screened(event: CandidateScreened | None) -> _Finding | None:
    if event is None or event.outcome == "passed":
        return None
    if event.outcome == "near-duplicate":
        return "rejected", "near-duplicate", event.reason
    return "rejected", "screened-out", event.reason


def _compiled(event: CompileSucceeded | CompileFailed | None) -> _Finding | None:
    if not isinstance(event, CompileFailed):
        return None
    if event.timed_out:
        return "rejected", "compile-timed-out", f"stage {event.stage} was ended after {event.seconds:.1f} s"
    first_line = event.diagnostics.strip().partition("\n")[0]
    return "rejected", "compile-failed", f"stage {event.stage}: {first_line or 'the compiler said nothing'}"


def _correct(event: CorrectnessMeasured | None) -> _Finding | None:
    if event is None:
        return None
    failure = first_failure(event.cases)
    if failure is not None:
        reason: ReasonCode = "misbehaved" if failure.outcome == "state-changed" else "incorrect"
        return "rejected", reason, failure.words
    if event.outcome == "failed":
        return "rejected", "incorrect", "the check failed without a failing case"
    return None


def _failed(event: MeasurementFailed) -> _Finding:
    if event.fault == "lost-worker":
        return "inconclusive", "lost-worker", event.detail
    return "inconclusive", "infrastructure", f"{event.stage}: {event.fault}: {event.detail}"


def _timed(event: BenchmarkMeasured, policy: Policy) -> tuple[_Finding, tuple[EffectEstimate, ...]]:
    if event.misbehaviour:
        return ("rejected", "misbehaved", event.misbehaviour), ()
    if theft := stolen(event.telemetry, policy):
        return ("inconclusive", "infrastructure", theft), ()
    for row in event.race:
        if race_decision(row.pairs, policy) == "drop":
            effect = row_effect(row, policy.interval_level)
            return ("rejected", "eliminated-in-race", _words(effect)), (effect,)
    best = best_baselines(event.rows)
    if not best:
        missing = ", ".join(event.unsupported) or "no row was compared with a baseline"
        return ("inconclusive", "no-baseline", f"there is nothing to be faster than: {missing}"), ()
    return _against_baselines(event, best, policy)


def _against_baselines(
    event: BenchmarkMeasured, best: dict[str, RowEffect], policy: Policy
) -> tuple[_Finding, tuple[EffectEstimate, ...]]:
    level = policy.interval_level
    measured = [row for row in event.rows if len(row.pairs) >= 2]
    effects = tuple(row_effect(row, level) for row in measured)
    if fast := below_floor(best.values()):
        return ("inconclusive", "below-floor", fast), effects
    for row in best.values():
        if row.stopped_early and race_decision(row.pairs, policy) == "drop":
            return ("rejected", "slower-on-a-row", _words(row_effect(row, level))), effects
    if any(row.stopped_early for row in best.values()) and hopeless_on_all_rows(
        [row.pairs for row in best.values()], policy
    ):
        mean = mean_effect(list(best.values()), BEST_BASELINE, level)
        return ("rejected", "not-faster", _words(mean)), (mean, *effects)
    short = [row.workload for row in best.values() if len(row.pairs) < policy.baseline_pairs]
    if short:
        detail = f"fewer than {policy.baseline_pairs} process pairs on {', '.join(short)}"
        return ("inconclusive", "too-few-pairs", detail), effects
    counted = list(headline(best, event.dispatch_ns, policy.headline_dispatch_share).values())
    mean = mean_effect(counted, BEST_BASELINE, level)
    worst = worst_effect(list(best.values()), BEST_BASELINE, level)
    return _compared(counted, mean, worst, policy), (mean, worst, *effects)


def _compared(counted: list[RowEffect], mean: EffectEstimate, worst: EffectEstimate, policy: Policy) -> _Finding:
    if mean.speedup.low <= policy.accept_speedup:
        return "rejected", "not-faster", _words(mean)
    if doubt := trimming_matters(counted, policy):
        plain = mean_effect([untrimmed(row) for row in counted], BEST_BASELINE, policy.interval_level)
        if plain.speedup.low <= policy.accept_speedup:
            return "inconclusive", "infrastructure", doubt
    if worst.speedup.high < policy.worst_row:
        return "rejected", "slower-on-a-row", _words(worst)
    return "accepted", "faster", _words(mean)


def _words(effect: EffectEstimate) -> str:
    speedup = effect.speedup
    return (
        f"{effect.workload}: {speedup.estimate:.3f}x [{speedup.low:.3f}, {speedup.high:.3f}] "
        f"at level {speedup.level:.3g} against {effect.opponent}"
    )
