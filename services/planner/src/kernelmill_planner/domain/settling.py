"""Ends promises of work and settles what they cost."""

from datetime import datetime, timedelta

from kernelmill.events import CampaignEvent, CandidateAbandoned, ReservationSettled, Spending, TaskExpired
from kernelmill.folds import TaskState, cap_spending
from kernelmill.identity import command_id
from kernelmill_planner.domain.situation import Situation

ABANDON_AFTER = timedelta(minutes=10)
"""A candidate to which nothing has happened for so long is given up: whoever worked on it is gone for good."""


def end_tasks(situation: Situation, now: datetime) -> CampaignEvent | None:
    """Return the expiry of a task that is past its deadline, or unclaimed in a closing campaign."""
    fold = situation.fold
    for task, state in fold.open_tasks.items():
        unclaimed = fold.status == "closing" and state.status == "planned"
        if state.plan.deadline <= now or unclaimed:
            return TaskExpired(
                event_id=situation.identity("TaskExpired"),
                recorded_at=now,
                target=fold.target,
                campaign=fold.campaign,
                task=task,
                reason="closing" if unclaimed else "deadline",
            )
    return None


def settle_tasks(situation: Situation, now: datetime) -> ReservationSettled | None:
    """Return the settlement of a task that has ended and whose candidates are all terminal."""
    fold = situation.fold
    for task, state in fold.unsettled_tasks.items():
        if task in fold.open_tasks or any(candidate in fold.open_candidates for candidate in state.candidates):
            continue
        return ReservationSettled(
            event_id=situation.identity("ReservationSettled"),
            recorded_at=now,
            target=fold.target,
            campaign=fold.campaign,
            reservation=state.plan.reservation.reservation,
            spent=_spent(situation, state),
        )
    return None


def abandon(situation: Situation, now: datetime) -> CandidateAbandoned | None:
    """Return the end of a candidate that nobody has started in a closing campaign, or that was forgotten."""
    fold = situation.fold
    for candidate, state in fold.open_candidates.items():
        unstarted = fold.status == "closing" and not state.started
        forgotten = state.last_at is not None and now - state.last_at > ABANDON_AFTER
        if unstarted or forgotten:
            return CandidateAbandoned(
                event_id=command_id(candidate, fold.campaign, "CandidateAbandoned"),
                recorded_at=now,
                target=fold.target,
                campaign=fold.campaign,
                candidate=candidate,
                because="the campaign is closing" if unstarted else "nothing has happened to it for ten minutes",
            )
    return None


def _spent(situation: Situation, state: TaskState) -> Spending:
    """Return what a task cost; an attempt that was lost is charged its whole reservation."""
    reserved = state.plan.reservation.amount
    if state.status == "expired" and situation.fold.status != "closing":
        return reserved
    candidates = [situation.fold.candidates[item] for item in state.candidates if item in situation.fold.candidates]
    spent = Spending(
        evaluations=len(candidates),
        device_seconds=sum(candidate.device_seconds for candidate in candidates),
    )
    return cap_spending(spent, reserved)
