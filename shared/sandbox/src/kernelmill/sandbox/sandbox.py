"""Starts hostile programs in fresh, exec'd processes behind every isolation layer that this machine offers."""

import atexit
import contextlib
import logging
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from kernelmill.sandbox.cgroups import Cgroups, Group, discard
from kernelmill.sandbox.errors import SandboxError
from kernelmill.sandbox.filters import tool_filter
from kernelmill.sandbox.native import build_trusted
from kernelmill.sandbox.policy import SYSTEM_LIBRARIES, Confinement, Freeze
from kernelmill.sandbox.process import Ended, Process
from kernelmill.sandbox.slots import UserSlots

log = logging.getLogger(__name__)

HIDDEN = ("/proc", "/sys")
"""Covered by empty read-only folders, so that not even names of other processes can be probed."""
START_SECONDS = 10.0
ALL_LAYERS = ("landlock", "namespaces", "rlimits", "seccomp", "uid")


class Sandbox:
    """Starts programs; one per process is enough. Thread-safe.

    It never forks this process: the launcher is exec'd at once (vfork), and clones the program itself.
    """

    def __init__(self, folder: Path, *, strongest: Freeze = "cgroup-v2") -> None:
        """Build the launcher and find out which layers work here.

        Args:
            folder: Where the launcher and the filters are kept; other users must be able to reach it when this
                process is root.
            strongest: The strongest way of freezing to use; weaker ones follow where it does not work.

        Raises:
            SandboxError: if the launcher cannot be built or nothing can be started.
        """
        self._root = os.geteuid() == 0
        self._launcher = build_trusted(Path(__file__).parent / "native" / "launcher.c", folder)
        self._cgroups = Cgroups(unified=strongest == "cgroup-v2", freezer=strongest != "self-stop")
        self._slots = UserSlots() if self._root else None
        code = tool_filter()
        self._filter = _store_filter(code, folder) if code else None
        self._readable = tuple(str(path) for path in SYSTEM_LIBRARIES if path.exists())
        self._namespaces = True
        self.layers = self._probe()
        """Layers that are active in every sandbox, sorted."""
        missing = [layer for layer in ALL_LAYERS if layer not in self.layers and (self._root or layer != "uid")]
        if missing:
            log.warning("candidates run with weaker isolation here; missing layers: %s", ", ".join(missing))
        atexit.register(self._cgroups.close)

    @property
    def freeze(self) -> Freeze:
        """What keeps a process still between its turns: control groups, or only stop signals."""
        if self._cgroups.unified is not None:
            return "cgroup-v2"
        return "cgroup-v1" if self._cgroups.freezer is not None else "self-stop"

    def close(self) -> None:
        """Remove this process's control groups, killing what is left in them."""
        self._cgroups.close()

    def start(
        self,
        program: Sequence[str],
        confinement: Confinement,
        *,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
    ) -> Process:
        """Start a program and return at once.

        Args:
            program: Absolute path and arguments.
            confinement: What it may see and use.
            stdout: As for `subprocess.Popen`; None discards.
            stderr: The same.

        Raises:
            SandboxError: if the launcher cannot be started.
        """
        with contextlib.ExitStack() as undo:
            group = Group(None, None)
            if confinement.group:
                group = self._cgroups.create(memory_bytes=confinement.memory_bytes, processes=confinement.processes + 1)
                undo.callback(discard, group)
            uid = None
            if self._slots and confinement.user_slot:
                uid = self._slots.acquire()
                undo.callback(self._slots.release, uid)
                if confinement.writable is not None:
                    _give_folder(confinement.writable, uid)
            status_read, status_write = os.pipe2(os.O_CLOEXEC)
            undo.callback(os.close, status_read)
            alive_read, alive_write = os.pipe2(os.O_CLOEXEC)
            undo.callback(os.close, alive_write)
            options = self._options(confinement, uid)
            for option, folder in (("--cgroup", group.unified), ("--freezer", group.freezer)):
                options += [option, str(folder)] if folder else []
            options += ["--status", str(status_write), "--alive", str(alive_read)]
            try:
                launcher = subprocess.Popen(  # noqa: S603  # our own launcher; what follows `--` is the hostile program
                    [str(self._launcher), *options, "--", *program],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL if stdout is None else stdout,
                    stderr=subprocess.DEVNULL if stderr is None else stderr,
                    env=dict(confinement.environment),
                    pass_fds=(status_write, alive_read, *confinement.keep),
                )
            except OSError as error:
                raise SandboxError(f"the sandbox's launcher {self._launcher} could not be started: {error}") from error
            finally:
                os.close(status_write)
                os.close(alive_read)
            undo.pop_all()
        slots = self._slots

        def release() -> None:
            if uid is not None and slots:
                slots.release(uid)

        return Process(launcher, status_read, alive_write, group, release)

    def run(
        self, program: Sequence[str], confinement: Confinement, *, output_bytes: int = 1 << 20
    ) -> tuple[Ended, bytes]:
        """Run a program to its end and return how it ended and what it wrote to stdout and stderr.

        Raises:
            SandboxError: if the sandbox fails.
        """
        with tempfile.TemporaryFile() as output:
            process = self.start(program, confinement, stdout=output, stderr=output)
            try:
                ended = process.wait(time.monotonic() + confinement.wall_seconds + START_SECONDS)
            finally:
                process.close()
            if ended is None:
                raise SandboxError(f"the launcher did not end {program[0]} at its wall limit")
            output.seek(0)
            return ended, output.read(output_bytes)

    def _options(self, confinement: Confinement, uid: int | None) -> list[str]:
        options = ["--landlock", "--wall", repr(confinement.wall_seconds), *self._privileges(uid)]
        limits = {
            "as": confinement.memory_bytes,
            "cpu": math.ceil(confinement.cpu_seconds),
            "fsize": confinement.file_bytes,
            "nofile": 256,
            "core": 0,
            "memlock": 0,
        }
        if uid is not None or (self._namespaces and not self._root):
            # Without a user id or user namespace of its own the limit would count this user's other processes.
            limits["nproc"] = confinement.processes
        readable = (*self._readable, *(str(path) for path in confinement.readable))
        repeated = (
            ("--limit", (f"{name}={value}" for name, value in limits.items())),
            ("--read", readable),
            ("--cpu", map(str, confinement.cpus)),
            ("--keep", map(str, confinement.keep)),
        )
        for option, values in repeated:
            for value in values:
                options += [option, value]
        options += ["--write", os.devnull]
        work = "/" if confinement.writable is None else str(confinement.writable)
        options += ["--work", work] if confinement.writable is None else ["--write", work, "--work", work]
        return options

    def _privileges(self, uid: int | None) -> list[str]:
        options = []
        if self._namespaces:
            options.append("--namespaces")
            for path in HIDDEN:
                options += ["--hide", path]
            if not self._root:
                options.append("--userns")
        if uid is not None:
            options += ["--uid", str(uid)]
        if self._filter:
            options += ["--seccomp", str(self._filter)]
        return options

    def _probe(self) -> tuple[str, ...]:
        confinement = Confinement(
            wall_seconds=START_SECONDS,
            cpu_seconds=START_SECONDS,
            memory_bytes=1 << 30,
            readable=(Path("/bin/true").resolve(),),
            group=False,
        )
        for group in (True, False):
            for namespaces in (True, False):
                self._namespaces = namespaces
                try:
                    layers = self._layers_of(replace(confinement, group=group))
                except SandboxError as error:
                    log.info("sandbox probe (namespaces %s, group %s): %s", namespaces, group, error)
                    continue
                if not group:
                    self._cgroups.abandon()
                return layers
        raise SandboxError("no sandbox could be started; the reasons are in the log above")

    def _layers_of(self, confinement: Confinement) -> tuple[str, ...]:
        process = self.start(["/bin/true"], confinement)
        try:
            process.wait_started(time.monotonic() + START_SECONDS)
            ended = process.wait(time.monotonic() + START_SECONDS)
        finally:
            process.close()
        if ended is None or (ended.kind, ended.number) != ("code", 0):
            raise SandboxError(f"/bin/true did not end well: {ended}")
        return process.layers


def _give_folder(folder: Path, uid: int) -> None:
    os.chown(folder, uid, uid)
    for entry in folder.iterdir():
        os.chown(entry, uid, uid, follow_symlinks=False)


def _store_filter(code: bytes, folder: Path) -> Path:
    path = folder / "tools.bpf"
    if not path.exists() or path.read_bytes() != code:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(code)
        with contextlib.suppress(OSError):
            Path(file.name).chmod(0o644)
        Path(file.name).rename(path)
    return path
