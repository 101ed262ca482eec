"""Subscribers of the bench: tune baselines, measure candidates, confirm would-be champions."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

import structlog

from kernelmill.bus import (
    Bus,
    ConflictError,
    Delivery,
    RetryLaterError,
    StreamAddress,
    adopted_policy,
    proposed_candidate,
    read_sources,
    registered_files,
    tuned_baseline,
)
from kernelmill.events import (
    BaselineTuned,
    BenchmarkMeasured,
    CampaignOpened,
    CandidateAbandoned,
    CandidateEvent,
    ConfirmationMeasured,
    ConfirmationRequested,
    CorrectnessMeasured,
    MeasurementFailed,
    Objective,
    Policy,
    Stage,
    WorkStarted,
    baseline_key,
)
from kernelmill.folds import CampaignFold, CampaignViews, CandidateState, fold_candidate
from kernelmill.identity import command_id
from kernelmill.problems import Problem, ProblemShelf
from kernelmill.targets.port import CheckRules, Limits, Program, program_of
from kernelmill_gpu_bench.device import Device
from kernelmill_gpu_bench.domain.baselines import best_of_rows, unsupported_pairs
from kernelmill_gpu_bench.domain.machine import put_together
from kernelmill_gpu_bench.domain.plan import Duelists, MeasurementPlan, race_row
from kernelmill_gpu_bench.errors import DeviceFaultError
from kernelmill_gpu_bench.measuring import Field, Measured, confirm, measure
from kernelmill_gpu_bench.node import NodeLife
from kernelmill_gpu_bench.tuning import Tuner

_MEBIBYTE = 1 << 20
_logger = structlog.get_logger(__name__)


class Bench:
    """Owns one device. One piece of work at a time holds it; confirmations and tuning come before measurements."""

    def __init__(self, bus: Bus, device: Device, life: NodeLife) -> None:
        self._bus = bus
        self._device = device
        self._life = life
        self._views = CampaignViews(lambda campaign, after: bus.log.read_campaign(campaign, after=after))
        self._shelf = ProblemShelf(lambda digest: registered_files(bus.log, bus.blobs, digest))
        self._policies: dict[str, Policy] = {}
        self._baselines: dict[str, BaselineTuned] = {}
        self._device_free = asyncio.Lock()
        self._urgent = 0
        self._calm = asyncio.Event()
        self._calm.set()

    # --- tuning -----------------------------------------------------------------------------------------------------

    async def tune(self, delivery: Delivery) -> None:
        """CampaignOpened: tune every baseline of every row that this node has not tuned before."""
        event = delivery.event
        if not isinstance(event, CampaignOpened):
            return
        self._refuse_if_quarantined()
        objective = event.objective
        problem = await self._shelf.get(objective.problem_digest)
        fingerprint = (await asyncio.to_thread(self._device.target.fingerprint)).digest
        async with self._urgently():
            tuner: Tuner | None = None
            for workload, name in _wanted(objective, problem):
                key = baseline_key(problem.digest, workload, name, fingerprint)
                if await tuned_baseline(self._bus.log, event.target, key) is not None:
                    continue
                if tuner is None:
                    arguments = (self._device, problem, _limits(objective), objective.metric)
                    tuner = await asyncio.to_thread(Tuner, *arguments)
                found = await asyncio.to_thread(tuner.tune, name, workload)
                tuned = BaselineTuned(
                    event_id=command_id("BaselineTuned", key),
                    recorded_at=datetime.now(UTC),
                    target=event.target,
                    baseline_key=key,
                    problem_digest=problem.digest,
                    workload=workload,
                    baseline=name,
                    node=self._life.node,
                    fingerprint=fingerprint,
                    metric=objective.metric,
                    threads=objective.constraints.threads,
                    outcome="unsupported" if found.unsupported else "tuned",
                    build=found.build,
                    nanoseconds=found.nanoseconds,
                    tried=found.tried,
                    detail=found.unsupported[:2000],
                )
                await self._bus.log.append(tuned, expected=None)

    # --- measuring --------------------------------------------------------------------------------------------------

    async def measure(self, delivery: Delivery) -> None:
        """CorrectnessMeasured (passed): race and compare the candidate, unless that was done."""
        event = delivery.event
        if not isinstance(event, CorrectnessMeasured):
            return
        self._refuse_if_quarantined()
        await self._calm.wait()
        async with self._device_free:
            state = await self._state(event)
            if state.terminal or state.benchmarks or any(item.stage == "measure" for item in state.failures):
                return
            fold = await self._views.look(event.campaign)
            if fold.status in {"closing", "closed"} and not state.starts["measure", ""]:
                await self._abandon(event, state)
                return
            policy = await self._policy(fold)
            if not await self._start(event, state, "measure", "", policy):
                return
            state = await self._state(event)
            try:
                measured = await self._measure(event, fold, policy)
            except (DeviceFaultError, OSError) as error:
                await self._fail(event, state, "measure", "", "device", str(error))
                return
            await self._append(self._benchmark(event, measured, await self._tuned(fold)), state)

    async def _measure(self, event: CandidateEvent, fold: CampaignFold, policy: Policy) -> Measured:
        objective = _objective(fold)
        problem = await self._shelf.get(objective.problem_digest)
        best = best_of_rows(await self._tuned(fold))
        programs: dict[Duelists, Program] = {}
        rows = []
        for workload, tuned in best.items():
            duelists = Duelists(workload, tuned.baseline)
            programs[duelists] = self._device.tuned_program(problem, tuned)
            rows.append(duelists)
        candidate = await self._program(event.target, event.campaign, event.candidate)
        row = race_row(event.candidate, [(name, tuned.nanoseconds) for name, tuned in best.items()], _EMPTY_NS, policy)
        race = None
        if row is not None:
            rows.sort(key=lambda duelists: duelists.workload != row)
            champion = fold.champion
            if champion is not None and champion != event.candidate:
                race = Duelists(row, champion)
                programs[race] = await self._program(event.target, event.campaign, champion)
        field_ = await self._field(fold, problem, candidate, programs, policy)
        plan = MeasurementPlan(race, tuple(rows))
        return await asyncio.to_thread(measure, self._device, field_, plan, policy, lambda: True)

    def _benchmark(
        self, event: CorrectnessMeasured, measured: Measured, tuned: list[BaselineTuned]
    ) -> BenchmarkMeasured:
        session = measured.session
        return BenchmarkMeasured(
            event_id=command_id(event.event_id, "BenchmarkMeasured"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            node=self._life.node,
            fingerprint=self._device.target.fingerprint().digest,
            race=measured.race,
            rows=measured.rows,
            unsupported=unsupported_pairs(tuned),
            misbehaviour=measured.misbehaviour[:2000],
            calls_checked=session.calls_checked,
            worst_error=session.worst_error,
            dispatch_ns=session.dispatch_ns,
            telemetry=put_together(session.telemetry),
            sandboxing=self._device.target.sandboxing(),
            device_seconds=session.seconds,
        )

    # --- confirming -------------------------------------------------------------------------------------------------

    async def confirm(self, delivery: Delivery) -> None:
        """ConfirmationRequested: new cases and process pairs, head to head and against the best baselines."""
        event = delivery.event
        if not isinstance(event, ConfirmationRequested):
            return
        self._refuse_if_quarantined()
        async with self._urgently():
            fold = await self._views.look(event.campaign)
            request = fold.confirmations.get(event.confirmation)
            if request is None or request.status != "requested":
                return
            address = StreamAddress(event.target, event.campaign, "candidate", event.candidate)
            records = await self._bus.log.read_stream(address)
            state = fold_candidate(records)
            subject = records[-1].event
            if not isinstance(subject, CandidateEvent):
                return
            policy = await self._policy(fold)
            if not await self._start(subject, state, "confirm", event.confirmation, policy):
                return
            state = await self._state(subject)
            try:
                measured = await self._confirm(event, fold, policy)
            except (DeviceFaultError, OSError) as error:
                await self._fail(subject, state, "confirm", event.confirmation, "device", str(error))
                return
            await self._append(self._confirmation(event, measured), state)

    async def _confirm(self, event: ConfirmationRequested, fold: CampaignFold, policy: Policy) -> Measured:
        objective = _objective(fold)
        problem = await self._shelf.get(objective.problem_digest)
        secret = await self._bus.secrets.read(f"campaign-{event.campaign}-confirmation")
        cases = problem.cases(secret, event.candidate, event.case_round)
        candidate = await self._program(event.target, event.campaign, event.candidate)
        programs: dict[Duelists, Program] = {}
        for workload, tuned in best_of_rows(await self._tuned(fold)).items():
            programs[Duelists(workload, tuned.baseline)] = self._device.tuned_program(problem, tuned)
            if event.opponent is not None:
                opponent = await self._program(event.target, event.campaign, event.opponent)
                programs[Duelists(workload, event.opponent)] = opponent
        field_ = await self._field(fold, problem, candidate, programs, policy)
        constraints = objective.constraints
        rules = CheckRules(constraints.error_scale, constraints.bitwise_deterministic)
        plan = tuple(programs)
        return await asyncio.to_thread(confirm, self._device, field_, plan, event.pairs, cases, rules)

    def _confirmation(self, event: ConfirmationRequested, measured: Measured) -> ConfirmationMeasured:
        session = measured.session
        return ConfirmationMeasured(
            event_id=command_id(event.event_id, "ConfirmationMeasured"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            confirmation=event.confirmation,
            opponent=event.opponent,
            node=self._life.node,
            fingerprint=self._device.target.fingerprint().digest,
            cases=measured.cases,
            head_to_head=tuple(row for row in measured.rows if row.opponent == event.opponent),
            rows=tuple(row for row in measured.rows if row.opponent != event.opponent),
            misbehaviour=measured.misbehaviour[:2000],
            dispatch_ns=session.dispatch_ns,
            telemetry=put_together(session.telemetry),
            sandboxing=self._device.target.sandboxing(),
            device_seconds=session.seconds,
        )

    # --- what they share --------------------------------------------------------------------------------------------

    def _urgently(self) -> "_Urgent":
        return _Urgent(self)

    def _refuse_if_quarantined(self) -> None:
        if self._life.quarantined:
            raise RetryLaterError(30.0, f"the node is quarantined: {self._life.quarantined}")

    async def _state(self, event: CandidateEvent) -> CandidateState:
        return fold_candidate(await self._bus.log.read_stream(StreamAddress.of(event)))

    async def _policy(self, fold: CampaignFold) -> Policy:
        digest = fold.policy_digest
        if digest not in self._policies:
            self._policies[digest] = await adopted_policy(self._bus.log, digest)
        return self._policies[digest]

    async def _program(self, target: str, campaign: str, candidate: str) -> Program:
        proposed = await proposed_candidate(self._bus.log, target, campaign, candidate)
        return program_of(proposed, await read_sources(self._bus.blobs, proposed.files))

    async def _tuned(self, fold: CampaignFold) -> list[BaselineTuned]:
        """Return the tuned baselines of the campaign's rows under this node's fingerprint."""
        objective = _objective(fold)
        problem = await self._shelf.get(objective.problem_digest)
        fingerprint = self._device.target.fingerprint().digest
        found = []
        for workload, name in _wanted(objective, problem):
            key = baseline_key(problem.digest, workload, name, fingerprint)
            if key not in self._baselines:
                tuned = await tuned_baseline(self._bus.log, fold.target, key)
                if tuned is None:
                    raise RetryLaterError(1.0, f"baseline {name} is not tuned on row {workload} yet")
                self._baselines[key] = tuned
            found.append(self._baselines[key])
        return found

    async def _field(
        self,
        fold: CampaignFold,
        problem: Problem,
        candidate: Program,
        programs: Mapping[Duelists, Program],
        policy: Policy,
    ) -> Field:
        objective = _objective(fold)
        workloads = {row.workload: problem.workload(row.workload).axes for row in programs}
        threads = objective.constraints.threads
        floors = await asyncio.to_thread(self._device.floors, problem, workloads, threads, policy.floor_factor)
        return Field(
            problem,
            candidate,
            programs,
            _limits(objective),
            objective.constraints.error_scale,
            objective.metric,
            floors,
        )

    async def _start(
        self, event: CandidateEvent, state: CandidateState, stage: Stage, work: str, policy: Policy
    ) -> bool:
        """Announce the work; False when it was started too often without a result, which is then said."""
        attempts = state.starts[stage, work]
        if attempts >= policy.attempts:
            detail = f"{stage} was started {attempts} times and never gave a result"
            await self._fail(event, state, stage, work, "lost-worker", detail)
            return False
        started = WorkStarted(
            event_id=command_id(event.candidate, event.campaign, "WorkStarted", stage, work, str(attempts + 1)),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            stage=stage,
            node=self._life.node,
            attempt=attempts + 1,
            work=work,
        )
        await self._append(started, state)
        return True

    async def _fail(  # noqa: PLR0913, PLR0917 - a failure says all of this
        self, event: CandidateEvent, state: CandidateState, stage: Stage, work: str, fault: str, detail: str
    ) -> None:
        failed = MeasurementFailed.model_validate(
            {
                "event_id": command_id(event.candidate, event.campaign, "MeasurementFailed", stage, work),
                "recorded_at": datetime.now(UTC),
                "target": event.target,
                "campaign": event.campaign,
                "candidate": event.candidate,
                "stage": stage,
                "fault": fault,
                "detail": detail[:2000],
                "node": self._life.node,
                "work": work,
            }
        )
        await self._append(failed, state)

    async def _abandon(self, event: CandidateEvent, state: CandidateState) -> None:
        abandoned = CandidateAbandoned(
            event_id=command_id(event.candidate, event.campaign, "CandidateAbandoned"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            because="the campaign is closing and nothing was spent on timing it",
        )
        await self._append(abandoned, state)

    async def _append(self, event: CandidateEvent, state: CandidateState) -> None:
        try:
            await self._bus.log.append(event, expected=state.last_sequence)
        except ConflictError as error:
            raise RetryLaterError(0.1, str(error)) from error


class _Urgent:
    """Holds the device for tuning or confirming; measurements wait until nobody urgent waits any more."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    async def __aenter__(self) -> None:
        bench = self._bench
        bench._urgent += 1  # noqa: SLF001 - this is a part of the bench
        bench._calm.clear()  # noqa: SLF001
        await bench._device_free.acquire()  # noqa: SLF001

    async def __aexit__(self, *_: object) -> None:
        bench = self._bench
        bench._device_free.release()  # noqa: SLF001
        bench._urgent -= 1  # noqa: SLF001
        if bench._urgent == 0:  # noqa: SLF001
            bench._calm.set()  # noqa: SLF001


_EMPTY_NS = 10.0
"""About what a call of an empty kernel costs; only for choosing a telling row."""


def _objective(fold: CampaignFold) -> Objective:
    if fold.objective is None:
        raise RetryLaterError(0.5, f"campaign {fold.campaign} has not been opened as far as this reader sees")
    return fold.objective


def _wanted(objective: Objective, problem: Problem) -> list[tuple[str, str]]:
    """Return the pairs of row and baseline that the campaign rests on."""
    workloads = objective.workloads or tuple(row.uuid for row in problem.timed_workloads)
    names = objective.baselines or tuple(problem.baselines)
    return [(workload, name) for name in names for workload in workloads]


def _limits(objective: Objective) -> Limits:
    constraints = objective.constraints
    return Limits(memory_bytes=constraints.memory_mib * _MEBIBYTE, threads=constraints.threads)
