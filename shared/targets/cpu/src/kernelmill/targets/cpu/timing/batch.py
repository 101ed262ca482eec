"""How many calls make a batch, and how many slots a pool has."""

import math
from collections.abc import Sequence

from kernelmill.targets.cpu.buffers import LINE, tensor_bytes
from kernelmill.targets.port import PairPlan, TensorSpec, TimedRow

SLOWER = 4.0
"""Bound on the ratio of two sides where the batch is sized."""
MOST_CALLS = 128
"""Every call of a batch has its own buffers, filled and checked one by one: more calls cost more than they tell."""


def bytes_per_call(specs: Sequence[TensorSpec]) -> int:
    """Return the bytes that the buffers of one call take."""
    return sum(tensor_bytes(spec) + 2 * LINE for spec in specs)


def slots_for(row: TimedRow, plan: PairPlan) -> int:
    """Return how many slots the pool gets: what fits into the plan's bound, one for single-call latency."""
    if plan.metric == "single-latency":
        return 1
    return max(1, min(MOST_CALLS, plan.pool_bytes // bytes_per_call((*row.inputs, *row.outputs))))


def typical_seconds(one: float, other: float) -> float:
    """Return the seconds of a turn by which batches are sized: the geometric mean of both sides.

    The slower side counts as at most `SLOWER` times the faster: by waiting it could otherwise make batches short, of
    which the protocol's own cost is a large part.
    """
    fast, slow = sorted((one, other))
    return math.sqrt(fast * min(slow, SLOWER * fast))


def calls_for(seconds_per_call: float, plan: PairPlan, slots: int) -> int:
    """Return how many calls make a batch of about the planned length."""
    return max(1, min(slots, round(plan.batch_seconds / max(seconds_per_call, 1e-9))))
