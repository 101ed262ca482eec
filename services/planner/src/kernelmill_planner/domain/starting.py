"""From opened to started: the problem is valid, the cases are committed, a node has tuned every baseline."""

from datetime import datetime, timedelta

from kernelmill.events import BaselineTuned, CampaignClosing, CampaignStarted, baseline_key
from kernelmill.folds import NodeState
from kernelmill_planner.domain.situation import Situation

PATIENCE = timedelta(minutes=15)
"""How long a campaign may wait for a verifier and a node before it is closed as void."""


def start(situation: Situation, now: datetime) -> CampaignStarted | CampaignClosing | None:
    """Return the start of a pending campaign, its end where it cannot start, or None while it waits."""
    fold, objective = situation.fold, situation.objective
    problem = situation.world.problems.get(objective.problem_digest)
    if problem is not None and problem.refuted is not None:
        return _close(situation, now, "refuted", problem.refuted.detail)
    if (
        problem is not None
        and problem.validated is not None
        and fold.cases is not None
        and situation.policy is not None
    ):
        for node in situation.world.live_nodes(objective.target):
            tuned = _all_tuned(situation, node)
            if tuned is not None:
                return CampaignStarted(
                    event_id=situation.identity("CampaignStarted"),
                    recorded_at=now,
                    target=fold.target,
                    campaign=fold.campaign,
                    node=node.joined.node,
                    fingerprint=node.fingerprint,
                    baselines=tuple(item.event_id for item in tuned),
                )
    if fold.opened is not None and now - fold.opened.recorded_at > PATIENCE:
        return _close(situation, now, "void", "no verifier and node have got it ready in time")
    return None


def _all_tuned(situation: Situation, node: NodeState) -> list[BaselineTuned] | None:
    """Return the baselines of every row on a node, None while one is missing."""
    objective = situation.objective
    found = []
    for workload in objective.workloads:
        for name in objective.baselines:
            key = baseline_key(objective.problem_digest, workload, name, node.fingerprint)
            tuned = situation.world.baselines.get(key)
            if tuned is None:
                return None
            found.append(tuned)
    return found


def _close(situation: Situation, now: datetime, reason: str, detail: str) -> CampaignClosing:
    return CampaignClosing.model_validate(
        {
            "event_id": situation.identity("CampaignClosing"),
            "recorded_at": now,
            "target": situation.fold.target,
            "campaign": situation.fold.campaign,
            "reason": reason,
            "detail": detail[:2000],
        }
    )
