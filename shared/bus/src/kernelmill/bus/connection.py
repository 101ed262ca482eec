"""A connection to the bus: log, blobs, secrets and questions over one client."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from weakref import WeakSet

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from kernelmill.bus.errors import NoAnswerError
from kernelmill.bus.jetstream import JetStreamBlobs, JetStreamLog, JetStreamSecrets, provision
from kernelmill.bus.jetstream.login import Login
from kernelmill.bus.log import Blobs, Log, Secrets
from kernelmill.bus.settings import ServiceSettings

ASK: Final = "kernelmill.ask"
"""Root of the subjects on which services answer questions."""

_STARTING_SECONDS: Final = 20.0
_AGAIN_SECONDS: Final = 0.1

_logger = structlog.get_logger(__name__)
_closing: WeakSet[Client] = WeakSet()


@dataclass(frozen=True)
class Bus:
    """What a service or a command gets of the bus."""

    log: Log
    blobs: Blobs
    secrets: Secrets
    client: Client | None = None
    """The connection; None for a bus in memory."""

    async def ask(self, what: str, payload: bytes, *, timeout: float) -> bytes:  # noqa: ASYNC109 - a deadline is part of asking
        """Return the answer of the service that answers `what`, for example `lessons.advice`.

        A service that is just starting does not listen yet, and the server says so at once: it is given time to.

        Raises:
            NoAnswerError: nobody listened (for 20 seconds at most), or nobody answered within `timeout` seconds.
        """
        if self.client is None:
            raise NoAnswerError(f"nobody answers '{what}' on a bus in memory")
        started = time.monotonic()
        while True:
            try:
                left = max(timeout - (time.monotonic() - started), _AGAIN_SECONDS)
                reply = await self.client.request(f"{ASK}.{what}", payload, timeout=left)
            except NoRespondersError as error:
                waited = time.monotonic() - started
                if waited >= min(timeout, _STARTING_SECONDS):
                    raise NoAnswerError(f"nobody listens to '{what}' for {waited:.0f} s: is the service up?") from error
                await asyncio.sleep(_AGAIN_SECONDS)
            except (TimeoutError, NatsError) as error:
                raise NoAnswerError(f"'{what}' was not answered within {timeout:g} s: {error}") from error
            else:
                return reply.data


async def open_client(settings: ServiceSettings, name: str) -> Client:
    """Return a client that reconnects for ever; each change of the connection is logged once."""

    async def lost() -> None:
        if client not in _closing:
            _logger.warning("the connection to the server is lost; trying again")

    async def regained() -> None:
        _logger.info("connected to the server again")

    async def failed(_error: Exception) -> None:
        return

    client = Client()
    await client.connect(
        settings.servers(),
        name=name,
        user=settings.nats_user,
        password=settings.password(),
        user_credentials=str(settings.nats_credentials) if settings.nats_credentials else None,
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        connect_timeout=5,
        ping_interval=10,
        disconnected_cb=lost,
        reconnected_cb=regained,
        error_cb=failed,
        pending_size=16 << 20,
    )
    return client


@asynccontextmanager
async def connect(url: str, *, role: str) -> AsyncIterator[Bus]:
    """Yield a bus on the server at `url`, provisioned if it was not."""
    settings = ServiceSettings(nats_url=url)
    client = await open_client(settings, role)
    try:
        yield await bus_over(client, role, settings)
    finally:
        await close_client(client)


async def close_client(client: Client) -> None:
    """Close a client on purpose: nothing is said about a lost connection."""
    _closing.add(client)
    await client.close()


async def bus_over(client: Client, role: str, settings: ServiceSettings) -> Bus:
    """Return the bus over a client that was opened with the same settings, provisioned if it was not."""
    await provision(client.jetstream(timeout=10.0), replicas=settings.replicas)
    source = f"kernelmill/{role}/{settings.instance}"
    login = Login(source, settings.nats_user, settings.password(), settings.nats_credentials)
    log = await JetStreamLog.open(client, source, login)
    return Bus(log, JetStreamBlobs(client, role), JetStreamSecrets(client), client)
