"""Verdicts follow their evidence and the campaign's policy, and are taken back and given again by events."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import POLICY, START, candidate_id, checked, compiled, measured, opened, proposed, screened

from kernelmill.bus import Bus, Delivery, StreamAddress
from kernelmill.bus.memory import MemoryBlobs, MemoryLog, MemorySecrets
from kernelmill.events import (
    CampaignPolicyChanged,
    CasesRevealed,
    CorrectnessMeasured,
    Policy,
    PolicyAdopted,
    VerdictReached,
    policy_digest,
)
from kernelmill.folds import CandidateState, fold_candidate
from kernelmill_verifier.handlers import Judging

STRICT = POLICY.model_copy(update={"accept_speedup": 1.2})
POLICIES = {
    "usual": POLICY,
    "strict": STRICT,
    "usual with another race": POLICY.model_copy(update={"race_pairs_max": 9}),
}


class Court:
    """A judge on a log in memory, with one candidate that is ten per cent faster."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.judging = Judging(Bus(self.log, MemoryBlobs(), MemorySecrets()))

    async def begin(self) -> None:
        for policy in POLICIES.values():
            adopted = {"policy_digest": policy_digest(policy), "body": policy, "adopted_by": "t", "because": "t"}
            identity = {"event_id": f"policy-{policy_digest(policy)}", "recorded_at": START}
            await self.log.append(PolicyAdopted.model_validate(identity | adopted), expected=0)
        await self.log.append(opened(), expected=0)
        for event in (proposed("a"), screened("a"), compiled("a"), checked("a"), measured("a", 0.1)):
            await self.add(event)
        await self.deliver(measured("a", 0.1))

    async def add(self, event: Any) -> None:
        await self.log.append(event, expected=None)

    async def deliver(self, event: Any) -> None:
        delivery = Delivery(1, event, 1)
        if isinstance(event, CampaignPolicyChanged):
            await self.judging.judge_again(delivery)
        else:
            await self.judging.judge(delivery)

    async def change(self, policy: Policy, number: int) -> None:
        event = CampaignPolicyChanged(
            event_id=f"change-{number}",
            recorded_at=START,
            target="cpu",
            campaign=opened().campaign,
            policy_digest=policy_digest(policy),
            because="a better rule",
        )
        await self.add(event)
        await self.deliver(event)
        # At least once: a second delivery changes nothing.
        before = await self.log.last_sequence()
        await self.deliver(event)
        assert await self.log.last_sequence() == before

    async def state(self) -> CandidateState:
        address = StreamAddress("cpu", opened().campaign, "candidate", candidate_id("a"))
        return fold_candidate(await self.log.read_stream(address))


async def test_a_stricter_policy_takes_a_verdict_back_and_the_old_one_gives_it_again() -> None:
    court = Court()
    await court.begin()
    first = (await court.state()).verdict
    assert first is not None
    assert first.decision == "accepted"
    await court.change(STRICT, 1)
    strict = (await court.state()).verdict
    assert strict is not None
    assert (strict.decision, strict.reason, strict.policy_digest) == ("rejected", "not-faster", policy_digest(STRICT))
    assert [verdict.retracted for verdict in (await court.state()).verdicts] == [True, False]
    await court.change(POLICY, 2)
    assert (await court.state()).verdict == first
    assert len((await court.state()).verdicts) == 2


@settings(max_examples=25, deadline=None)
@given(changes=st.lists(st.sampled_from(sorted(POLICIES)), min_size=1, max_size=6))
async def test_whatever_was_changed_the_last_policy_judges(changes: list[str]) -> None:
    court = Court()
    await court.begin()
    for number, name in enumerate(changes):
        await court.change(POLICIES[name], number)
    state = await court.state()
    digest = policy_digest(POLICIES[changes[-1]])
    under = state.verdict_under(digest)
    assert under is not None
    assert under.decision == ("rejected" if changes[-1] == "strict" else "accepted")
    assert {verdict.event.decision for verdict in state.verdicts if verdict.effective} == {under.decision}
    assert not any(verdict.void for verdict in state.verdicts)


async def test_a_late_verdict_of_an_old_policy_is_judged_again() -> None:
    court = Court()
    await court.begin()
    await court.change(STRICT, 1)
    late = VerdictReached.model_validate(
        (await court.state()).verdicts[0].event.model_dump()
        | {"event_id": "late", "policy_digest": policy_digest(POLICIES["usual with another race"])}
    )
    await court.add(late)
    await court.judging.judge_late(Delivery(1, late, 1))
    state = await court.state()
    assert state.verdict is not None
    assert state.verdict.decision == "rejected"


async def test_a_dispute_that_finds_a_failing_case_ends_the_verdict_even_after_the_reveal() -> None:
    court = Court()
    await court.begin()
    await court.add(
        CasesRevealed.model_validate(
            {
                "event_id": "revealed",
                "recorded_at": START,
                "target": "cpu",
                "campaign": opened().campaign,
                "search_secret": "00" * 32,
                "confirmation_secret": "00" * 32,
            }
        )
    )
    again = checked("a").model_dump() | {"event_id": "again-passed", "case_round": 1_000_000}
    await court.add(CorrectnessMeasured.model_validate(again))
    await court.deliver(checked("a"))
    assert len((await court.state()).verdicts) == 1
    failing = checked("a", passed=False).model_dump() | {"event_id": "again-failed", "case_round": 1_000_001}
    await court.add(CorrectnessMeasured.model_validate(failing))
    await court.deliver(checked("a", passed=False))
    state = await court.state()
    assert state.verdict is not None
    assert (state.verdict.decision, state.verdict.reason) == ("rejected", "incorrect")
    assert state.verdicts[0].retracted
