"""Would-be champions: who is confirmed next, and what a confirmation means for the crown."""

import math
from datetime import datetime, timedelta

from kernelmill.events import (
    CampaignEvent,
    ChampionCrowned,
    ConfirmationExpired,
    ConfirmationRequested,
    Policy,
    Reservation,
    ReservationSettled,
    Spending,
)
from kernelmill.evidence import confirm, confirmation_level, confirmation_pairs
from kernelmill.folds import ConfirmationState, cap_spending, headline
from kernelmill.identity import command_id
from kernelmill_planner.domain.situation import Situation

DEADLINE = timedelta(minutes=10)
SECONDS_PER_PAIR = 0.4
"""Upper estimate of one process pair with its builds, for the reservation."""
GAIN_WHILE_SEARCHING = 0.06
"""Log ratio by which a candidate's estimate has to exceed the champion's before device time goes to a confirmation."""
GAIN_AT_THE_END = 0.005
FIRST_AFTER = 8
"""Verdicts before the first confirmation. The first acceptable candidate is rarely worth the time, but a champion
saves some: whoever loses the race against it is measured no further."""
APART = 24
"""Verdicts between two confirmations while the search goes on: while one runs, nothing else is timed."""
SHARE = 0.2
"""Share of a running search's time that confirmations may take; what is found meanwhile is worth more than a crown."""
AT_THE_END = 2
"""Confirmations once the search is over: estimates of the best are biased upwards, and there is always a next best."""
RETRIES = 2
"""Confirmations of one candidate, of which all but the last were ended by the machine."""


def conclude(situation: Situation, now: datetime) -> CampaignEvent | None:
    """Return what follows for the confirmation that is on its way or unsettled: crown, expiry, settlement."""
    for state in situation.fold.unsettled_confirmations.values():
        event = _conclude(situation, state, now)
        if event is not None:
            return event
    return None


def request(situation: Situation, now: datetime, *, final: bool) -> ConfirmationRequested | None:
    """Return the request to confirm the most promising candidate, None where there is none worth it.

    Args:
        situation: the campaign.
        now: the time.
        final: whether the search is over, so that small gains are worth a confirmation.
    """
    fold, policy, node = situation.fold, situation.policy, situation.fold.node
    if situation.by_hand or policy is None or node is None or fold.unsettled_confirmations:
        return None
    candidate = _most_promising(situation, now, final=final)
    verdict = fold.effective(candidate) if candidate else None
    if candidate is None or verdict is None:
        return None
    ordinal = len(fold.confirmations) + 1
    rows = len(situation.objective.workloads)
    level = confirmation_level(policy.confirm_alpha, ordinal)
    pairs = confirmation_pairs(rows, level, policy)
    opponents = 1 if fold.champion is None else 2
    amount = Spending(device_seconds=pairs * rows * opponents * SECONDS_PER_PAIR)
    if not fold.budget.affords(amount):
        return None
    confirmation = command_id(fold.campaign, "confirmation", str(ordinal))
    return ConfirmationRequested(
        event_id=situation.identity("ConfirmationRequested"),
        recorded_at=now,
        target=fold.target,
        campaign=fold.campaign,
        confirmation=confirmation,
        candidate=candidate,
        verdict=verdict.event_id,
        opponent=fold.champion,
        case_round=ordinal,
        ordinal=ordinal,
        pairs=pairs,
        level=level,
        node=node,
        reservation=Reservation(reservation=f"confirm-{confirmation}", amount=amount),
        deadline=now + DEADLINE,
    )


def _conclude(situation: Situation, state: ConfirmationState, now: datetime) -> CampaignEvent | None:
    policy = situation.policy
    if state.status == "measured" and not situation.by_hand and policy is not None and not state.settled:
        crown = _crown(situation, state, policy, now)
        if crown is not None:
            return crown
    if state.status == "failed":
        return _expire(situation, state, now, "measurement-failed")
    if state.status == "requested" and state.request.deadline <= now:
        return _expire(situation, state, now, "deadline")
    if state.status == "requested":
        return None
    return _settle(situation, state, now)


def _crown(situation: Situation, state: ConfirmationState, policy: Policy, now: datetime) -> ChampionCrowned | None:
    """Return the crown that a confirmation earns, None where it does not hold or the throne has changed hands."""
    fold, measured = situation.fold, state.measured
    verdict = fold.effective(state.request.candidate)
    if measured is None or verdict is None or verdict.event_id != state.request.verdict:
        return None
    if measured.event_id in fold.unadmitted or state.request.opponent != fold.champion:
        return None
    outcome = confirm(measured, state.request.level, policy)
    if not outcome.holds:
        return None
    return ChampionCrowned(
        event_id=situation.identity("ChampionCrowned"),
        recorded_at=now,
        target=fold.target,
        campaign=fold.campaign,
        candidate=state.request.candidate,
        opponent=state.request.opponent,
        verdict=state.request.verdict,
        confirmation=measured.event_id,
        effects=outcome.effects,
        specialised=outcome.specialised,
    )


def _expire(situation: Situation, state: ConfirmationState, now: datetime, reason: str) -> ConfirmationExpired:
    return ConfirmationExpired.model_validate(
        {
            "event_id": situation.identity("ConfirmationExpired"),
            "recorded_at": now,
            "target": situation.fold.target,
            "campaign": situation.fold.campaign,
            "confirmation": state.confirmation,
            "reason": reason,
        }
    )


def _settle(situation: Situation, state: ConfirmationState, now: datetime) -> ReservationSettled:
    reserved = state.request.reservation.amount
    spent = reserved if state.measured is None else Spending(device_seconds=state.measured.device_seconds)
    return ReservationSettled(
        event_id=situation.identity("ReservationSettled"),
        recorded_at=now,
        target=situation.fold.target,
        campaign=situation.fold.campaign,
        reservation=state.request.reservation.reservation,
        spent=cap_spending(spent, reserved),
    )


def _most_promising(situation: Situation, now: datetime, *, final: bool) -> str | None:
    fold = situation.fold
    if final:
        if _requested_at_the_end(situation) >= AT_THE_END:
            return None
    elif fold.verdicts.judged < _next_after(situation) or _spent(situation) > SHARE * fold.elapsed(now):
        return None
    bar = -math.inf
    if fold.champion is not None:
        gain = GAIN_AT_THE_END if final else GAIN_WHILE_SEARCHING
        bar = fold.verdicts.estimates.get(fold.champion, _confirmed(situation)) + gain
    open_ones = [
        (estimate, candidate)
        for candidate, estimate in fold.verdicts.accepted.items()
        if estimate > bar and candidate != fold.champion and _may_be_confirmed(situation, candidate)
    ]
    return max(open_ones)[1] if open_ones else None


def _next_after(situation: Situation) -> int:
    """Return how many verdicts have to be in before the next confirmation of a running search."""
    requests = [state.sequence for state in situation.fold.confirmations.values()]
    if not requests:
        return FIRST_AFTER
    return situation.archive.judged_at(max(requests)) + APART


def _spent(situation: Situation) -> float:
    """Return the device seconds of all confirmations so far."""
    states = situation.fold.confirmations.values()
    return math.fsum(state.measured.device_seconds for state in states if state.measured is not None)


def _requested_at_the_end(situation: Situation) -> int:
    """Return how many confirmations were requested after the last verdict."""
    judged = situation.fold.verdicts.judged
    states = situation.fold.confirmations.values()
    return sum(situation.archive.judged_at(state.sequence) >= judged for state in states)


def _confirmed(situation: Situation) -> float:
    crown = situation.fold.crown
    best = headline(crown.event.effects) if crown else None
    return math.log(best.speedup.estimate) if best else -math.inf


def _may_be_confirmed(situation: Situation, candidate: str) -> bool:
    """One confirmation a candidate, failure final; what the machine ended may be tried again."""
    before = situation.fold.confirmations_of.get(candidate, [])
    policy = situation.policy
    conclusive = any(
        state.measured is not None
        and policy is not None
        and confirm(state.measured, state.request.level, policy).conclusive
        for state in before
    )
    return not conclusive and len(before) < RETRIES
