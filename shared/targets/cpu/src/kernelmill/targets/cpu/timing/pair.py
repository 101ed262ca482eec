"""Times one process pair: duels on the same fresh inputs, each side frozen outside its turn, every output checked."""

import hashlib
import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from kernelmill.events import Sandboxing
from kernelmill.targets.cpu.buffers import Pool
from kernelmill.targets.cpu.native_library import MeasureLibrary
from kernelmill.targets.cpu.poison import first_unfinished, poison
from kernelmill.targets.cpu.timing.batch import calls_for, slots_for, typical_seconds
from kernelmill.targets.cpu.timing.contender import Contender, TurnFailed
from kernelmill.targets.cpu.timing.dispatch import DispatchCost
from kernelmill.targets.cpu.timing.score import Duel, score_duels
from kernelmill.targets.cpu.timing.telemetry import StealWatch, telemetry
from kernelmill.targets.port import CandidateFault, InfrastructureFault, PairMeasured, PairPlan, TimedRow

FULL_CHECKS = 1
"""Turns of each side, at random, of which one whole output is checked."""
SPOT_SLOTS = 4
"""Calls of every turn, at random, of which a few secret rows are checked."""
PLANTED_DUELS = 2
"""Duels of a pair, one in each half, with inputs as hard as those of correctness cases in some calls. They are not
scored, and nothing but the inputs tells them from others: what is right only where it is easy is found when timed."""
PLANTED_SLOTS = 3
"""Calls of such a duel, at random, that have hard inputs."""
WATCHED_WORDS = 16
"""Secret output words of every turn that have to be final when it is said to be over."""
LEAST_SHARE = 0.5
"""With fewer of the planned duels than this, a pair has no score."""
HOGGED = 0.5
"""A pair that ran into its deadline is the fault of a side whose turns took more than this share of it..."""
HOG_RATIO = 10.0
"""...and so many times as long as the other side's."""
COLD = "cold-throughput"
WORD = 4


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
        discarded, spent_by = 0, dict.fromkeys(("candidate", "opponent"), 0.0)
        last_counted = plan.warmup + plan.duels
        for side in (candidate, opponent):
            chosen = self._draw.sample(range(last_counted), min(FULL_CHECKS, last_counted))
            self._full_checks[side.side] = set(chosen)
        planted_at = self._planted_at()
        starts_first = self._draw.random() < 0.5
        watch = StealWatch(self._around.core)
        try:
            stolen = watch.first
            for index in range(last_counted + PLANTED_DUELS):
                if time.monotonic() - self._began > plan.deadline_seconds:
                    self._blame_hog(spent_by, candidate, opponent)
                    break
                self._fill(pool, index, calls)
                planted = self._plant(pool, calls) if index in planted_at else {}
                even = (index - sum(index > place for place in planted_at)) % 2 == 0
                first, second = (candidate, opponent) if even == starts_first else (opponent, candidate)
                seconds = {side.side: self._turn(side, pool, index, calls, planted) for side in (first, second)}
                for name, value in seconds.items():
                    spent_by[name] += value
                duel = Duel(seconds["candidate"], seconds["opponent"], calls)
                now = watch.now()
                if index < plan.warmup:
                    # The least estimate: one disturbed duel must not shorten every batch of the pair.
                    per_call = min(per_call, typical_seconds(duel.candidate_seconds, duel.opponent_seconds) / calls)
                    calls = calls_for(per_call, plan, pool.calls)
                elif planted:
                    pass
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

    def _planted_at(self) -> tuple[int, ...]:
        """Draw which duels after the warm-up are not scored: one of each part of equal length."""
        first, total = self._plan.warmup, self._plan.duels + PLANTED_DUELS
        edges = [first + total * part // PLANTED_DUELS for part in range(PLANTED_DUELS + 1)]
        return tuple(self._draw.randrange(start, end) for start, end in pairwise(edges))

    def _blame_hog(self, spent_by: dict[str, float], candidate: Contender, opponent: Contender) -> None:
        """Raise a fault where the deadline passed because one side was far slower than the other."""
        for side, other in ((candidate, opponent), (opponent, candidate)):
            mine, theirs = spent_by[side.side], spent_by[other.side]
            limit = self._plan.deadline_seconds
            if mine > HOGGED * limit and mine > HOG_RATIO * theirs:
                words = f"its turns took {mine:.1f} s of a pair's {limit:g} s, the other side's {theirs:.2f} s"
                raise _Fault(side, TurnFailed("timed-out", words), self._began)

    def _fill(self, pool: Pool, duel: int, calls: int) -> None:
        for index in range(calls):
            seed = hashlib.sha256(b"inputs" + self._plan.seed + duel.to_bytes(8, "big") + index.to_bytes(8, "big"))
            self._row.fill(pool.slots[index].inputs, seed.digest(), self._library.uniform)

    def _plant(self, pool: Pool, calls: int) -> dict[int, tuple[int, ...]]:
        """Make the inputs of a few calls hard; returns what `planted_check` needs to know by call."""
        chosen = self._draw.sample(range(calls), min(PLANTED_SLOTS, calls))
        return {call: self._row.plant(pool.slots[call].inputs, self._draw.randbytes(32)) for call in chosen}

    def _turn(
        self, side: Contender, pool: Pool, index: int, calls: int, planted: Mapping[int, tuple[int, ...]]
    ) -> float:
        secret = self._draw.getrandbits(64)
        for slot in pool.slots[:calls]:
            for address, size, dtype in slot.output_spans:
                poison(self._library, address, size, secret, dtype)
        # The side that goes first takes the inputs out of the parent's cache; both must find them in the same place.
        self._library.reclaim(pool.inputs.address, pool.input_bytes_per_call * calls)
        if self._plan.metric == COLD:
            for memory in (pool.inputs, pool.outputs):
                self._library.flush(memory.address, memory.size)
        taken = side.turn(0, calls, self._limit_seconds, self._watched(pool, calls))
        if isinstance(taken, TurnFailed):
            raise _Fault(side, taken, self._began)
        self._scan(side, pool, calls, secret)
        self._spot_check(side, pool, index, calls, planted)
        return taken

    def _watched(self, pool: Pool, calls: int) -> NDArray[np.uint64]:
        """Return the addresses of random output words of the next turn."""
        spans = [span for slot in pool.slots[:calls] for span in slot.output_spans if span[1] >= WORD]
        chosen = (self._draw.choice(spans) for _ in range(WATCHED_WORDS if spans else 0))
        return np.array([at + WORD * self._draw.randrange(size // WORD) for at, size, _ in chosen], dtype=np.uint64)

    def _scan(self, side: Contender, pool: Pool, calls: int, secret: int) -> None:
        for call, slot in enumerate(pool.slots[:calls]):
            for name, (address, size, dtype) in zip(slot.outputs, slot.output_spans, strict=True):
                place = first_unfinished(self._library, address, size, secret, dtype)
                if place is not None:
                    words = (
                        f"output {name} of call {call} of {calls} was not written at byte {place} when its turn ended"
                    )
                    raise _Fault(side, CandidateFault(side.side, "unfinished", words, 0.0), self._began)
        if pool.spilled():
            raise _Fault(side, CandidateFault(side.side, "wrong", "it wrote beyond an output", 0.0), self._began)

    def _spot_check(
        self, side: Contender, pool: Pool, index: int, calls: int, planted: Mapping[int, tuple[int, ...]]
    ) -> None:
        chosen = self._draw.sample(range(calls), min(SPOT_SLOTS, calls))
        errors = [
            self._row.spot_check(pool.slots[call].inputs, pool.slots[call].outputs, self._draw.randbytes(16))
            for call in chosen
        ]
        if index in self._full_checks[side.side]:
            errors.append(self._row.full_check(pool.slots[chosen[0]].inputs, pool.slots[chosen[0]].outputs))
        errors += [
            self._row.planted_check(pool.slots[call].inputs, pool.slots[call].outputs, rows)
            for call, rows in planted.items()
        ]
        self._checked += len({*chosen, *planted})
        wrong = next((error for error in errors if not error <= 1.0), None)
        if wrong is not None:
            words = f"a timed output was off by {wrong:.3g} times the bound"
            raise _Fault(side, CandidateFault(side.side, "wrong", words, 0.0), self._began)
        self._worst = max(self._worst, *errors)

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
