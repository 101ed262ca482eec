"""Bytes in and out of a TCP connection, with or without TLS; who does not take them makes the peer wait."""

import asyncio
import ssl
from typing import Final

_MOST_WAITING: Final = 4 << 20
"""Bytes that may lie untaken before reading from the socket pauses."""


class Channel(asyncio.Protocol):
    """One connection. Make it with `Channel.open`."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._chunks: list[bytes] = []
        self._waiting = 0
        self._paused = False
        self._ended = False
        self._cause: Exception | None = None
        self._news = asyncio.Event()

    @classmethod
    async def open(cls, host: str, port: int) -> "Channel":
        """Return a connection to a server.

        Raises:
            OSError: it cannot be reached.
        """
        channel = cls()
        transport, _ = await asyncio.get_running_loop().create_connection(lambda: channel, host, port)
        channel._transport = transport
        return channel

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Go on under TLS.

        Raises:
            OSError: the handshake fails (`ssl.SSLError` is one).
        """
        self._transport = await asyncio.get_running_loop().start_tls(
            self._open_transport(), self, context, server_hostname=host
        )

    def write(self, data: bytes) -> None:
        """Send bytes; a client of this kind sends little, so nothing waits for them to leave.

        Raises:
            ConnectionError: the connection has ended.
        """
        self._open_transport().write(data)

    async def take(self) -> bytes:
        """Return what has come since the last call, at least one byte.

        Raises:
            ConnectionError: the connection has ended.
        """
        while not self._chunks:
            self._news.clear()
            if self._ended:
                raise ConnectionError("the server closed the connection") from self._cause
            await self._news.wait()
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._waiting = 0
        if self._paused:
            self._paused = False
            self._open_transport().resume_reading()
        return data

    def close(self) -> None:
        """Let what was written leave, then end; closing again changes nothing."""
        if self._transport is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Keep what came (called by the event loop)."""
        self._chunks.append(data)
        self._waiting += len(data)
        if self._waiting > _MOST_WAITING and not self._paused:
            self._paused = True
            self._open_transport().pause_reading()
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end (called by the event loop)."""
        self._ended, self._cause = True, exc
        self._paused = False
        self._news.set()

    def _open_transport(self) -> asyncio.Transport:
        if self._transport is None or self._ended:
            raise ConnectionError("the connection has ended") from self._cause
        return self._transport
