"""When a campaign stops searching, when it closes, and how it ends."""

from datetime import datetime
from typing import Literal

from kernelmill.events import CampaignClosed, CampaignClosing, CampaignEvent
from kernelmill.folds import headline
from kernelmill_planner.domain.situation import Situation

CONFIRM_SECONDS = 45.0
"""Wall time kept for the last confirmation, at most a third of the budget."""

StopReason = Literal["goal", "budget", "stall"]


def stop_reason(  # noqa: PLR0911 - one return for each reason
    situation: Situation, now: datetime
) -> tuple[StopReason, str] | None:
    """Return why no new task is planned any more, None while the search goes on."""
    fold, objective = situation.fold, situation.objective
    goal = objective.goal
    crown = fold.crown
    best = headline(crown.event.effects) if crown else None
    if goal.speedup is not None and best is not None and best.speedup.estimate >= goal.speedup:
        return "goal", f"a confirmed speed-up of {best.speedup.estimate:.3f} reaches the goal of {goal.speedup:.3f}"
    wall = fold.budget.budget.wall_seconds
    elapsed = fold.elapsed(now)
    if wall is not None and elapsed >= wall - (0.0 if situation.by_hand else min(CONFIRM_SECONDS, wall / 3.0)):
        return "budget", f"{elapsed:.0f} of {wall:.0f} s are over"
    if situation.by_hand:
        return None
    available = fold.budget.available("evaluations")
    if available is not None and available < 1:
        return "budget", f"all {fold.budget.budget.evaluations} evaluations are spent or promised"
    device = fold.budget.available("device_seconds")
    if device is not None and device < 1.0:
        return "budget", "the device time is spent or promised"
    if goal.stall_verdicts and fold.verdicts_since_crown >= goal.stall_verdicts:
        return "stall", f"{fold.verdicts_since_crown} verdicts without a new champion"
    return None


def begin_closing(situation: Situation, now: datetime, reason: str, detail: str) -> CampaignClosing | None:
    """Return the beginning of the end once nothing is open that could still bring a champion."""
    fold = situation.fold
    if fold.open_tasks or fold.open_candidates or fold.unsettled_confirmations or fold.unsettled_tasks:
        wall = fold.budget.budget.wall_seconds
        if wall is None or fold.elapsed(now) < wall or fold.unsettled_confirmations:
            return None
    return CampaignClosing.model_validate(
        {
            "event_id": situation.identity("CampaignClosing"),
            "recorded_at": now,
            "target": fold.target,
            "campaign": fold.campaign,
            "reason": reason,
            "detail": detail,
        }
    )


def close(situation: Situation, now: datetime) -> CampaignEvent | None:
    """Return the end of a closing campaign, None while something is open or the cases are not revealed."""
    fold = situation.fold
    if fold.closing is None or not fold.settled or (fold.cases is not None and fold.revealed is None):
        return None
    return CampaignClosed(
        event_id=situation.identity("CampaignClosed"),
        recorded_at=now,
        target=fold.target,
        campaign=fold.campaign,
        reason=fold.closing.reason,
        champion=fold.champion,
        merkle_root=fold.merkle_root,
        events=fold.events,
        candidates=len(fold.candidates),
        verdicts={decision: count for decision, count in sorted(fold.verdicts.decisions.items()) if count},
    )
