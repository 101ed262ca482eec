"""What all work of the bench shares: the device, the node, and what it looks up on the log."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from kernelmill.bus import (
    Bus,
    CandidateWork,
    RetryLaterError,
    StreamAddress,
    adopted_policy,
    proposed_candidate,
    read_sources,
    registered_files,
    tuned_baseline,
)
from kernelmill.events import BaselineTuned, CandidateEvent, Objective, Policy, baseline_key
from kernelmill.folds import CampaignFold, CampaignViews, CandidateState, fold_candidate
from kernelmill.identity import command_id
from kernelmill.problems import Problem, ProblemShelf
from kernelmill.targets.port import Limits, Program, program_of
from kernelmill_gpu_bench.device import Device
from kernelmill_gpu_bench.domain.plan import Duelists
from kernelmill_gpu_bench.handlers.turns import DeviceTurns
from kernelmill_gpu_bench.measuring import Field
from kernelmill_gpu_bench.node import NodeLife
from kernelmill_gpu_bench.tuning import Tuner

_MEBIBYTE = 1 << 20
_QUARANTINE_SECONDS = 30.0


class Workshop:
    """Owns one device of one node."""

    def __init__(self, bus: Bus, device: Device, life: NodeLife) -> None:
        self.bus = bus
        self.device = device
        self.turns = DeviceTurns()
        self.work = CandidateWork(bus.log, life.node)
        self.life = life
        self._views = CampaignViews(lambda campaign, after: bus.log.read_campaign(campaign, after=after))
        self._shelf = ProblemShelf(lambda digest: registered_files(bus.log, bus.blobs, digest))
        self._policies: dict[str, Policy] = {}
        self._baselines: dict[str, BaselineTuned] = {}

    @property
    def node(self) -> str:
        """The node's id."""
        return self.life.node

    @property
    def fingerprint(self) -> str:
        """Digest of everything about this node that figures depend on."""
        return self.device.target.fingerprint().digest

    def refuse_if_quarantined(self) -> None:
        """Give the delivery back while the node is not trusted.

        Raises:
            RetryLaterError: it is not.
        """
        if self.life.quarantined:
            raise RetryLaterError(_QUARANTINE_SECONDS, f"the node is quarantined: {self.life.quarantined}")

    async def campaign(self, campaign: str) -> tuple[CampaignFold, Objective]:
        """Return a campaign as the log tells it now.

        Raises:
            RetryLaterError: its opening is not visible yet.
        """
        fold = await self._views.look(campaign)
        if fold.objective is None:
            raise RetryLaterError(0.5, f"campaign {campaign} has not been opened as far as this reader sees")
        return fold, fold.objective

    async def candidate(self, event: CandidateEvent) -> CandidateState:
        """Return a candidate as its stream tells it now."""
        return fold_candidate(await self.bus.log.read_stream(StreamAddress.of(event)))

    async def problem(self, objective: Objective) -> Problem:
        """Return the campaign's problem."""
        return await self._shelf.get(objective.problem_digest)

    async def policy(self, fold: CampaignFold) -> Policy:
        """Return the policy that judges the campaign now."""
        digest = fold.policy_digest
        if digest not in self._policies:
            self._policies[digest] = await adopted_policy(self.bus.log, digest)
        return self._policies[digest]

    async def program(self, target: str, campaign: str, candidate: str) -> Program:
        """Return a candidate's program."""
        proposed = await proposed_candidate(self.bus.log, target, campaign, candidate)
        return program_of(proposed, await read_sources(self.bus.blobs, proposed.files))

    async def tuned(self, target: str, objective: Objective) -> list[BaselineTuned]:
        """Return the baselines of the objective's rows under this node's fingerprint; tune those that never were.

        The caller holds the device. A node that joins a running campaign tunes here, on its first candidate.
        """
        problem = await self.problem(objective)
        fingerprint = self.fingerprint
        tuner: Tuner | None = None
        found = []
        for workload, name in _wanted(objective, problem):
            key = baseline_key(problem.digest, workload, name, fingerprint)
            known = self._baselines.get(key) or await tuned_baseline(self.bus.log, target, key)
            if known is None:
                if tuner is None:
                    arguments = (self.device, problem, limits_of(objective), objective.metric)
                    tuner = await asyncio.to_thread(Tuner, *arguments)
                known = await self._tune(tuner, target, objective, workload, name, key)
            self._baselines[key] = known
            found.append(known)
        return found

    async def _tune(  # noqa: PLR0913, PLR0917 - a tuning is made of all of these
        self, tuner: Tuner, target: str, objective: Objective, workload: str, name: str, key: str
    ) -> BaselineTuned:
        found = await asyncio.to_thread(tuner.tune, name, workload)
        tuned = BaselineTuned(
            event_id=command_id("BaselineTuned", key),
            recorded_at=datetime.now(UTC),
            target=target,
            baseline_key=key,
            problem_digest=objective.problem_digest,
            workload=workload,
            baseline=name,
            node=self.node,
            fingerprint=self.fingerprint,
            metric=objective.metric,
            threads=objective.constraints.threads,
            outcome="unsupported" if found.unsupported else "tuned",
            build=found.build,
            nanoseconds=found.nanoseconds,
            log_ratio=found.log_ratio,
            tried=found.tried,
            detail=found.unsupported[:2000],
        )
        await self.bus.log.append(tuned, expected=None)
        # Another bench of the same node may have been first: what is on the log counts.
        return await tuned_baseline(self.bus.log, target, key) or tuned

    async def field(
        self, objective: Objective, candidate: Program, programs: Mapping[Duelists, Program], policy: Policy
    ) -> Field:
        """Return who is measured against whom, with the floors of their rows."""
        problem = await self.problem(objective)
        constraints = objective.constraints
        workloads = {row.workload: problem.workload(row.workload).axes for row in programs}
        floors = await asyncio.to_thread(
            self.device.floors, problem, workloads, constraints.threads, policy.floor_factor
        )
        return Field(
            problem,
            candidate,
            programs,
            limits_of(objective),
            constraints.error_scale,
            objective.metric,
            floors,
        )


def limits_of(objective: Objective) -> Limits:
    """Return what a process of the campaign may use."""
    constraints = objective.constraints
    return Limits(memory_bytes=constraints.memory_mib * _MEBIBYTE, threads=constraints.threads)


def _wanted(objective: Objective, problem: Problem) -> list[tuple[str, str]]:
    """Return the pairs of row and baseline that the campaign rests on; C first, which is mostly the fastest."""
    workloads = objective.workloads or tuple(row.uuid for row in problem.timed_workloads)
    names = sorted(objective.baselines or problem.baselines, key=lambda name: problem.baselines[name].kind != "c")
    return [(workload, name) for name in names for workload in workloads]
