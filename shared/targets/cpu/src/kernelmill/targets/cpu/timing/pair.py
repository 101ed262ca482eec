"""Times one process pair: duels on the same fresh inputs, each side frozen outside its turn, every output checked."""

import hashlib
import math
import random
import time
from dataclasses import dataclass
from statistics import fmean

from kernelmill.events import Sandboxing
from kernelmill.targets.cpu.buffers import Pool
from kernelmill.targets.cpu.native_library import MeasureLibrary
from kernelmill.targets.cpu.poison import first_unfinished, poison
from kernelmill.targets.cpu.timing.batch import calls_for, slots_for
from kernelmill.targets.cpu.timing.contender import Contender, TurnFailed
from kernelmill.targets.cpu.timing.dispatch import DispatchCost
from kernelmill.targets.cpu.timing.score import Duel, score_duels
from kernelmill.targets.cpu.timing.telemetry import StealWatch, telemetry
from kernelmill.targets.port import CandidateFault, InfrastructureFault, PairMeasured, PairPlan, TimedRow

FULL_CHECKS = 1
"""Turns of each side, at random, of which one whole output is checked."""
LEAST_SHARE = 0.5
"""With fewer of the planned duels than this, a pair has no score."""
COLD = "cold-throughput"


@dataclass(frozen=True)
class Surroundings:
    """What a pair needs besides its sides."""

    library: MeasureLibrary
    core: int
    """The timed core."""
    sandboxing: Sandboxing
    cost: DispatchCost
    """What the protocol itself costs."""


class _Fault(Exception):  # noqa: N818  # carries an ordinary outcome out of nested steps; never leaves this module
    def __init__(self, side: Contender, failed: TurnFailed | CandidateFault, began: float) -> None:
        super().__init__(failed.detail)
        self.side = side
        self.fault = CandidateFault(side.side, failed.reason, failed.detail, time.monotonic() - began)


class PairTimer:
    """Runs the duels of one pair. Used once."""

    def __init__(self, row: TimedRow, plan: PairPlan, around: Surroundings, limit_seconds: float) -> None:
        self._row, self._plan, self._around, self._library = row, plan, around, around.library
        self._limit_seconds = limit_seconds
        self._draw = random.Random(hashlib.sha256(b"pair" + plan.seed).digest())  # noqa: S311  # seeded by a secret
        self._began = time.monotonic()
        self._worst, self._checked = 0.0, 0
        self._full_checks: dict[str, set[int]] = {}

    def run(self, candidate: Contender, opponent: Contender) -> PairMeasured | CandidateFault | InfrastructureFault:
        """Prepare both sides, run the duels, score them.

        Raises:
            OSError: if the machinery fails.
        """
        slots = slots_for(self._row, self._plan)
        sides = (candidate, opponent)
        with Pool(self._row.inputs, self._row.outputs, self._row.axes, slots) as pool:
            try:
                for side in sides:
                    self._prepare(side, pool)
                return self._duels(pool, candidate, opponent)
            except _Fault as stopped:
                return self._excused(stopped, sides)

    def _prepare(self, side: Contender, pool: Pool) -> None:
        failed = side.prepare(pool)
        if failed is not None:
            raise _Fault(side, TurnFailed(failed.outcome, failed.detail), self._began)

    def _duels(self, pool: Pool, candidate: Contender, opponent: Contender) -> PairMeasured | InfrastructureFault:
        plan, calls, per_call = self._plan, 1, math.inf
        kept: list[Duel] = []
        discarded = 0
        last_counted = plan.warmup + plan.duels
        for side in (candidate, opponent):
            chosen = self._draw.sample(range(last_counted), min(FULL_CHECKS, last_counted))
            self._full_checks[side.side] = set(chosen)
        starts_first = self._draw.random() < 0.5
        watch = StealWatch(self._around.core)
        try:
            stolen = watch.first
            for index in range(last_counted):
                if time.monotonic() - self._began > plan.deadline_seconds:
                    break
                self._fill(pool, index, calls)
                first, second = (candidate, opponent) if (index % 2 == 0) == starts_first else (opponent, candidate)
                seconds = {side.side: self._turn(side, pool, index, calls) for side in (first, second)}
                duel = Duel(seconds["candidate"], seconds["opponent"], calls)
                now = watch.now()
                if index < plan.warmup:
                    # The least estimate: one disturbed duel must not shorten every batch of the pair.
                    per_call = min(per_call, math.sqrt(duel.candidate_seconds * duel.opponent_seconds) / calls)
                    calls = calls_for(per_call, plan, pool.calls)
                elif now != stolen:
                    discarded += 1
                else:
                    kept.append(duel)
                stolen = now
            report = telemetry(watch, self._around.core, candidate.pid)
        finally:
            watch.close()
        spent = time.monotonic() - self._began
        if not kept or len(kept) < LEAST_SHARE * plan.duels:
            why = f"only {len(kept)} of {plan.duels} duels counted ({discarded} lost to stolen time) in {spent:.2f} s"
            return InfrastructureFault(why, spent)
        return PairMeasured(
            score=score_duels(kept, discarded),
            telemetry=report,
            sandboxing=self._around.sandboxing,
            seconds=spent,
            worst_error=self._worst,
            calls_checked=self._checked,
            single_call_ns=self._around.cost.per_call_ns(fmean(duel.calls for duel in kept)),
        )

    def _fill(self, pool: Pool, duel: int, calls: int) -> None:
        for index in range(calls):
            seed = hashlib.sha256(b"inputs" + self._plan.seed + duel.to_bytes(8, "big") + index.to_bytes(8, "big"))
            self._row.fill(pool.slots[index].inputs, seed.digest(), self._library.uniform)

    def _turn(self, side: Contender, pool: Pool, index: int, calls: int) -> float:
        secret = self._draw.getrandbits(64)
        for slot in pool.slots[:calls]:
            for address, size, dtype in slot.output_spans:
                poison(self._library, address, size, secret, dtype)
        # The side that goes first takes the inputs out of the parent's cache; both must find them in the same place.
        self._library.reclaim(pool.inputs.address, pool.input_bytes_per_call * calls)
        if self._plan.metric == COLD:
            for memory in (pool.inputs, pool.outputs):
                self._library.flush(memory.address, memory.size)
        taken = side.turn(0, calls, self._limit_seconds)
        if isinstance(taken, TurnFailed):
            raise _Fault(side, taken, self._began)
        self._scan(side, pool, calls, secret)
        self._spot_check(side, pool, index, calls)
        return taken

    def _scan(self, side: Contender, pool: Pool, calls: int, secret: int) -> None:
        for call, slot in enumerate(pool.slots[:calls]):
            for name, (address, size, dtype) in zip(slot.outputs, slot.output_spans, strict=True):
                place = first_unfinished(self._library, address, size, secret, dtype)
                if place is not None:
                    words = (
                        f"output {name} of call {call} of {calls} was not written at byte {place} when its turn ended"
                    )
                    raise _Fault(side, CandidateFault(side.side, "unfinished", words, 0.0), self._began)

    def _spot_check(self, side: Contender, pool: Pool, index: int, calls: int) -> None:
        slot = pool.slots[self._draw.randrange(calls)]
        error = self._row.spot_check(slot.inputs, slot.outputs, self._draw.randbytes(16))
        if index in self._full_checks[side.side]:
            whole = self._row.full_check(slot.inputs, slot.outputs)
            error = whole if math.isnan(whole) else max(error, whole)
        self._checked += 1
        if not error <= 1.0:
            words = f"a timed output was off by {error:.3g} times the bound"
            raise _Fault(side, CandidateFault(side.side, "wrong", words, 0.0), self._began)
        self._worst = max(self._worst, error)

    def _excused(self, stopped: _Fault, sides: tuple[Contender, Contender]) -> CandidateFault | InfrastructureFault:
        """A time-out counts only if the other side passes the same limit right afterwards."""
        other = sides[1] if stopped.side is sides[0] else sides[0]
        if stopped.fault.reason != "timed-out" or other.freezer is None:
            return stopped.fault
        taken = other.turn(0, 1, self._limit_seconds)
        if isinstance(taken, TurnFailed):
            why = f"both sides failed at the limit of {self._limit_seconds:g} s: {stopped.fault.detail}; {taken.detail}"
            return InfrastructureFault(why, time.monotonic() - self._began)
        return stopped.fault
