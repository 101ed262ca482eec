"""Campaigns on a simulated swarm: whatever happens, they end, stay in budget, and crown nobody wrongly."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import POLICY
from support.swarm import Swarm

from kernelmill.events import Budget, ChampionCrowned, VerdictReached
from kernelmill.evidence import confirm, confirmation_level
from kernelmill.folds import CampaignFold

STEPS = 3000


async def run(swarm: Swarm) -> CampaignFold:
    await swarm.begin()
    for _ in range(STEPS):
        await swarm.step()
        if swarm.log._messages[-1].subject.split(".")[6] == "CampaignClosed":
            break
    return await swarm.fold()


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), vanish=st.sampled_from([0.0, 0.05, 0.3]), evaluations=st.integers(0, 30))
async def test_every_campaign_ends_within_its_budget(seed: int, vanish: float, evaluations: int) -> None:
    budget = Budget(evaluations=evaluations, wall_seconds=900.0, device_seconds=400.0)
    swarm = Swarm(seed, vanish=vanish, objective={"budget": budget})
    fold = await run(swarm)
    assert fold.status == "closed", fold.status
    assert fold.budget.violations == []
    assert fold.budget.open == {}
    assert len(fold.candidates) <= evaluations
    assert fold.settled
    records = await swarm.log.read_campaign("c1")
    verdicts = [record.event.candidate for record in records if isinstance(record.event, VerdictReached)]
    assert len(verdicts) == len(set(verdicts))
    for record in records:
        if isinstance(record.event, ChampionCrowned):
            measured = next(item.event for item in records if item.event.event_id == record.event.confirmation)
            state = fold.confirmations[measured.confirmation]
            assert confirm(measured, state.request.level, POLICY).holds


async def test_a_refold_is_the_same_fold() -> None:
    swarm = Swarm(7)
    fold = await run(swarm)
    again = await swarm.fold()
    assert (again.merkle_root, again.champion, again.budget.settled) == (
        fold.merkle_root,
        fold.champion,
        fold.budget.settled,
    )
    assert fold.closed is not None
    assert fold.closed.champion == fold.champion


async def test_the_best_candidate_becomes_champion_when_nobody_vanishes() -> None:
    swarm = Swarm(3, vanish=0.0, objective={"budget": Budget(evaluations=40, wall_seconds=3000.0)})
    fold = await run(swarm)
    assert fold.champion is not None
    best = max(fold.verdicts.accepted, key=lambda candidate: fold.verdicts.accepted[candidate])
    assert fold.verdicts.accepted[fold.champion] >= fold.verdicts.accepted[best] - 0.03


async def test_a_campaign_by_hand_plans_and_confirms_nothing() -> None:
    swarm = Swarm(5, objective={"agents": (), "budget": Budget(wall_seconds=60.0)})
    await swarm.begin()
    for _ in range(200):
        await swarm.step()
    fold = await swarm.fold()
    assert fold.tasks == {}
    assert fold.confirmations == {}
    assert fold.status == "closed"


@pytest.mark.parametrize("k", [1, 2, 10])
def test_levels_of_confirmations_sum_to_the_error_budget(k: int) -> None:
    assert confirmation_level(0.001, k) == pytest.approx(0.001 * 6 / (math.pi**2 * k**2))
