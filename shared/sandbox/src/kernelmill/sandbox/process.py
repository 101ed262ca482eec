"""A running sandboxed process: its id, its group, its end."""

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kernelmill.sandbox.cgroups import Group
from kernelmill.sandbox.errors import SandboxError

STATUS_BYTES = 4096


@dataclass(frozen=True)
class Ended:
    """How the process ended."""

    kind: Literal["code", "signal"]
    number: int
    """Exit status or signal number."""
    cpu_seconds: float
    peak_bytes: int
    """Largest resident set."""
    timed_out: bool
    """Whether the launcher's wall limit ended it."""


class Process:
    """One program in one sandbox. Closing it kills everything inside; so does the death of this process."""

    def __init__(
        self, launcher: "subprocess.Popen[bytes]", status: int, alive: int, group: Group, release: Callable[[], None]
    ) -> None:
        self._launcher, self._status, self._alive = launcher, status, alive
        self.group = group
        """The control group; None members where there is none."""
        self._release = release
        self._lock = threading.Lock()
        self._pending = b""
        self._timed_out = False
        self._pid: int | None = None
        self._ended: Ended | None = None
        self._error = ""
        self.layers: tuple[str, ...] = ()
        """Active layers, known once it has started."""

    def wait_started(self, deadline: float) -> int:
        """Return the process id (as seen here) once the program has been exec'd or is about to be.

        Args:
            deadline: Value of `time.monotonic()` by which it must have happened.

        Raises:
            SandboxError: if a layer could not be set up.
        """
        while self._pid is None or not self.layers:
            if self._ended or not self._read(deadline):
                break
        if self._error:
            raise SandboxError(f"the sandbox could not be set up: {self._error}")
        if self._pid is None or not self.layers:
            raise SandboxError("the sandbox's launcher did not start the program in time")
        return self._pid

    def wait(self, deadline: float) -> Ended | None:
        """Return how it ended, or None if it still runs at the deadline (`time.monotonic()`).

        Raises:
            SandboxError: if the launcher vanished or a layer could not be set up.
        """
        while self._ended is None:
            if not self._read(deadline):
                break
        if self._error:
            raise SandboxError(f"the sandbox could not be set up: {self._error}")
        return self._ended

    def kill(self) -> None:
        """Kill everything inside; `wait` then tells how it ended."""
        with self._lock:
            if self._alive >= 0:
                os.close(self._alive)
                self._alive = -1

    def close(self) -> None:
        """Kill everything inside and give back the group and the user id. May be called twice."""
        self.kill()
        if self._status >= 0:
            with contextlib.suppress(SandboxError):
                while self._ended is None and self._read(time.monotonic() + 10.0):
                    pass
            os.close(self._status)
            self._status = -1
            self._launcher.wait()
            self._release()

    def _read(self, deadline: float) -> bool:
        """Take in lines from the launcher; False when the deadline passed or nothing more will come."""
        ready, _, _ = select.select([self._status], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        data = os.read(self._status, STATUS_BYTES)
        if not data:
            if self._ended is None and not self._error:
                self._error = "the launcher ended without a word"
            return False
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._take(line.decode().split())
        return True

    def _take(self, words: list[str]) -> None:
        match words:
            case ["pid", pid]:
                self._pid = int(pid)
            case ["layers", names]:
                self.layers = tuple(sorted(names.split(",")))
            case ["error", stage, number]:
                self._error = f"{stage}: {os.strerror(int(number))}"
            case ["timeout"]:
                self._timed_out = True
            case ["exit", "signal" | "code" as kind, number, cpu, peak]:
                self._ended = Ended(
                    kind="signal" if kind == "signal" else "code",
                    number=int(number),
                    cpu_seconds=int(cpu) / 1e6,
                    peak_bytes=int(peak) << 10,
                    timed_out=self._timed_out,
                )
            case _:
                self._error = f"unexpected words from the launcher: {' '.join(words)!r}"
