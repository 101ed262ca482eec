"""Turns evidence into verdicts. All verdicts come from here, by the pure judge that the policy names."""

from datetime import UTC, datetime

import structlog

from kernelmill.bus import Bus, ConflictError, Delivery, RetryLaterError, StreamAddress, adopted_policy
from kernelmill.events import (
    CampaignOpened,
    CampaignPolicyChanged,
    CandidateEvent,
    CasesRevealed,
    Policy,
    VerdictReached,
)
from kernelmill.evidence import recompute
from kernelmill.folds import fold_candidate
from kernelmill.identity import command_id

_logger = structlog.get_logger(__name__)


class Judging:
    """Judges candidates whose evidence ends them or is complete."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._policies: dict[str, Policy] = {}

    async def judge(self, delivery: Delivery) -> None:
        """Evidence arrived: reach the verdict that it allows, once per policy."""
        event = delivery.event
        if not isinstance(event, CandidateEvent):
            return
        digest, revealed_at = await self._campaign(event)
        policy = await self._policy(digest)
        records = await self._bus.log.read_stream(StreamAddress.of(event))
        state = fold_candidate(records)
        if state.verdict_under(digest) is not None or state.abandoned is not None:
            return
        late = {record.event.event_id for record in records if revealed_at and record.sequence > revealed_at}
        body = recompute([record.event for record in records], policy, inadmissible=late)
        if body is None:
            return
        verdict = VerdictReached(
            event_id=command_id(event.candidate, event.campaign, "VerdictReached", digest, *body.evidence),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            decision=body.decision,
            reason=body.reason,
            detail=body.detail,
            effects=body.effects,
            policy_digest=digest,
            judge=policy.judge,
            evidence=body.evidence,
        )
        try:
            await self._bus.log.append(verdict, expected=state.last_sequence)
        except ConflictError as error:
            raise RetryLaterError(0.05, str(error)) from error
        _logger.info("verdict", decision=body.decision, reason=body.reason)

    async def _campaign(self, event: CandidateEvent) -> tuple[str, int]:
        """Return the digest of the policy that judges now, and the sequence of the reveal (0 before it)."""
        digest, revealed = "", 0
        address = StreamAddress(event.target, event.campaign, "campaign", event.campaign)
        for record in await self._bus.log.read_stream(address):
            match record.event:
                case CampaignOpened():
                    digest = record.event.objective.policy_digest
                case CampaignPolicyChanged():
                    digest = record.event.policy_digest
                case CasesRevealed():
                    revealed = record.sequence
                case _:
                    pass
        return digest, revealed

    async def _policy(self, digest: str) -> Policy:
        if digest not in self._policies:
            self._policies[digest] = await adopted_policy(self._bus.log, digest)
        return self._policies[digest]
