"""Turns evidence into verdicts and takes verdicts back. All come from here, by the judge that the policy names."""

from datetime import UTC, datetime

import structlog

from kernelmill.bus import Bus, ConflictError, Delivery, Recorded, RetryLaterError, StreamAddress, adopted_policy
from kernelmill.events import (
    CampaignEvent,
    CampaignPolicyChanged,
    CandidateEvent,
    CorrectnessMeasured,
    Policy,
    VerdictReached,
    VerdictReinstated,
    VerdictRetracted,
)
from kernelmill.evidence import VerdictBody, recompute
from kernelmill.folds import CampaignFold, CampaignViews, CandidateState, fold_candidate
from kernelmill.identity import command_id
from kernelmill_verifier.domain.reconciling import Step, next_step

_logger = structlog.get_logger(__name__)


class Judging:
    """Keeps the verdicts of candidates in agreement with their evidence and their campaign's policy."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._views = CampaignViews(lambda campaign, after: bus.log.read_campaign(campaign, after=after))
        self._policies: dict[str, Policy] = {}

    async def judge(self, delivery: Delivery) -> None:
        """Evidence arrived: reach the verdict that it allows, or take one back that it contradicts."""
        event = delivery.event
        if isinstance(event, CandidateEvent):
            await self._reconcile(await self._campaign(event), event.candidate)

    async def judge_again(self, delivery: Delivery) -> None:
        """CampaignPolicyChanged: judge every candidate of the campaign under the policy that is named last.

        Only recorded statistics are read; nothing is built and nothing is run.
        """
        event = delivery.event
        if not isinstance(event, CampaignPolicyChanged):
            return
        fold = await self._campaign(event)
        streams: dict[str, list[Recorded]] = {}
        for record in await self._bus.log.read_campaign(event.campaign):
            if isinstance(record.event, CandidateEvent):
                streams.setdefault(record.event.candidate, []).append(record)
        for candidate, records in streams.items():
            if any(isinstance(record.event, VerdictReached) for record in records):
                await self._reconcile(fold, candidate, records)

    async def judge_late(self, delivery: Delivery) -> None:
        """VerdictReached under a policy that has been replaced since: it arrived late, and is judged again."""
        event = delivery.event
        if not isinstance(event, VerdictReached):
            return
        fold = await self._campaign(event)
        if event.policy_digest != fold.policy_digest:
            await self._reconcile(fold, event.candidate)

    async def _reconcile(self, fold: CampaignFold, candidate: str, known: list[Recorded] | None = None) -> None:
        """Append what is owed; `known` is the candidate's stream where the caller has read it."""
        digest = fold.policy_digest
        policy = await self._policy(digest)
        address = StreamAddress(fold.target, fold.campaign, "candidate", candidate)
        while True:
            records = known if known is not None else await self._bus.log.read_stream(address)
            known = None
            state = fold_candidate(records)
            if state.abandoned is not None:
                return
            body = recompute([record.event for record in records], policy, inadmissible=_inadmissible(fold, records))
            step = next_step(state, digest, body)
            if step is None or body is None:
                return
            event = _event(fold, state, step, body, policy)
            try:
                await self._bus.log.append(event, expected=state.last_sequence)
            except ConflictError as error:
                raise RetryLaterError(0.05, str(error)) from error
            _logger.info("verdict", act=step.act, decision=body.decision, reason=body.reason)

    async def _campaign(self, event: CandidateEvent | CampaignEvent) -> CampaignFold:
        fold = await self._views.look(event.campaign)
        if fold.opened is None:
            raise RetryLaterError(0.5, "the campaign has not been opened as far as this reader sees")
        return fold

    async def _policy(self, digest: str) -> Policy:
        if digest not in self._policies:
            self._policies[digest] = await adopted_policy(self._bus.log, digest)
        return self._policies[digest]


def _inadmissible(fold: CampaignFold, records: list[Recorded]) -> set[str]:
    """Return the ids of evidence that came after the cases were revealed, unless it speaks against the candidate."""
    found = set()
    for record in records:
        event = record.event
        failed = isinstance(event, CorrectnessMeasured) and event.outcome == "failed"
        if fold.revealed_at and record.sequence > fold.revealed_at and not failed:
            found.add(event.event_id)
    return found


def _event(
    fold: CampaignFold, state: CandidateState, step: Step, body: VerdictBody, policy: Policy
) -> VerdictReached | VerdictRetracted | VerdictReinstated:
    digest = fold.policy_digest
    address = {
        "recorded_at": datetime.now(UTC),
        "target": fold.target,
        "campaign": fold.campaign,
        "candidate": state.candidate,
    }
    if step.act == "reach":
        # The number of verdicts tells a verdict that is reached again after a retraction from the first one.
        parts = (state.candidate, fold.campaign, "VerdictReached", digest, str(len(state.verdicts)), *body.evidence)
        return VerdictReached.model_validate(
            address
            | {
                "event_id": command_id(*parts),
                "decision": body.decision,
                "reason": body.reason,
                "detail": body.detail,
                "effects": body.effects,
                "policy_digest": digest,
                "judge": policy.judge,
                "evidence": body.evidence,
            }
        )
    kind = VerdictRetracted if step.act == "retract" else VerdictReinstated
    identity = command_id(step.verdict, kind.__name__, str(state.last_sequence))
    return kind.model_validate(address | {"event_id": identity, "verdict": step.verdict, "because": step.because})
