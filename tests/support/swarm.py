"""A simulated swarm on a log in memory: workers do their part, vanish, or answer twice, as chance decides."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from kernelmill.bus import ConflictError, Recorded, StreamAddress
from kernelmill.bus.memory import MemoryLog
from kernelmill.events import (
    BaselineTuned,
    CasesCommitted,
    CasesRevealed,
    ConfirmationMeasured,
    EventBase,
    Fingerprint,
    NodeJoined,
    PolicyAdopted,
    ProblemValidated,
    TaskClaimed,
    TaskFinished,
    VerdictReached,
    baseline_key,
    policy_digest,
)
from kernelmill.evidence import recompute
from kernelmill.folds import CampaignFold, WorldFold, fold_candidate
from kernelmill_planner.domain import Situation, decide
from support.events import (
    FINGERPRINT,
    POLICY,
    PROBLEM,
    QUIET,
    SANDBOXING,
    START,
    candidate_id,
    case,
    checked,
    compiled,
    measured,
    opened,
    proposed,
    row,
    screened,
)


@dataclass
class Swarm:
    """Everything around one campaign. `step` lets somebody do one thing."""

    seed: int
    log: MemoryLog = field(default_factory=MemoryLog)
    now: datetime = START
    vanish: float = 0.1
    """Chance that a worker never answers a piece of work."""
    objective: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - a test that can be repeated
        self.lost: set[str] = set()
        self.made = 0

    async def begin(self) -> None:
        """Put what a campaign needs onto the log."""
        identity = {"recorded_at": self.now}
        await self.log.append(
            PolicyAdopted.model_validate(
                identity
                | {
                    "event_id": "policy",
                    "policy_digest": policy_digest(POLICY),
                    "body": POLICY,
                    "adopted_by": "t",
                    "because": "t",
                }
            ),
            expected=0,
        )
        await self.log.append(opened(**self.objective), expected=0)
        await self.log.append(
            ProblemValidated.model_validate(
                identity | {"event_id": "valid", "problem_digest": PROBLEM, "failed": {}, "passed": {}}
            ),
            expected=0,
        )
        node = identity | {"target": "cpu", "node": "n-cpu"}
        await self.log.append(
            NodeJoined.model_validate(
                node
                | {
                    "event_id": "joined",
                    "fingerprint": Fingerprint(digest=FINGERPRINT, facts={}),
                    "capabilities": {},
                    "sandboxing": SANDBOXING,
                }
            ),
            expected=0,
        )
        for workload in ("small", "large"):
            for name in ("numpy", "c"):
                key = baseline_key(PROBLEM, workload, name, FINGERPRINT)
                tuned = node | {
                    "event_id": f"tuned-{workload}-{name}",
                    "baseline_key": key,
                    "problem_digest": PROBLEM,
                    "workload": workload,
                    "baseline": name,
                    "fingerprint": FINGERPRINT,
                    "metric": "warm-throughput",
                    "threads": 1,
                    "outcome": "tuned",
                    "build": None,
                    "nanoseconds": 1000.0,
                    "tried": (),
                }
                await self.log.append(BaselineTuned.model_validate(tuned), expected=0)
        committed = identity | {
            "event_id": "committed",
            "target": "cpu",
            "campaign": "c1",
            "salt": "0" * 32,
            "search_commitment": PROBLEM,
            "confirmation_commitment": PROBLEM,
        }
        await self.log.append(CasesCommitted.model_validate(committed), expected=None)

    async def fold(self) -> CampaignFold:
        fold = CampaignFold("c1")
        for record in await self.log.read_campaign("c1"):
            fold.apply(record.sequence, record.event)
        return fold

    async def situation(self) -> Situation:
        """Return what a planner that has just been started sees."""
        world = WorldFold()
        situation = Situation(CampaignFold("c1"), world)
        async for record in self.log.replay():
            world.apply(record.sequence, record.event)
            if situation.fold.apply(record.sequence, record.event):
                situation.archive.apply(record.event, situation.fold)
        return situation

    async def plan(self) -> bool:
        """Let a planner decide once; a second planner with the same view must change nothing."""
        situation = await self.situation()
        event = decide(situation, self.now)
        if event is None:
            return False
        expected = situation.fold.stream_sequence
        if event.declaration.stream == "candidate":
            expected = situation.fold.candidates[event.stream_id()].last_sequence
        first = await self.log.append(event, expected=expected)
        again = decide(situation, self.now)
        assert again is not None
        assert await self.log.append(again, expected=expected) == first
        return True

    async def step(self) -> None:
        """Somebody does something, or time passes."""
        self.now += timedelta(seconds=self.chance.choice([0.5, 2.0, 10.0]))
        if self.chance.random() < 0.5 and await self.plan():
            return
        records = await self.log.read_campaign("c1")
        work = [record for record in records if record.event.event_id not in self.lost]
        self.chance.shuffle(work)
        for record in work:
            if await self.answer(record):
                return

    async def answer(self, record: Recorded) -> bool:
        """Do the work that an event asks for, unless it is done or the worker vanishes."""
        event = record.event
        handler = {
            "TaskPlanned": self._run_task,
            "CandidateProposed": self._check,
            "CorrectnessMeasured": self._measure,
            "BenchmarkMeasured": self._judge,
            "CandidateScreened": self._judge,
            "ConfirmationRequested": self._confirm,
            "CampaignClosing": self._reveal,
        }.get(event.kind)
        if handler is None:
            return False
        if self.chance.random() < self.vanish and event.kind != "CampaignClosing":
            self.lost.add(event.event_id)
            return False
        return await handler(event)

    async def _append(self, event: EventBase) -> bool:
        before = await self.log.last_sequence()
        try:
            await self.log.append(event, expected=None)
        except ConflictError:
            return False
        return await self.log.last_sequence() > before

    async def _run_task(self, plan: Any) -> bool:
        fold = await self.fold()
        task = fold.tasks[plan.task]
        if task.terminal or plan.deadline <= self.now:
            return False
        identity = {"recorded_at": self.now, "target": "cpu", "campaign": "c1", "task": plan.task}
        claimed = identity | {
            "event_id": f"claimed-{plan.task}",
            "holder": "r1",
            "attempt": 1,
            "lease_until": self.now + timedelta(seconds=60),
        }
        await self._append(TaskClaimed.model_validate(claimed))
        names = [f"{plan.task}-{number}" for number in range(plan.candidate_cap)]
        for name in names:
            event = proposed(name, task=plan.task).model_copy(update={"recorded_at": self.now})
            await self._append(event)
        finished = identity | {
            "event_id": f"finished-{plan.task}",
            "attempt": 1,
            "submitted": tuple(candidate_id(name) for name in names),
            "spent": {},
        }
        await self._append(TaskFinished.model_validate(finished))
        self.made += len(names)
        return True

    def _of(self, event: Any, other: Any) -> Any:
        """Return `other` moved to the candidate of `event`."""
        return other.model_copy(
            update={
                "candidate": event.candidate,
                "event_id": f"{other.kind}-{event.candidate[:24]}",
                "recorded_at": self.now,
            }
        )

    async def _state(self, event: Any) -> Any:
        return fold_candidate(await self.log.read_stream(StreamAddress("cpu", "c1", "candidate", event.candidate)))

    async def _check(self, event: Any) -> bool:
        state = await self._state(event)
        if state.terminal or state.screened is not None:
            return False
        kind = int(event.candidate[:2], 16) % 8
        await self._append(self._of(event, screened("x", "refused" if kind == 0 else "passed")))
        if kind == 0:
            return True
        await self._append(self._of(event, compiled("x")))
        await self._append(self._of(event, checked("x", passed=kind != 1)))
        return True

    async def _measure(self, event: Any) -> bool:
        state = await self._state(event)
        if state.terminal or state.benchmarks or event.outcome != "device-passed":
            return False
        ratio = (int(event.candidate[2:4], 16) - 150) / 400.0
        return await self._append(self._of(event, measured("x", ratio)))

    async def _judge(self, event: Any) -> bool:
        state = await self._state(event)
        if state.verdicts or state.abandoned is not None:
            return False
        records = await self.log.read_stream(StreamAddress("cpu", "c1", "candidate", event.candidate))
        body = recompute([record.event for record in records], POLICY)
        if body is None:
            return False
        verdict = {
            "event_id": f"verdict-{event.candidate[:24]}",
            "recorded_at": self.now,
            "target": "cpu",
            "campaign": "c1",
            "candidate": event.candidate,
            "decision": body.decision,
            "reason": body.reason,
            "detail": body.detail,
            "effects": body.effects,
            "policy_digest": policy_digest(POLICY),
            "judge": POLICY.judge,
            "evidence": body.evidence,
        }
        return await self._append(VerdictReached.model_validate(verdict))

    async def _confirm(self, event: Any) -> bool:
        fold = await self.fold()
        if fold.confirmations[event.confirmation].status != "requested":
            return False
        ratio = (int(event.candidate[2:4], 16) - 150) / 400.0
        ratios = tuple(ratio + 0.001 * (number % 5 - 2) for number in range(event.pairs))
        opponent = int(event.opponent[2:4], 16) / 400.0 - 150 / 400.0 if event.opponent else 0.0
        versus = tuple(value - opponent for value in ratios)
        measured_event = {
            "event_id": f"confirmed-{event.confirmation}",
            "recorded_at": self.now,
            "target": "cpu",
            "campaign": "c1",
            "candidate": event.candidate,
            "confirmation": event.confirmation,
            "opponent": event.opponent,
            "node": "n-cpu",
            "fingerprint": FINGERPRINT,
            "cases": (case(),),
            "head_to_head": (
                tuple(row(name, versus, event.opponent) for name in ("small", "large")) if event.opponent else ()
            ),
            "rows": tuple(row(name, ratios) for name in ("small", "large")),
            "telemetry": QUIET,
            "sandboxing": SANDBOXING,
            "device_seconds": 5.0,
        }
        return await self._append(ConfirmationMeasured.model_validate(measured_event))

    async def _reveal(self, event: Any) -> bool:
        fold = await self.fold()
        if fold.revealed is not None or not fold.settled:
            return False
        revealed = {
            "event_id": "revealed",
            "recorded_at": self.now,
            "target": "cpu",
            "campaign": "c1",
            "search_secret": "0" * 64,
            "confirmation_secret": "0" * 64,
        }
        return await self._append(CasesRevealed.model_validate(revealed))
