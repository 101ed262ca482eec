"""Reaches a log: the running factory's, or, when nothing runs, the data folder's own server for one command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from kernelmill.bus import Bus, connect
from kernelmill_console.errors import ConsoleError, NothingRunsError
from kernelmill_console.supervisor import SERVICES, Supervisor, running_address

DEFAULT_DATA = Path(".kernelmill")


@asynccontextmanager
async def reach_log(data: Path) -> AsyncIterator[Bus]:
    """Yield a bus on the data folder's log, for reading; starts the server alone when no factory runs.

    Raises:
        NothingRunsError: the folder holds no log.
    """
    running = running_address(data)
    if running is not None:
        async with connect(running[0], role="console") as bus:
            yield bus
        return
    if not (data / "nats").is_dir():
        raise NothingRunsError(
            f"{data} holds no log: start with `kernelmill run PROBLEM`, or name the folder with --data"
        )
    supervisor = Supervisor(data, roles=())
    await supervisor.start()
    try:
        async with connect(supervisor.url, role="console") as bus:
            yield bus
    finally:
        await supervisor.stop()


@asynccontextmanager
async def reach_factory(data: Path, roles: Sequence[str] = SERVICES) -> AsyncIterator[tuple[Bus, Supervisor | None]]:
    """Yield a bus on a factory: the running one, or one of the services in `roles` that ends with the command."""
    running = running_address(data)
    if running is not None:
        async with connect(running[0], role="console") as bus:
            yield bus, None
        return
    supervisor = Supervisor(data, roles=roles)
    try:
        await supervisor.start()
        async with connect(supervisor.url, role="console") as bus:
            yield bus, supervisor
    finally:
        await supervisor.stop()


def run_to_end(work: Callable[[], Awaitable[int]]) -> int:
    """Run a command's coroutine; a ConsoleError becomes one message for a person and exit code 2."""
    try:
        return asyncio.run(_as_coroutine(work))
    except ConsoleError as error:
        from kernelmill_console.output import complain  # noqa: PLC0415 - only where something went wrong

        complain(str(error))
        return 2
    except KeyboardInterrupt:
        return 130


async def _as_coroutine(work: Callable[[], Awaitable[int]]) -> int:
    return await work()
