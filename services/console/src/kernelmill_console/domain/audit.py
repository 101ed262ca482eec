"""Recomputes what a log says about its campaigns, from the events alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel

from kernelmill.events import (
    CasesRevealed,
    ChampionCrowned,
    ConfirmationMeasured,
    Event,
    Policy,
    VerdictReached,
)
from kernelmill.evidence import EvidenceError, VerdictBody, confirm, recompute
from kernelmill.folds import CampaignFold
from kernelmill.identity import digest_framed

_INTERVAL_TOLERANCE = 1e-9


class Placed(Protocol):
    """An event with its sequence."""

    @property
    def sequence(self) -> int:
        """Place in the log."""

    @property
    def event(self) -> Event:
        """The event."""


class Disagreement(BaseModel):
    """Something that the log says and the evidence does not."""

    sequence: int
    event_id: str
    what: str


class AuditReport(BaseModel):
    """What an audit checked and what it found."""

    log: str = ""
    events: int = 0
    campaigns: int = 0
    verdicts: int = 0
    crowns: int = 0
    commitments: int = 0
    chains: int = 0
    cases: int = 0
    disagreements: list[Disagreement] = []

    @property
    def sound(self) -> bool:
        """Whether nothing disagrees."""
        return not self.disagreements

    def lines(self) -> list[str]:
        """Return the report for people."""
        lines = [
            f"log {self.log}: {self.events} events in {self.campaigns} campaigns",
            f"chains verified: {self.chains} streams",
            f"verdicts recomputed: {self.verdicts}",
            f"crowns recomputed: {self.crowns}",
            f"commitments to revealed secrets checked: {self.commitments}",
            f"hidden cases regenerated: {self.cases}",
            "budget invariant checked at every sequence",
        ]
        if self.sound:
            return [*lines, "everything agrees with its evidence"]
        found = [f"  sequence {item.sequence}, event {item.event_id[:12]}: {item.what}" for item in self.disagreements]
        return [*lines, f"{len(found)} disagreements:", *found]


@dataclass
class CampaignAudit:
    """Audits one campaign while its events are applied in order."""

    campaign: str
    policies: Mapping[str, Policy]
    report: AuditReport
    fold: CampaignFold = field(init=False)
    streams: dict[str, list[Event]] = field(default_factory=dict)
    confirmations: dict[str, ConfirmationMeasured] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fold = CampaignFold(self.campaign)
        self.report.campaigns += 1

    def apply(self, record: Placed) -> None:
        """Take the next event of the campaign and check what it claims against what came before it."""
        event = record.event
        candidate = getattr(event, "candidate", None)
        if event.declaration.stream == "candidate" and candidate is not None:
            self.streams.setdefault(str(candidate), []).append(event)
        match event:
            case VerdictReached():
                self._verdict(record, event)
            case ConfirmationMeasured():
                self.confirmations[event.event_id] = event
            case ChampionCrowned():
                self._crown(record, event)
            case CasesRevealed():
                self._reveal(record, event)
            case _:
                pass
        before = len(self.fold.budget.violations)
        self.fold.apply(record.sequence, event)
        for violation in self.fold.budget.violations[before:]:
            self._disagree(
                record,
                f"{violation.dimension}: {violation.committed:g} settled or reserved of {violation.limit:g}",
            )

    def _verdict(self, record: Placed, event: VerdictReached) -> None:
        self.report.verdicts += 1
        policy = self.policies.get(event.policy_digest)
        if policy is None:
            self._disagree(record, f"judged under policy {event.policy_digest[:12]}, which was never adopted")
            return
        cited = set(event.evidence)
        evidence = [item for item in self.streams[event.candidate] if item.event_id in cited]
        try:
            body = recompute(evidence, policy)
        except EvidenceError as error:
            self._disagree(record, str(error))
            return
        if difference := verdict_difference(event, body):
            self._disagree(record, difference)
        effective = self.fold.candidates.get(event.candidate)
        if effective is not None and effective.verdict_under(event.policy_digest) is not None:
            self._disagree(record, "a second verdict under the same policy while the first is effective")

    def _crown(self, record: Placed, event: ChampionCrowned) -> None:
        self.report.crowns += 1
        measured = self.confirmations.get(event.confirmation)
        request = self.fold.confirmations.get(measured.confirmation) if measured else None
        if measured is None or request is None:
            self._disagree(record, "crowned on a confirmation that is not on the log before it")
            return
        policy = self.policies.get(self.fold.policy_digest)
        if policy is None:
            self._disagree(record, "crowned under a policy that was never adopted")
            return
        outcome = confirm(measured, request.request.level, policy)
        if not outcome.holds:
            self._disagree(record, f"crowned, but its confirmation does not hold: {outcome.detail}")
        if event.opponent != self.fold.champion:
            self._disagree(record, "crowned against an opponent that did not reign")

    def _reveal(self, record: Placed, event: CasesRevealed) -> None:
        committed = self.fold.cases
        if committed is None:
            self._disagree(record, "secrets revealed that nobody had committed to")
            return
        salt = bytes.fromhex(committed.salt)
        for secret, commitment in (
            (event.search_secret, committed.search_commitment),
            (event.confirmation_secret, committed.confirmation_commitment),
        ):
            self.report.commitments += 1
            if digest_framed([salt, bytes.fromhex(secret)]) != commitment:
                self._disagree(record, "a revealed secret is not the one that was committed to")

    def _disagree(self, record: Placed, what: str) -> None:
        self.report.disagreements.append(
            Disagreement(sequence=record.sequence, event_id=record.event.event_id, what=what)
        )


def verdict_difference(event: VerdictReached, body: VerdictBody | None) -> str:
    """Return how a recorded verdict differs from the recomputed one; empty if it does not.

    Decision and reason have to be equal, intervals to 1e-9.
    """
    if body is None:
        return f"says {event.decision}, but its evidence does not allow a verdict yet"
    if (event.decision, event.reason) != (body.decision, body.reason):
        return f"says {event.decision} ({event.reason}), the evidence says {body.decision} ({body.reason})"
    recorded = {(effect.workload, effect.opponent): effect.speedup for effect in event.effects}
    computed = {(effect.workload, effect.opponent): effect.speedup for effect in body.effects}
    if recorded.keys() != computed.keys():
        return "names other effects than the evidence gives"
    for key, interval in recorded.items():
        other = computed[key]
        for left, right in (
            (interval.estimate, other.estimate),
            (interval.low, other.low),
            (interval.high, other.high),
        ):
            if abs(left - right) > _INTERVAL_TOLERANCE:
                return f"the effect on {key[0]} against {key[1][:12]} is {left!r}, recomputed {right!r}"
    return ""


def cases_to_regenerate(
    audit: CampaignAudit, regenerate: Callable[[bytes, str, int], dict[str, str]], events: Iterable[Placed]
) -> None:
    """Compare the input digests of all recorded hidden cases with regenerated ones, once the secrets are revealed.

    Args:
        audit: the audit of the campaign, all events applied.
        regenerate: from (secret, candidate, round) to the input digest of each case id.
        events: the campaign's events.
    """
    revealed = audit.fold.revealed
    if revealed is None:
        return
    for record in events:
        event = record.event
        if event.kind == "CorrectnessMeasured":
            secret, case_round = revealed.search_secret, event.case_round
        elif event.kind == "ConfirmationMeasured":
            request = audit.fold.confirmations.get(event.confirmation)
            secret, case_round = revealed.confirmation_secret, request.request.case_round if request else 0
        else:
            continue
        expected = regenerate(bytes.fromhex(secret), event.candidate, case_round)
        for case in event.cases:
            audit.report.cases += 1
            if expected.get(case.case) != case.input_digest:
                audit.report.disagreements.append(
                    Disagreement(
                        sequence=record.sequence,
                        event_id=event.event_id,
                        what=f"case {case.case} was not made from the committed secret",
                    )
                )
