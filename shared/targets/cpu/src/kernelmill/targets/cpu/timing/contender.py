"""One side of a pair: a loaded harness that is frozen outside its turns."""

import ctypes
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernelmill.targets.cpu.buffers import Pool
from kernelmill.targets.cpu.cores import Cores
from kernelmill.targets.cpu.endings import HarnessFailed
from kernelmill.targets.cpu.errors import MeasurementError
from kernelmill.targets.cpu.harness import Harness, Launchpad
from kernelmill.targets.cpu.native_library import DIED, DONE, TIMED_OUT, WENT_ON, MeasureLibrary
from kernelmill.targets.cpu.timing.freezing import Freezer
from kernelmill.targets.port import Artifact, Limits

Side = Literal["candidate", "opponent"]
LOAD_SECONDS = 60.0
STILL_SECONDS = 100e-6
"""CPU time that may appear while frozen. A running thread shows far more."""
STRIKES = 3
"""Turns of a pair after which more may appear: where the host takes the core away from a process that is just being
frozen, its lost time is booked on the process. It would have to happen in most turns to gain anything."""


@dataclass(frozen=True)
class TurnFailed:
    """A turn that did not end well, through the contender's own doing."""

    reason: Literal[
        "crashed", "timed-out", "memory", "state-changed", "input-changed", "ran-while-frozen", "unfinished"
    ]
    detail: str


@dataclass(frozen=True)
class _Usage:
    """CPU seconds of the whole group around one turn."""

    before: float
    elapsed: float
    after: float


class Contender:
    """A harness with an artifact and a pool, frozen except while it has its turn. Close it."""

    def __init__(self, side: Side, harness: Harness, library: MeasureLibrary, *, polite: bool, threads: int) -> None:
        self.side: Side = side
        self.harness = harness
        self.freezer: Freezer | None = None
        self.pid = 0
        self._library = library
        self._polite = polite
        self._threads = threads
        self._turn = 0
        self._strikes = 0
        self._last_turn: _Usage | None = None

    def prepare(self, pool: Pool) -> HarnessFailed | None:
        """Load the artifact, map the pool, freeze. Returns why it could not.

        Raises:
            OSError: if the sandbox fails.
            MeasurementError: if it cannot be frozen.
        """
        deadline = time.monotonic() + LOAD_SECONDS
        self.pid = self.harness.process.wait_started(deadline)
        failed = self.harness.ready(deadline) or self.harness.offer(pool, "spin", deadline)
        if failed is not None:
            return failed
        try:
            self.freezer = Freezer(self._library, self.harness.process.group, self.pid)
        except OSError:
            return self.harness.failure("before its first turn")
        if not self.freezer.freeze():
            raise MeasurementError(f"the {self.side}'s process could not be frozen ({self.freezer.kind})")
        return None

    def turn(
        self, first: int, count: int, limit_seconds: float, watched: NDArray[np.uint64] | None = None
    ) -> float | TurnFailed:
        """Let it make `count` calls from slot `first` on, and return the seconds by the parent's clock.

        Args:
            first: The first slot.
            count: Calls.
            limit_seconds: After this it is stopped.
            watched: Addresses of output words that have to be final when it says that it is done.

        Raises:
            MeasurementError: if it could not be thawed or frozen.
        """
        freezer = self._still()
        used = freezer.cpu_seconds()
        excess = self._excess(used)
        if excess > STILL_SECONDS:
            self._strikes += 1
        if self._strikes > STRIKES:
            return TurnFailed(
                "ran-while-frozen",
                f"it used {1e3 * excess:.2f} ms of CPU time outside its turn, and did so {self._strikes} times",
            )
        self._turn += 1
        elapsed = ctypes.c_int64(0)
        outcome = self._library.turn(
            ctypes.byref(freezer.struct),
            self.harness.control.address,
            self.harness.channel.fileno(),
            self._turn,
            first,
            count,
            int(limit_seconds * 1e9),
            int(self._polite),
            None if watched is None else watched.ctypes.data,
            0 if watched is None else watched.size,
            ctypes.byref(elapsed),
        )
        seconds = elapsed.value * 1e-9
        self._last_turn = _Usage(used, seconds, freezer.cpu_seconds())
        if outcome == DONE:
            return seconds
        if outcome == TIMED_OUT:
            return TurnFailed("timed-out", f"{count} calls took longer than {limit_seconds:g} s")
        if outcome == WENT_ON:
            return TurnFailed("unfinished", "an output was still written after the turn was said to be over")
        if outcome == DIED:
            failed = self.harness.failure("while it was timed")
            return TurnFailed(failed.outcome, failed.detail)
        raise MeasurementError(f"the {self.side}'s process could not be thawed and frozen ({freezer.kind})")

    def _excess(self, used: float) -> float:
        """Return the seconds of CPU time since the last turn that it cannot have used in that turn.

        The kernel says `frozen` a moment before it books the last slice, so late time counts only where the turn's
        own length cannot hold it.
        """
        last = self._last_turn
        if last is None:
            return 0.0
        return min(used - last.after, used - last.before - last.elapsed * self._threads)

    def _still(self) -> Freezer:
        if self.freezer is None:
            raise MeasurementError(f"the {self.side} was given a turn before it was prepared")
        return self.freezer

    def close(self) -> None:
        """Kill the process."""
        if self.freezer is not None:
            self.freezer.close()
        self.harness.close()


@dataclass(frozen=True)
class Track:
    """Where contenders run: how they are started and on which cores."""

    launchpad: Launchpad
    library: MeasureLibrary
    cores: Cores

    def open(self, side: Side, artifact: Artifact, limits: Limits, life_seconds: float) -> Contender:
        """Start the process of one side, pinned to the timed cores, killed at the end of its life in any case.

        Raises:
            OSError: if the sandbox fails.
        """
        cpus = self.cores.for_threads(limits.threads)
        harness = self.launchpad.start(artifact, limits, cpus=cpus, wall_seconds=life_seconds)
        return Contender(side, harness, self.library, polite=self.cores.parent in cpus, threads=limits.threads)
