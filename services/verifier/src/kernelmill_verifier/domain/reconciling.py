"""Reconciling recorded verdicts with what the campaign's policy says about the evidence now."""

from dataclasses import dataclass
from typing import Literal

from kernelmill.evidence import VerdictBody
from kernelmill.folds import CandidateState, VerdictState


@dataclass(frozen=True)
class Step:
    """One event that is owed."""

    act: Literal["reach", "retract", "reinstate"]
    verdict: str = ""
    """Id of the verdict that is retracted or reinstated; empty for one that is reached."""
    because: str = ""


def next_step(state: CandidateState, policy_digest: str, body: VerdictBody | None) -> Step | None:
    """Return the next event that makes the candidate's verdicts agree with its evidence, None where they do.

    First there is to be exactly one effective verdict under the policy, and it says what the evidence says now. Then no
    other effective verdict, of an older policy, may say something else: champions and lessons that cite it follow.

    Args:
        state: the candidate, from its own stream.
        policy_digest: the policy that judges now.
        body: what it makes of the admissible evidence; None while that allows no verdict.
    """
    if body is None:
        return None
    under = [verdict for verdict in state.verdicts if verdict.event.policy_digest == policy_digest and not verdict.void]
    current = next((verdict for verdict in under if verdict.effective), None)
    if current is None:
        again = next((verdict for verdict in reversed(under) if _says(verdict, body) and _rests(verdict, body)), None)
        if again is None:
            return Step("reach")
        return Step("reinstate", again.event.event_id, f"policy {policy_digest[:12]} judges again")
    if not _says(current, body):
        return Step("retract", current.event.event_id, f"its evidence now says {body.decision} ({body.reason})")
    for other in state.verdicts:
        if other is not current and other.effective and not _says(other, body):
            because = f"policy {policy_digest[:12]} says {body.decision} ({body.reason})"
            return Step("retract", other.event.event_id, because)
    return None


def _says(verdict: VerdictState, body: VerdictBody) -> bool:
    return (verdict.event.decision, verdict.event.reason) == (body.decision, body.reason)


def _rests(verdict: VerdictState, body: VerdictBody) -> bool:
    return verdict.event.evidence == body.evidence
