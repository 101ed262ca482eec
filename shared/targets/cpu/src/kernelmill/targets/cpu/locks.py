"""The machine-wide lock between timing (exclusive) and everything else (shared), fair to both."""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from kernelmill.sandbox import open_lock, runtime_folder


class MachineLock:
    """A reader-writer lock over all processes of the machine. Thread-safe; a holder may enter again.

    Two files make it fair: whoever wants the main lock holds the gate while it waits. A waiting timer keeps new
    compilers out, and compilers that wait keep the next timer out, so neither starves.
    """

    def __init__(self, folder: Path | None = None, *, exclusive_only: bool = False) -> None:
        """Use the lock files in `folder`.

        Args:
            folder: Where the lock files are; None: the machine's runtime folder.
            exclusive_only: Whether shared holders need not wait, because timing has cores of its own.
        """
        folder = runtime_folder() if folder is None else folder
        self._gate, self._main = folder / "bench-gate.lock", folder / "bench.lock"
        self._exclusive_only = exclusive_only
        self._held = threading.local()

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock together with other compilers and checks."""
        if self._exclusive_only:
            yield
            return
        with self._hold(fcntl.LOCK_SH):
            yield

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock alone, to time something."""
        with self._hold(fcntl.LOCK_EX):
            yield

    @contextlib.contextmanager
    def _hold(self, kind: int) -> Iterator[None]:
        depth: int = getattr(self._held, "depth", 0)
        if depth == 0:
            descriptor = self._acquire(kind)
            self._held.kind = kind
        elif kind == fcntl.LOCK_EX and self._held.kind == fcntl.LOCK_SH:
            raise RuntimeError("a thread that holds the machine's lock shared asked for it exclusively: that deadlocks")
        self._held.depth = depth + 1
        try:
            yield
        finally:
            self._held.depth = depth
            if depth == 0:
                os.close(descriptor)

    def _acquire(self, kind: int) -> int:
        gate = open_lock(self._gate)
        try:
            fcntl.flock(gate, kind)
            main = open_lock(self._main)
            fcntl.flock(main, kind)
        finally:
            os.close(gate)
        return main


class SharedLease:
    """The shared lock over a longer piece of work, given up for a moment between steps once it was held for a while.

    Everything in the piece, not only the steps, would disturb a timing, so the lock is kept in between; a timer that
    waits gets its turn at the next step. Used by one thread.
    """

    def __init__(self, lock: MachineLock, slice_seconds: float) -> None:
        """Acquire the lock."""
        self._lock = lock
        self._slice_seconds = slice_seconds
        self._held = contextlib.ExitStack()
        self._enter()

    def _enter(self) -> None:
        self._held.enter_context(self._lock.shared())
        self._since = time.monotonic()

    def step(self) -> None:
        """Let a timer go first if the lock was held for its slice; call it before every step."""
        if time.monotonic() - self._since > self._slice_seconds:
            self.close()
            self._enter()

    def close(self) -> None:
        """Give the lock back. May be called twice."""
        self._held.close()
