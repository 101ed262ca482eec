"""What the protocol itself costs: the time of turns of an empty kernel."""

from dataclasses import dataclass
from statistics import median

import numpy as np

from kernelmill.targets.cpu.buffers import Pool
from kernelmill.targets.cpu.errors import MeasurementError
from kernelmill.targets.cpu.timing.contender import Contender, TurnFailed
from kernelmill.targets.port import TensorSpec

EMPTY_SOURCE = b"void kernel(const float *x, float *y, long n) { (void)x; (void)y; (void)n; }\n"
TURNS = 101
MANY = 128


@dataclass(frozen=True)
class DispatchCost:
    """Seconds of an empty batch: `turn + call * calls`."""

    turn: float
    """Thaw, handshake, freeze."""
    call: float
    """One call of the harness's loop."""

    def per_call_ns(self, calls: float) -> float:
        """Return the share of one call in nanoseconds, in a batch of that many."""
        return 1e9 * (self.turn / max(calls, 1.0) + self.call)


def measure_dispatch(contender: Contender) -> DispatchCost:
    """Time turns of one call and of many with the empty kernel loaded.

    Raises:
        MeasurementError: if a turn fails.
    """
    spec = TensorSpec("x", (16,), np.dtype(np.float32))
    with Pool((spec,), (spec,), (16,), MANY) as pool:
        failed = contender.prepare(pool)
        if failed is not None:
            raise MeasurementError(f"the empty kernel could not be started: {failed.detail}")
        one, many = (_median_turn(contender, calls) for calls in (1, MANY))
    call = max(0.0, (many - one) / (MANY - 1))
    return DispatchCost(turn=max(0.0, one - call), call=call)


def _median_turn(contender: Contender, calls: int) -> float:
    seconds = []
    for _ in range(TURNS):
        taken = contender.turn(0, calls, 1.0)
        if isinstance(taken, TurnFailed):
            raise MeasurementError(f"a turn of the empty kernel failed: {taken.detail}")
        seconds.append(taken)
    return median(seconds)
