"""Subscribers of the agent-runner: a planned task becomes a claim, proposals, and an end."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta

import numpy as np
import structlog

from kernelmill.bus import ABSENT, Bus, ConflictError, Delivery, RetryLaterError, StreamAddress, registered_files
from kernelmill.events import (
    CandidateProposed,
    DuplicateSubmitted,
    NodeJoined,
    SourceFile,
    Spending,
    TaskClaimed,
    TaskEvent,
    TaskFailed,
    TaskFinished,
    TaskPlanned,
)
from kernelmill.folds import CampaignFold, CampaignViews, TaskState
from kernelmill.identity import command_id
from kernelmill.problems import ProblemShelf
from kernelmill_agent_runner.domain.agent import Agent, Brief, Known, Proposal

_LEASE_SECONDS = 120.0
_FAILED_REASONS = frozenset({"incorrect", "misbehaved", "compile-failed", "compile-timed-out", "screened-out"})

_logger = structlog.get_logger(__name__)


class Runner:
    """Runs tasks of one agent kind."""

    def __init__(self, bus: Bus, agent: Agent, instance: str) -> None:
        self._bus = bus
        self._agent = agent
        self._instance = instance
        self._views = CampaignViews(lambda campaign, after: bus.log.read_campaign(campaign, after=after))
        self._shelf = ProblemShelf(lambda digest: registered_files(bus.log, bus.blobs, digest))
        self._nodes: dict[str, NodeJoined] = {}

    async def run(self, delivery: Delivery) -> None:
        """TaskPlanned: claim the task, propose, finish. Delivered again, it goes on where the log says it stopped."""
        plan = delivery.event
        if not isinstance(plan, TaskPlanned):
            return
        fold = await self._views.look(plan.campaign)
        task = fold.tasks.get(plan.task)
        if task is None:
            raise RetryLaterError(0.2, "the task is not on the campaign's stream as far as this reader sees")
        if task.terminal:
            return
        if not await self._claim(plan):
            return
        if fold.status in {"closing", "closed"}:
            await self._finish(plan, (), 0)
            return
        try:
            brief = await self._brief(plan, fold)
            proposals = await asyncio.to_thread(lambda: list(self._agent.propose(brief, _generator(plan, fold))))
        except (ValueError, KeyError, IndexError, ArithmeticError) as error:
            _logger.exception("the agent failed")
            await self._fail(plan, f"{type(error).__name__}: {error}")
            return
        submitted, duplicates = list(_already(task, fold)), 0
        for proposal in proposals:
            if len(submitted) >= plan.candidate_cap:
                break
            if await self._propose(plan, proposal, brief.problem.digest):
                submitted.append(proposal.candidate)
            else:
                duplicates += 1
                await self._append(
                    DuplicateSubmitted.model_validate(
                        _address(plan, f"DuplicateSubmitted-{proposal.candidate}")
                        | {"candidate": proposal.candidate, "attempt": 1}
                    )
                )
        await self._finish(plan, tuple(dict.fromkeys(submitted)), duplicates)

    async def _claim(self, plan: TaskPlanned) -> bool:
        """Claim the task; False when it has ended already."""
        address = StreamAddress(plan.target, plan.campaign, "task", plan.task)
        records = await self._bus.log.read_stream(address)
        claims = [record.event for record in records if isinstance(record.event, TaskClaimed)]
        now = datetime.now(UTC)
        if any(isinstance(record.event, TaskFinished | TaskFailed) for record in records):
            return False
        if claims and claims[-1].holder != self._instance and claims[-1].lease_until > now:
            raise RetryLaterError(5.0, f"{claims[-1].holder} holds the task until {claims[-1].lease_until:%H:%M:%S}")
        claimed = TaskClaimed.model_validate(
            _address(plan, f"TaskClaimed-{len(claims) + 1}")
            | {
                "holder": self._instance,
                "attempt": len(claims) + 1,
                "lease_until": now + timedelta(seconds=_LEASE_SECONDS),
            }
        )
        try:
            await self._bus.log.append(claimed, expected=records[-1].sequence if records else 0)
        except ConflictError as error:
            raise RetryLaterError(0.2, str(error)) from error
        return True

    async def _brief(self, plan: TaskPlanned, fold: CampaignFold) -> Brief:
        objective = fold.objective
        if objective is None:
            raise RetryLaterError(0.2, "the campaign has not been opened as far as this reader sees")
        node = await self._node(plan.target, fold)
        known = {candidate: _known(fold, candidate) for candidate in fold.candidates}
        parents = tuple(known[parent] for parent in plan.parents if parent in known)
        return Brief(
            problem=await self._shelf.get(objective.problem_digest),
            target=plan.target,
            direction=plan.direction,
            parents=parents,
            known=tuple(known.values()),
            taken=frozenset(known),
            advice=plan.advice,
            techniques=frozenset(objective.constraints.techniques),
            banned=frozenset(fold.banned),
            native=tuple(node.capabilities.get("native-flags", "").split()),
            compilers=tuple(node.capabilities.get("compilers", "gcc").replace(",", " ").split()),
            cap=plan.candidate_cap,
        )

    async def _node(self, target: str, fold: CampaignFold) -> NodeJoined:
        name = fold.node or ""
        if name not in self._nodes:
            for record in await self._bus.log.read_stream(StreamAddress(target, ABSENT, "node", name)):
                if isinstance(record.event, NodeJoined):
                    self._nodes[name] = record.event
        if name not in self._nodes:
            raise RetryLaterError(0.5, f"node {name} has not joined as far as this reader sees")
        return self._nodes[name]

    async def _propose(self, plan: TaskPlanned, proposal: Proposal, problem_digest: str) -> bool:
        """Put a proposal on the log; False when its content is taken already by another task."""
        files = [
            SourceFile(path=path, blob=await self._bus.blobs.put(data, "source"))
            for path, data in sorted(proposal.files.items())
        ]
        event = CandidateProposed(
            event_id=command_id(plan.event_id, "CandidateProposed", proposal.candidate),
            recorded_at=datetime.now(UTC),
            target=plan.target,
            campaign=plan.campaign,
            candidate=proposal.candidate,
            task=plan.task,
            attempt=1,
            parents=proposal.parents,
            problem_digest=problem_digest,
            files=tuple(files),
            entry=proposal.entry,
            build=proposal.build,
            configuration=proposal.configuration,
            origin=proposal.origin,
            hypothesis=proposal.hypothesis,
            prediction=proposal.prediction,
            techniques=proposal.techniques,
            author=f"{self._agent.name}/{getattr(self._agent, 'version', '')}",
        )
        try:
            await self._bus.log.append(event, expected=0)
        except ConflictError:
            return False
        return True

    async def _finish(self, plan: TaskPlanned, submitted: tuple[str, ...], duplicates: int) -> None:
        await self._append(
            TaskFinished.model_validate(
                _address(plan, "TaskFinished")
                | {"attempt": 1, "submitted": submitted, "duplicates": duplicates, "spent": Spending()}
            )
        )

    async def _fail(self, plan: TaskPlanned, detail: str) -> None:
        await self._append(
            TaskFailed.model_validate(
                _address(plan, "TaskFailed")
                | {"attempt": 1, "fault": "agent", "detail": detail[:2000], "spent": Spending()}
            )
        )

    async def _append(self, event: TaskEvent) -> None:
        await self._bus.log.append(event, expected=None)


def _address(plan: TaskPlanned, kind: str) -> dict[str, object]:
    return {
        "event_id": command_id(plan.event_id, kind),
        "recorded_at": datetime.now(UTC),
        "target": plan.target,
        "campaign": plan.campaign,
        "task": plan.task,
    }


def _generator(plan: TaskPlanned, fold: CampaignFold) -> np.random.Generator:
    """Return the task's chance: it follows from the campaign's seed and the task's slot."""
    seed = fold.objective.seed if fold.objective else 0
    digest = hashlib.sha256(f"{seed}/{plan.slot}/{plan.task}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))


def _already(task: TaskState, fold: CampaignFold) -> list[str]:
    """Return candidates that an earlier delivery of this task proposed."""
    return [candidate for candidate in task.candidates if candidate in fold.candidates]


def _known(fold: CampaignFold, candidate: str) -> Known:
    state = fold.candidates[candidate]
    verdict = fold.effective(candidate)
    return Known(
        candidate=candidate,
        genome=state.proposed.configuration if state.proposed else {},
        estimate=fold.verdicts.estimates.get(candidate),
        failed=verdict is not None and verdict.reason in _FAILED_REASONS,
    )
