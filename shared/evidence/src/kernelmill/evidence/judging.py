"""Judging under a policy: the policy names the judge, and recomputing a verdict is judging again."""

from collections.abc import Collection, Iterable

from kernelmill.events import EventBase, Policy
from kernelmill.evidence.errors import UnknownJudgeError
from kernelmill.evidence.gathered import CandidateEvidence
from kernelmill.evidence.judges import JUDGES
from kernelmill.evidence.verdict import VerdictBody
from kernelmill.identity import EventId


def judge(evidence: CandidateEvidence, policy: Policy) -> VerdictBody | None:
    """Return the verdict that the evidence allows under the policy, None while more evidence has to come.

    Raises:
        UnknownJudgeError: the policy names a judge that this version does not have.
    """
    try:
        judging = JUDGES[policy.judge]
    except KeyError:
        known = ", ".join(sorted(JUDGES))
        raise UnknownJudgeError(
            f"the policy asks for '{policy.judge}', this version has {known}; install a version that has it"
        ) from None
    return judging(evidence, policy)


def recompute(
    events: Iterable[EventBase], policy: Policy, *, inadmissible: Collection[EventId] = ()
) -> VerdictBody | None:
    """Return the verdict on one candidate from its stream: what the verifier records and an audit compares.

    Args:
        events: the candidate's stream in order.
        policy: the policy to judge under.
        inadmissible: ids of events that do not count, as for `CandidateEvidence.of`.

    Raises:
        UnknownJudgeError: the policy names a judge that this version does not have.
    """
    return judge(CandidateEvidence.of(events, inadmissible=inadmissible), policy)
