"""A connection that only reads messages: no queue, no task and no callback between the socket and its reader."""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import ParseResult

from nats.aio.client import Client

from kernelmill.bus.jetstream.channel import Channel
from kernelmill.bus.jetstream.login import Login
from kernelmill.bus.jetstream.protocol import Control, Delivered, Parser, ProtocolError, status_of

_CONNECT_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 5.0
_SCHEMES: Final = frozenset({"nats", "tls"})


@dataclass(frozen=True)
class Access:
    """Where the servers are, and who connects."""

    client: Client
    """A client that knows the servers, those that it found out about included."""
    login: Login = field(default_factory=Login)


class WireError(Exception):
    """The connection or the server fails a read: another try on a new connection may succeed."""


class RefusedError(WireError):
    """The server refuses what was asked, and would again."""


class Wire:
    """One connection after its handshake. Make it with `open_wire`."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._parser = Parser()
        self._inbox = f"_INBOX.{secrets.token_hex(11)}"
        self._answers = f"{self._inbox}.answers".encode()
        self.pulls = f"{self._inbox}.pulls"
        """Subject to which pulled messages and what the server says about pulls are sent."""
        self.bytes_taken = 0
        """Bytes that have come so far."""
        self._early: deque[Control | Delivered] = deque()

    async def greet(self, server: ParseResult, access: Access) -> None:
        """Shake hands.

        Raises:
            RefusedError: the server does not accept the login.
            WireError: it does not speak as expected.
            OSError: the connection ends, or TLS fails.
        """
        info = await self._control(b"INFO")
        greeting: dict[str, Any] = json.loads(info.text)
        if greeting.get("tls_required") or server.scheme == "tls":
            await self._channel.start_tls(access.client.ssl_context, server.hostname or "")
        self.send(access.login.connect_line(server, greeting), b"PING\r\n")
        await self._control(b"PONG")
        self.send(f"SUB {self._inbox}.* 1\r\n".encode())

    def send(self, *lines: bytes) -> None:
        """Send lines of the protocol."""
        self._channel.write(b"".join(lines))

    def publish(self, subject: str, reply: str, payload: dict[str, Any]) -> None:
        """Send a JSON message."""
        body = json.dumps(payload).encode()
        self.send(f"PUB {subject} {reply} {len(body)}\r\n".encode(), body, b"\r\n")

    async def ask(self, subject: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request of the JetStream API. Only before the first pull.

        Raises:
            RefusedError: the server answers with an error.
            WireError: there is no answer.
        """
        self.publish(subject, self._answers.decode(), payload)
        async with asyncio.timeout(_ANSWER_SECONDS):
            while True:
                for message in await self.receive():
                    if message.subject != self._answers:
                        continue
                    if (status := status_of(message)) is not None:
                        raise WireError(f"{subject} is not answered: {status.code} {status.text}")
                    answer: dict[str, Any] = json.loads(message.body)
                    if (error := answer.get("error")) is None:
                        return answer
                    text = f"{subject}: {error.get('description', error)}"
                    raise WireError(text) if error.get("code") == 503 else RefusedError(text)

    async def receive(self) -> list[Delivered]:
        """Return the messages that have come, maybe none; pings are answered.

        Raises:
            RefusedError: the server forbids something.
            WireError: the server reports another error, or does not follow the protocol.
            OSError: the connection has ended.
        """
        messages: list[Delivered] = []
        for frame in await self._frames():
            if isinstance(frame, Delivered):
                messages.append(frame)
            else:
                self._heed(frame)
        return messages

    async def _control(self, verb: bytes) -> Control:
        """Return the next line of a kind; the server may ping before it."""
        while True:
            while self._early:
                frame = self._early.popleft()
                if isinstance(frame, Control):
                    if frame.verb == verb:
                        return frame
                    self._heed(frame)
            self._early.extend(await self._frames())

    async def _frames(self) -> list[Control | Delivered]:
        try:
            data = await self._channel.take()
            self.bytes_taken += len(data)
            return self._parser.feed(data)
        except ProtocolError as error:
            raise WireError(f"what the server sends cannot be read: {error}") from error

    def _heed(self, line: Control) -> None:
        if line.verb == b"PING":
            self.send(b"PONG\r\n")
        elif line.verb == b"-ERR":
            text = line.text.decode("utf-8", "replace")
            final = "authorization" in text.lower() or "permissions" in text.lower()
            raise (RefusedError if final else WireError)(f"the server says {text}")


@asynccontextmanager
async def open_wire(access: Access) -> AsyncIterator[Wire]:
    """Yield a connection of its own to a server that the client knows: the one that it uses, or the first to answer.

    Raises:
        RefusedError: the server does not accept the login, or no server speaks the plain protocol.
        WireError: no server answers.
    """
    servers = [server for server in _servers(access.client) if server.scheme in _SCHEMES]
    if not servers:
        raise RefusedError("the log is read over nats:// or tls://, and no server has such an address")
    causes: list[str] = []
    for server in servers:
        channel: Channel | None = None
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                channel = await Channel.open(server.hostname or "127.0.0.1", server.port or 4222)
                wire = Wire(channel)
                await wire.greet(server, access)
        except (OSError, TimeoutError, ValueError, WireError) as error:
            if channel is not None:
                channel.close()
            if isinstance(error, RefusedError):
                raise
            causes.append(f"{server.hostname}:{server.port}: {error or 'no answer'}")
            continue
        try:
            yield wire
        finally:
            channel.close()
        return
    raise WireError("; ".join(causes))


def _servers(client: Client) -> list[ParseResult]:
    """Return the servers, the one in use first."""
    used = client.connected_url
    others = [server for server in client.servers if server != used]
    return others if used is None else [used, *others]
