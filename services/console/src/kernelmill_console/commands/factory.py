"""Commands that start, stop and look at the factory itself: up, down, status."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from pydantic import BaseModel

from kernelmill.folds import WorldFold
from kernelmill_console.commands.dead_letters import letters
from kernelmill_console.commands.running import Json
from kernelmill_console.errors import SupervisorError
from kernelmill_console.output import PEOPLE, print_json, print_rows
from kernelmill_console.reach import DEFAULT_DATA, reach_log, run_to_end
from kernelmill_console.supervisor import SERVICES, Supervisor, running_address

_START_SECONDS = 30.0
_STOP_SECONDS = 60.0


class NodeRow(BaseModel):
    """One node of `status`."""

    node: str
    target: str
    state: str
    fingerprint: str
    freeze: str
    joined: datetime


def register(app: App) -> None:
    """Add the commands to the command line."""
    app.command(up)
    app.command(down)
    app.command(status)


def up(
    *,
    data: Path = DEFAULT_DATA,
    scale: tuple[str, ...] = (),
    foreground: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Start nats-server and all services, and leave them running.

    Parameters
    ----------
    data
        Data folder: log, caches, service logs.
    scale
        How many of a role, for example `--scale verifier=2`; default one each.
    foreground
        Stay in the foreground until Ctrl-C.
    """
    counts = _counts(scale)
    if foreground:
        return run_to_end(lambda: _serve(data, counts))
    return run_to_end(lambda: _detach(data, scale))


def down(*, data: Path = DEFAULT_DATA) -> int:
    """Stop what `up` started; services finish or return what is in hand."""
    return run_to_end(lambda: _stop(data))


def status(*, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Say what runs on the data folder, which nodes joined and how long the log is."""
    return run_to_end(lambda: _status(data, as_json=as_json))


def _counts(scale: tuple[str, ...]) -> dict[str, int]:
    counts = {}
    for item in scale:
        role, _, number = item.partition("=")
        if role not in SERVICES or not number.isdigit():
            raise SupervisorError(f"--scale {item}: write ROLE=NUMBER with a role of {', '.join(SERVICES)}")
        counts[role] = int(number)
    return counts


async def _serve(data: Path, counts: dict[str, int]) -> int:
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    supervisor = Supervisor(data, counts)
    try:
        await supervisor.start()
        await stopping.wait()
    finally:
        await supervisor.stop()
    return 0


async def _detach(data: Path, scale: tuple[str, ...]) -> int:
    running = running_address(data)
    if running is not None:
        raise SupervisorError(
            f"the factory on {data} already runs as process {running[1]}; stop it with `kernelmill down`"
        )
    (data / "logs").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "kernelmill.bus.launcher", "up", "--foreground", "--data", str(data)]
    for item in scale:
        command += ["--scale", item]
    with (data / "logs" / "supervisor.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program, detached on purpose
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    deadline = time.monotonic() + _START_SECONDS
    while running_address(data) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise SupervisorError(f"the factory did not start: look into {data / 'logs' / 'supervisor.log'}")
        await asyncio.sleep(0.05)
    PEOPLE.print(
        f"the factory on {data} runs as process {process.pid}; stop it with `kernelmill down --data {data}`",
        soft_wrap=True,
    )
    return 0


async def _stop(data: Path) -> int:
    running = running_address(data)
    if running is None:
        PEOPLE.print(f"nothing runs on {data}", soft_wrap=True)
        return 0
    pid = running[1]
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while running_address(data) is not None:
        if time.monotonic() > deadline:
            raise SupervisorError(
                f"process {pid} has not stopped within {_STOP_SECONDS:.0f} s: look into {data / 'logs'}"
            )
        await asyncio.sleep(0.05)
    PEOPLE.print(f"stopped the factory on {data}", soft_wrap=True)
    return 0


async def _status(data: Path, *, as_json: bool) -> int:
    running = running_address(data)
    world, events = WorldFold(), 0
    async with reach_log(data) as bus:
        log_id = bus.log.log_id
        dead = len(await letters(bus))
        async for record in bus.log.replay():
            world.apply(record.sequence, record.event)
            events = record.sequence
    nodes = [
        NodeRow(
            node=name,
            target=node.joined.target,
            state="quarantined" if node.quarantined else "left" if node.left else "live",
            fingerprint=node.fingerprint[:12],
            freeze=node.joined.sandboxing.freeze,
            joined=node.joined.recorded_at.astimezone(UTC),
        )
        for name, node in world.nodes.items()
    ]
    if as_json:
        print_json(
            {
                "running": running[1] if running else None,
                "log": log_id,
                "events": events,
                "nodes": nodes,
                "dead_letters": dead,
            }
        )
        return 0
    PEOPLE.print(
        f"factory: {f'runs as process {running[1]}' if running else 'stopped'}; log {log_id}, {events} events",
        soft_wrap=True,
    )
    columns = [
        ("node", "node"),
        ("target", "target"),
        ("state", "state"),
        ("fingerprint", "fingerprint"),
        ("freeze", "freeze"),
    ]
    print_rows(nodes, columns, as_json=False, empty="no node has joined")
    if dead:
        PEOPLE.print(f"{dead} messages were given up by a worker: see `kernelmill dead-letters`", soft_wrap=True)
    return 0
