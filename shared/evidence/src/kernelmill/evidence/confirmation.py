"""Confirming a would-be champion: once, in fresh processes, with new cases, at a preset level."""

from collections.abc import Sequence

from kernelmill.events import ConfirmationMeasured, EffectEstimate, Policy, RowEffect
from kernelmill.evidence.correctness import first_failure
from kernelmill.evidence.doubts import below_floor, stolen, trimming_matters, untrimmed
from kernelmill.evidence.effects import best_baselines, headline, mean_effect, row_effect, worst_effect
from kernelmill.evidence.verdict import BEST_BASELINE, HIDDEN_SHAPE_PREFIX, ConfirmationOutcome


def confirm(measured: ConfirmationMeasured, level: float, policy: Policy) -> ConfirmationOutcome:
    """Return whether the candidate may be crowned.

    It may, if every new case passed, nothing misbehaved, and over the rows the geometric mean of the speed-up over the
    opponent is above 1 at `level` by the exact signed-rank test over process pairs. The opponent is the reigning
    champion, and then no row may be inferior; for the first crown it is the best baseline of each row.

    Args:
        measured: the evidence.
        level: one-sided level that the request states.
        policy: thresholds for inferior rows, specialisation, steal and trimming, and the level of the intervals.
    """
    if failure := first_failure(measured.cases):
        return ConfirmationOutcome(False, True, (), False, f"a new case failed: {failure.words}")
    if measured.misbehaviour:
        return ConfirmationOutcome(False, True, (), False, f"it misbehaved: {measured.misbehaviour}")
    if doubt := _doubt(measured, policy):
        return ConfirmationOutcome(False, False, (), False, doubt)
    visible = [row for row in measured.rows if not row.workload.startswith(HIDDEN_SHAPE_PREFIX)]
    hidden = [row for row in measured.rows if row.workload.startswith(HIDDEN_SHAPE_PREFIX)]
    baselines = _over_rows(visible, BEST_BASELINE, measured.dispatch_ns, policy)
    versus = _over_rows(measured.head_to_head, measured.opponent or "", measured.dispatch_ns, policy)
    deciding, rows = (baselines, visible) if measured.opponent is None else (versus, measured.head_to_head)
    objection = _not_better(deciding[0], level)
    if not objection and measured.opponent is not None:
        objection = _inferior(rows, policy)
    if not objection and (doubt := _carried_by_few(rows, deciding[0], level, measured.dispatch_ns, policy)):
        return ConfirmationOutcome(False, False, (), False, doubt)
    return ConfirmationOutcome(
        holds=not objection,
        conclusive=True,
        effects=(*versus, *baselines),
        specialised=any(
            row_effect(row, policy.interval_level).speedup.low < policy.specialised_below for row in hidden
        ),
        detail=objection or f"better than {deciding[0].opponent}: {_figures(deciding[0])}, level {level:.3g}",
    )


def _doubt(measured: ConfirmationMeasured, policy: Policy) -> str:
    """Return why the machine, not the candidate, keeps this confirmation from deciding, or nothing."""
    if not measured.cases:
        return "no new case was run"
    deciding = measured.rows if measured.opponent is None else measured.head_to_head
    if not measured.rows or not deciding:
        return "no row has both a baseline and a measurement: there is nothing to be faster than"
    rows = (*measured.head_to_head, *measured.rows)
    if short := [row.workload for row in rows if len(row.pairs) < 2]:
        return f"too few process pairs on {', '.join(short)}"
    return stolen(measured.telemetry, policy) or below_floor(rows)


def _over_rows(
    rows: Sequence[RowEffect], opponent: str, dispatch_ns: float, policy: Policy
) -> tuple[EffectEstimate, ...]:
    """Return geometric mean, worst row and single rows, in that order; nothing for no rows."""
    best = best_baselines(rows)
    if not best:
        return ()
    level = policy.interval_level
    counted = list(headline(best, dispatch_ns, policy.headline_dispatch_share).values())
    return (
        mean_effect(counted, opponent, level),
        worst_effect(list(best.values()), opponent, level),
        *(row_effect(row, level) for row in rows),
    )


def _not_better(mean: EffectEstimate, level: float) -> str:
    if mean.p_value is not None and mean.p_value <= level:
        return ""
    return f"not shown to be better than {mean.opponent}: {_figures(mean)}, level {level:.3g}"


def _carried_by_few(
    rows: Sequence[RowEffect], mean: EffectEstimate, level: float, dispatch_ns: float, policy: Policy
) -> str:
    """Return why the gain does not count: it is not there when every duel is counted. Nothing where it is."""
    doubt = trimming_matters(rows, policy)
    if not doubt:
        return ""
    plain = _over_rows([untrimmed(row) for row in rows], mean.opponent, dispatch_ns, policy)
    return doubt if _not_better(plain[0], level) else ""


def _inferior(rows: Sequence[RowEffect], policy: Policy) -> str:
    for row in rows:
        effect = row_effect(row, policy.interval_level)
        if effect.speedup.high < policy.non_inferior:
            return f"row {row.workload} is inferior: {_figures(effect)}, upper bound under {policy.non_inferior:g}"
    return ""


def _figures(effect: EffectEstimate) -> str:
    speedup = effect.speedup
    return f"{speedup.estimate:.3f}x [{speedup.low:.3f}, {speedup.high:.3f}], p = {effect.p_value:.3g}"


def head_to_head_effects(measured: ConfirmationMeasured, policy: Policy) -> tuple[EffectEstimate, ...]:
    """Return geometric mean, worst row and single rows against the opponent; nothing where there was none."""
    return _over_rows(measured.head_to_head, measured.opponent or "", measured.dispatch_ns, policy)
