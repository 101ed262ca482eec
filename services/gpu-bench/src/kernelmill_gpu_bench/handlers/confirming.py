"""ConfirmationRequested: a would-be champion is measured once more, with new cases and in fresh processes."""

import asyncio
from datetime import UTC, datetime

from kernelmill.bus import Delivery, StreamAddress
from kernelmill.events import CandidateEvent, ConfirmationMeasured, ConfirmationRequested, Objective, Policy
from kernelmill.folds import fold_candidate
from kernelmill.identity import command_id
from kernelmill.targets.port import CheckRules, Program
from kernelmill_gpu_bench.domain.baselines import best_of_rows
from kernelmill_gpu_bench.domain.machine import put_together
from kernelmill_gpu_bench.domain.plan import Duelists
from kernelmill_gpu_bench.errors import DeviceFaultError
from kernelmill_gpu_bench.handlers.workshop import Workshop
from kernelmill_gpu_bench.measuring import Measured, confirm


class Confirming:
    """Measures confirmations: head to head with the opponent, and against the best baselines."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def confirm(self, delivery: Delivery) -> None:
        """Measure what was requested, unless that was done or has expired."""
        event = delivery.event
        if not isinstance(event, ConfirmationRequested):
            return
        shop = self._workshop
        shop.refuse_if_quarantined()
        async with shop.turns.urgent():
            fold, objective = await shop.campaign(event.campaign)
            request = fold.confirmations.get(event.confirmation)
            if request is None or request.status != "requested":
                return
            records = await shop.bus.log.read_stream(
                StreamAddress(event.target, event.campaign, "candidate", event.candidate)
            )
            state, subject = fold_candidate(records), records[-1].event
            if not isinstance(subject, CandidateEvent):
                return
            policy = await shop.policy(fold)
            attempts, work = state.starts["confirm", event.confirmation], event.confirmation
            if attempts >= policy.attempts:
                await shop.work.lost(subject, "confirm", attempts, state.last_sequence, work=work)
                return
            await shop.work.begin(subject, "confirm", attempts + 1, state.last_sequence, work=work)
            expected = (await shop.candidate(subject)).last_sequence
            try:
                measured = await self._confirm(event, objective, policy)
            except (DeviceFaultError, OSError) as error:
                await shop.work.fail(subject, "confirm", "device", str(error), expected, work=work)
                return
            await shop.work.append(self._confirmation(event, measured), expected)

    async def _confirm(self, event: ConfirmationRequested, objective: Objective, policy: Policy) -> Measured:
        shop = self._workshop
        problem = await shop.problem(objective)
        secret = await shop.bus.secrets.read(f"campaign-{event.campaign}-confirmation")
        cases = problem.cases(secret, event.candidate, event.case_round)
        programs: dict[Duelists, Program] = {}
        for workload, tuned in best_of_rows(await shop.tuned(event.target, objective)).items():
            programs[Duelists(workload, tuned.baseline)] = shop.device.tuned_program(problem, tuned)
            if event.opponent is not None:
                opponent = await shop.program(event.target, event.campaign, event.opponent)
                programs[Duelists(workload, event.opponent)] = opponent
        candidate = await shop.program(event.target, event.campaign, event.candidate)
        field = await shop.field(objective, candidate, programs, policy)
        constraints = objective.constraints
        rules = CheckRules(constraints.error_scale, constraints.bitwise_deterministic)
        return await asyncio.to_thread(confirm, shop.device, field, tuple(programs), event.pairs, cases, rules)

    def _confirmation(self, event: ConfirmationRequested, measured: Measured) -> ConfirmationMeasured:
        shop, session = self._workshop, measured.session
        return ConfirmationMeasured(
            event_id=command_id(event.event_id, "ConfirmationMeasured"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            candidate=event.candidate,
            confirmation=event.confirmation,
            opponent=event.opponent,
            node=shop.node,
            fingerprint=shop.fingerprint,
            cases=measured.cases,
            head_to_head=tuple(row for row in measured.rows if row.opponent == event.opponent),
            rows=tuple(row for row in measured.rows if row.opponent != event.opponent),
            misbehaviour=measured.misbehaviour[:2000],
            dispatch_ns=session.dispatch_ns,
            telemetry=put_together(session.telemetry),
            sandboxing=shop.device.target.sandboxing(),
            device_seconds=session.seconds,
        )
