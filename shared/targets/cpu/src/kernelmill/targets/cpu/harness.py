"""Starts a harness in the sandbox and talks to it: readiness, buffers, replies, and what its end means."""

import array
import os
import select
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Literal

from kernelmill.sandbox import Confinement, Ended, Process, Sandbox, build_trusted, kernel_filter, reachable_by_others
from kernelmill.targets.cpu.buffers import PAGE, Pool, SharedMemory
from kernelmill.targets.cpu.endings import HarnessFailed, Report, explain
from kernelmill.targets.cpu.libraries import linked_library, linked_names
from kernelmill.targets.cpu.native_library import SOURCES
from kernelmill.targets.cpu.words import one_line
from kernelmill.targets.port import Artifact, Limits

HARNESS_VERSION = "2"
DRIVER = Path(__file__).parent / "driver.py"
RANDOMNESS = (Path("/dev/urandom"),)
"""What trusted Python baselines may open besides their packages: torch does not load without it."""
REPORT_OFFSET = 128
END_SECONDS = 0.2
OWN_MEMORY = 64 << 20
"""Address space of the harness itself, on top of the limit."""
PYTHON_MEMORY = 2 << 30
"""The same for the interpreter and numpy."""


class Launchpad:
    """What is needed to start harnesses: the sandbox, the compiled harness, library folders. Thread-safe."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self._harness = build_trusted(SOURCES / "harness.c", folder / "binaries", ("-ldl", "-lm"))
        self._libraries = folder / "libraries"

    def start(self, artifact: Artifact, limits: Limits, *, cpus: tuple[int, ...], wall_seconds: float) -> "Harness":
        """Start a process that loads the artifact; returns before it is ready.

        Args:
            artifact: What to load.
            limits: CPU time, memory and threads.
            cpus: Cores to pin it to; empty: anywhere.
            wall_seconds: Life time of the whole process, after which the launcher kills it.

        Raises:
            OSError: if the sandbox fails.
        """
        python = artifact.language == "python"
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control = SharedMemory("kernelmill-control", PAGE)
        keep = [theirs.fileno(), control.descriptor]
        code = None if python else kernel_filter(threads=limits.threads > 1, memory_bytes=limits.memory_bytes)
        filter_file = -1
        if code is not None:
            filter_file = os.memfd_create("kernelmill-filter", os.MFD_CLOEXEC)
            os.write(filter_file, code)
            os.lseek(filter_file, 0, os.SEEK_SET)
            keep.append(filter_file)
        program = [str(self._harness), str(artifact.path), artifact.entry]
        linked = (linked_library(name, self._libraries) for name in linked_names(artifact.resources))
        readable = (self._harness, artifact.path, *(path for library in linked for path in library.readable))
        if python:
            program = [sys.executable, "-I", "-S", str(DRIVER), str(artifact.path), artifact.entry]
            readable = (artifact.path, DRIVER, *RANDOMNESS, *_interpreter_paths())
        program += [str(theirs.fileno()), str(control.descriptor), str(filter_file)]
        try:
            process = self._sandbox.start(
                program,
                Confinement(
                    wall_seconds=wall_seconds,
                    cpu_seconds=limits.cpu_seconds,
                    memory_bytes=limits.memory_bytes + (PYTHON_MEMORY if python else OWN_MEMORY),
                    processes=limits.threads + 1,
                    file_bytes=0,
                    readable=readable,
                    environment=_environment(limits.threads, python=python),
                    cpus=cpus,
                    keep=tuple(keep),
                    user_slot=not python or _interpreter_is_reachable(),
                ),
            )
        except BaseException:
            ours.close()
            control.close()
            raise
        finally:
            theirs.close()
            if filter_file >= 0:
                os.close(filter_file)
        return Harness(process=process, channel=ours, control=control, limits=limits)


class Harness:
    """One started process. Not thread-safe; close it."""

    def __init__(self, *, process: Process, channel: socket.socket, control: SharedMemory, limits: Limits) -> None:
        self.process = process
        self.channel = channel
        self.control = control
        self._limits = limits
        self._closed = False

    def ready(self, deadline: float) -> HarnessFailed | None:
        """Wait until the artifact is loaded; None when it is."""
        return self._expect(b"r", deadline, "while it was loaded")

    def offer(self, pool: Pool, mode: Literal["run", "spin"], deadline: float) -> HarnessFailed | None:
        """Hand over buffers: with `run` it makes call 0 and replies, with `spin` it obeys the control page for ever."""
        memory = pool.inputs, pool.outputs
        message = struct.pack(
            "9Q",
            ord(mode[0]),
            pool.arguments,
            pool.calls,
            pool.table,
            *(part.size for part in memory),
            *pool.description,
            pool.guards,
        )
        descriptors = array.array("i", [part.descriptor for part in memory])
        try:
            self.channel.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        except OSError:
            return self.failure("before its call")
        if mode == "spin":
            return self._expect(b"r", deadline, "while its buffers were mapped")
        return self._expect(b"d", deadline, "in its call")

    def _expect(self, letter: bytes, deadline: float, when: str) -> HarnessFailed | None:
        ready, _, _ = select.select([self.channel], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return HarnessFailed("timed-out", f"no answer within {self._limits.wall_seconds:g} s {when}")
        try:
            reply = self.channel.recv(512)
        except OSError:
            reply = b""
        if reply[:1] == letter:
            return None
        if reply[:1] == b"l":
            return HarnessFailed("crashed", f"it could not be loaded: {one_line(reply[1:])}")
        return self.failure(when)

    def failure(self, when: str) -> HarnessFailed:
        """Kill the process and say why it could not go on."""
        died_alone = self._ended_by_itself()
        report = Report(*struct.unpack_from("3Q", self.control.mapping, REPORT_OFFSET))
        if died_alone is None:
            self.process.kill()
            return HarnessFailed("crashed", f"it closed its channel to the parent {when}")
        outcome, words = explain(died_alone, report, self._limits)
        return HarnessFailed(outcome, f"{words} {when}")

    def _ended_by_itself(self) -> Ended | None:
        # A closed channel is seen a moment before the end of the process.
        return self.process.wait(time.monotonic() + END_SECONDS)

    def close(self) -> None:
        """Kill the process and give everything back."""
        if self._closed:
            return
        self._closed = True
        self.channel.close()
        self.process.close()
        self.control.close()


def _environment(threads: int, *, python: bool) -> dict[str, str]:
    environment = {
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
        "OMP_DYNAMIC": "false",
        "OPENBLAS_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "LC_ALL": "C",
    }
    if python:
        environment["KERNELMILL_PATH"] = os.pathsep.join(entry for entry in sys.path if entry)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return environment


def _interpreter_paths() -> tuple[Path, ...]:
    """Return what the running interpreter and its packages need."""
    candidates = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent}
    candidates.update(
        Path(entry) for entry in sys.path if entry and ("site-packages" in entry or "dist-packages" in entry)
    )
    return tuple(sorted(path for path in candidates if path.exists()))


def _interpreter_is_reachable() -> bool:
    return all(reachable_by_others(path) for path in (*_interpreter_paths(), DRIVER))
