"""Runs nats-server and the services as processes of their own, and sees to it that none outlives the supervisor."""

import asyncio
import ctypes
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kernelmill.bus.server import EmbeddedServer
from kernelmill_console.errors import SupervisorError

SERVICES = ("verifier", "gpu-bench", "planner", "agent-runner", "lessons")
"""Roles in the order in which they are started."""

_PR_SET_PDEATHSIG = 1
_STOP_SECONDS = 15.0
_QUICK_DEATH_SECONDS = 5.0
_QUICK_DEATHS_ALLOWED = 5


@dataclass
class ServiceProcess:
    """One service process and how it has fared."""

    role: str
    number: int
    process: asyncio.subprocess.Process | None = None
    started: float = 0.0
    restarts: int = 0
    quick_deaths: int = 0

    @property
    def name(self) -> str:
        """The instance's name."""
        return f"{self.role}-{self.number}"


@dataclass
class Supervisor:
    """Starts, watches, restarts and stops everything that belongs to one data folder."""

    data: Path
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many of each role; default one each."""
    roles: Sequence[str] = SERVICES
    services: list[ServiceProcess] = field(default_factory=list)
    _server: EmbeddedServer | None = None
    _lock: int | None = None
    _watchers: list[asyncio.Task[None]] = field(default_factory=list)
    _stopping: bool = False

    @property
    def url(self) -> str:
        """Address of the server, with credentials."""
        if self._server is None:
            raise SupervisorError("the supervisor has not been started")
        return self._server.url

    @property
    def server_pid(self) -> int | None:
        """Process id of the server while it runs."""
        return self._server.pid if self._server is not None else None

    async def start(self) -> None:
        """Start the server and the services.

        Raises:
            SupervisorError: another supervisor holds the data folder, or the server does not come up.
        """
        for folder in ("run", "logs", "cache"):
            (self.data / folder).mkdir(parents=True, exist_ok=True)
        self._take_lock()
        self._server = EmbeddedServer(self.data)
        await self._server.start()
        write_address(self.data, self._server.url)
        self.services = [
            ServiceProcess(role, number) for role in self.roles for number in range(1, self.counts.get(role, 1) + 1)
        ]
        for service in self.services:
            await self._spawn(service)
            self._watchers.append(asyncio.create_task(self._watch(service)))
        self._watchers.append(asyncio.create_task(self._watch_server()))

    async def stop(self) -> None:
        """Let every service finish or return what is in hand, then stop the server."""
        self._stopping = True
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        await asyncio.gather(*(self._stop_service(service) for service in self.services))
        if self._server is not None:
            await self._server.stop()
        with suppress(FileNotFoundError):
            address_file(self.data).unlink()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_lock(self) -> None:
        lock = os.open(self.data / "run" / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode() or "another process"
            os.close(lock)
            raise SupervisorError(
                f"the data folder {self.data} is in use by process {holder.strip()}; stop it with `kernelmill down`, "
                "or name another folder with --data"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        self._lock = lock

    async def _spawn(self, service: ServiceProcess) -> None:
        environment = os.environ | {
            "KERNELMILL_NATS_URL": self.url,
            "KERNELMILL_DATA": str(self.data),
            "KERNELMILL_INSTANCE": service.name,
        }
        with (self.data / "logs" / f"{service.name}.log").open("ab") as log:
            service.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "kernelmill.bus.launcher",
                "service",
                service.role,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        service.started = time.monotonic()

    async def _watch(self, service: ServiceProcess) -> None:
        while service.process is not None:
            await service.process.wait()
            quick = time.monotonic() - service.started < _QUICK_DEATH_SECONDS
            service.quick_deaths = service.quick_deaths + 1 if quick else 0
            if service.quick_deaths > _QUICK_DEATHS_ALLOWED:
                service.process = None
                return
            await asyncio.sleep(min(0.2 * 2**service.quick_deaths, 5.0))
            service.restarts += 1
            await self._spawn(service)

    async def _watch_server(self) -> None:
        while self._server is not None:
            await self._server.wait()
            await self._server.start()

    async def _stop_service(self, service: ServiceProcess) -> None:
        process = service.process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def failed(self) -> list[str]:
        """Return the names of services that were given up after dying again and again."""
        return [service.name for service in self.services if service.process is None]


def _die_with_parent() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def address_file(data: Path) -> Path:
    """Return the file in which a running supervisor leaves its server's address (mode 0600: it holds credentials)."""
    return data / "run" / "address.json"


def write_address(data: Path, url: str) -> None:
    """Leave the address for other commands on the same data folder."""
    path = address_file(data)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"url": url, "pid": os.getpid()}, file)


def running_address(data: Path) -> tuple[str, int] | None:
    """Return address and process id of the supervisor that runs on the data folder, or None."""
    try:
        content = json.loads(address_file(data).read_text())
        os.kill(int(content["pid"]), 0)
    except (FileNotFoundError, ProcessLookupError, json.JSONDecodeError, KeyError):
        return None
    return str(content["url"]), int(content["pid"])
