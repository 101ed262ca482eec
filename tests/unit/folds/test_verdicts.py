"""Verdicts, retractions and crowns as folds: what counts now, whatever counted before."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.events import START, address, candidate_id, measured, opened, proposed, screened
from support.histories import HISTORY, judged, retracted

from kernelmill.events import ChampionCrowned, VerdictReinstated
from kernelmill.folds import CampaignFold

NAMES = ("a", "b", "c")


def crowned(name: str, opponent: str | None = None) -> ChampionCrowned:
    return ChampionCrowned.model_validate(
        {
            "event_id": f"crown-{name}-{opponent}",
            "recorded_at": START,
            "target": "cpu",
            "campaign": opened().campaign,
            "candidate": candidate_id(name),
            "opponent": None if opponent is None else candidate_id(opponent),
            "verdict": judged(name, 0.1).event_id,
            "confirmation": f"confirmation-{name}",
            "effects": (),
            "specialised": False,
        }
    )


def reinstated(name: str) -> VerdictReinstated:
    return VerdictReinstated.model_validate(
        address(name, "VerdictReinstated") | {"verdict": judged(name, 0.1).event_id, "because": "it was right"}
    )


def fold(events: list[Any]) -> CampaignFold:
    state = CampaignFold(opened().campaign)
    for sequence, event in enumerate(events, 1):
        state.apply(sequence, event)
    return state


BEGINNING: list[Any] = [opened(), *(proposed(name) for name in NAMES), *(judged(name, 0.1) for name in NAMES)]


def test_the_newest_valid_crown_reigns() -> None:
    crowns = [crowned("a"), crowned("b", "a"), crowned("c", "b")]
    assert fold([*BEGINNING, *crowns]).champion == candidate_id("c")
    after = fold([*BEGINNING, *crowns, retracted("c")])
    assert after.champion == candidate_id("b")
    assert fold([*BEGINNING, *crowns, retracted("c"), reinstated("c")]).champion == candidate_id("c")


def test_a_retraction_before_the_crown_voids_it_as_well() -> None:
    assert fold([*BEGINNING, retracted("a"), crowned("a")]).champion is None


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=14))
def test_counts_follow_what_is_effective(changes: list[tuple[str, bool]]) -> None:
    events = list(BEGINNING)
    effective = dict.fromkeys(NAMES, True)
    for name, back in changes:
        events.append(reinstated(name) if back else retracted(name))
        effective[name] = back
    state = fold(events)
    assert state.verdicts.decisions["accepted"] == sum(effective.values())
    assert set(state.verdicts.accepted) == {candidate_id(name) for name, holds in effective.items() if holds}
    assert state.verdicts.judged == len(NAMES)
    for name, holds in effective.items():
        assert (state.effective(candidate_id(name)) is not None) == holds


@given(st.integers(0, len(HISTORY)))
def test_a_fold_of_a_fold_is_the_fold(cut: int) -> None:
    whole, parts = CampaignFold(opened().campaign), CampaignFold(opened().campaign)
    for sequence, event in enumerate(HISTORY, 1):
        whole.apply(sequence, event)
    for sequence, event in enumerate(HISTORY[:cut], 1):
        parts.apply(sequence, event)
    for sequence, event in enumerate(HISTORY[cut:], cut + 1):
        parts.apply(sequence, event)
    assert parts.verdicts == whole.verdicts
    assert parts.merkle_root == whole.merkle_root
    assert list(parts.candidates) == list(whole.candidates)


def test_unfinished_evidence_keeps_a_candidate_open() -> None:
    state = fold([opened(), proposed("a"), screened("a"), measured("a", 0.1)])
    assert candidate_id("a") in state.open_candidates
    assert not fold([opened(), proposed("a"), judged("a", 0.1)]).open_candidates
