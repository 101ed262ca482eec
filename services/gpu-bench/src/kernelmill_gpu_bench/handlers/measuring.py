"""CorrectnessMeasured: a candidate that computes the right thing is raced and compared with the baselines."""

import asyncio
from datetime import UTC, datetime

from kernelmill.bus import Delivery
from kernelmill.events import BaselineTuned, BenchmarkMeasured, CorrectnessMeasured, Objective, Policy
from kernelmill.folds import CampaignFold
from kernelmill.identity import command_id
from kernelmill.targets.port import Program
from kernelmill_gpu_bench.domain.baselines import best_of_rows, unsupported_pairs
from kernelmill_gpu_bench.domain.machine import put_together
from kernelmill_gpu_bench.domain.plan import Duelists, MeasurementPlan, race_row
from kernelmill_gpu_bench.errors import DeviceFaultError
from kernelmill_gpu_bench.handlers.workshop import Workshop
from kernelmill_gpu_bench.measuring import Measured, measure

_EMPTY_NS = 10.0
"""About what a call of an empty kernel costs; only for choosing a telling row."""


class Measuring:
    """Times candidates."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def measure(self, delivery: Delivery) -> None:
        """Race and compare the candidate, unless that was done."""
        event = delivery.event
        if not isinstance(event, CorrectnessMeasured):
            return
        shop = self._workshop
        shop.refuse_if_quarantined()
        async with shop.turns.ordinary():
            state = await shop.candidate(event)
            if state.terminal or state.benchmarks or any(item.stage == "measure" for item in state.failures):
                return
            fold, objective = await shop.campaign(event.campaign)
            attempts = state.starts["measure", ""]
            if fold.status in {"closing", "closed"} and not attempts:
                because = "the campaign is closing and nothing was spent on timing it"
                await shop.work.abandon(event, because, state.last_sequence)
                return
            policy = await shop.policy(fold)
            if attempts >= policy.attempts:
                await shop.work.lost(event, "measure", attempts, state.last_sequence)
                return
            await shop.work.begin(event, "measure", attempts + 1, state.last_sequence)
            expected = (await shop.candidate(event)).last_sequence
            try:
                tuned = await shop.tuned(event.target, objective)
                measured = await self._measure(event, fold, objective, policy, tuned)
            except (DeviceFaultError, OSError) as error:
                await shop.work.fail(event, "measure", "device", str(error), expected)
                return
            await shop.work.append(self._benchmark(event, measured, tuned), expected)

    async def _measure(
        self,
        event: CorrectnessMeasured,
        fold: CampaignFold,
        objective: Objective,
        policy: Policy,
        tuned: list[BaselineTuned],
    ) -> Measured:
        shop = self._workshop
        problem = await shop.problem(objective)
        best = best_of_rows(tuned)
        programs: dict[Duelists, Program] = {}
        for workload, baseline in best.items():
            programs[Duelists(workload, baseline.baseline)] = shop.device.tuned_program(problem, baseline)
        rows = list(programs)
        row = race_row(event.candidate, [(name, item.nanoseconds) for name, item in best.items()], _EMPTY_NS, policy)
        race = None
        if row is not None:
            rows.sort(key=lambda duelists: duelists.workload != row)
            champion = fold.champion
            if champion is not None and champion != event.candidate:
                race = Duelists(row, champion)
                programs[race] = await shop.program(event.target, event.campaign, champion)
        candidate = await shop.program(event.target, event.campaign, event.candidate)
        field = await shop.field(objective, candidate, programs, policy)
        return await asyncio.to_thread(measure, shop.device, field, MeasurementPlan(race, tuple(rows)), policy)

    def _benchmark(
        self, event: CorrectnessMeasured, measured: Measured, tuned: list[BaselineTuned]
    ) -> BenchmarkMeasured:
        shop, session = self._workshop, measured.session
        return BenchmarkMeasured(
            event_id=command_id(event.event_id, "BenchmarkMeasured"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            node=shop.node,
            fingerprint=shop.fingerprint,
            race=measured.race,
            rows=measured.rows,
            unsupported=unsupported_pairs(tuned),
            misbehaviour=measured.misbehaviour[:2000],
            calls_checked=session.calls_checked,
            worst_error=session.worst_error,
            dispatch_ns=session.dispatch_ns,
            telemetry=put_together(session.telemetry),
            sandboxing=shop.device.target.sandboxing(),
            device_seconds=session.seconds,
        )
