"""Pulls the messages of a stream over a wire: two outstanding pulls, each message checked to follow the last."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, Final

from kernelmill.bus.jetstream.lazy import WireHeaders
from kernelmill.bus.jetstream.protocol import Delivered, ProtocolError, Status, header_lines, status_of
from kernelmill.bus.jetstream.wire import Wire, WireError
from kernelmill.bus.log import StoredMessage
from kernelmill.identity import new_id

_PULL: Final = 5000
"""Most messages of one pull; the next is sent as soon as no more than one pull is outstanding."""
_FIRST_PULL: Final = 64
"""Messages of the first pulls, before it is known how large they are: two of the largest make 32 MiB."""
_PULL_BYTES: Final = 8 << 20
"""About so many bytes a pull should bring: bounds what the server holds for a slow reader. The limit that a pull can
state is of no use: the server drops a pull that meets it to the byte without a word."""
_PULL_SECONDS: Final = 2.0
_SILENCE: Final = 3.0
"""Seconds without a message, longer than a pull lives: it is lost, or the server is."""
_IDLE_SECONDS: Final = 60.0
"""After this the server forgets the consumer of a reader that was killed."""
_CONTROL: Final = 100


class Puller:
    """One ephemeral consumer over a whole stream, and how many messages are still on their way."""

    def __init__(self, wire: Wire, stream: str, *, after: int, until: int) -> None:
        self._wire = wire
        self._stream = stream
        self._name = new_id("read")
        self._after = after
        self._until = until
        self._unasked = until - after
        self._outstanding = 0
        self._size = _FIRST_PULL

    async def batches(self) -> AsyncGenerator[list[StoredMessage]]:
        """Yield the messages with sequences above `after` up to `until`, as many at a time as the socket delivers.

        Raises:
            RefusedError: the server refuses the consumer.
            WireError: it ends the consumer, or a message was lost on the way.
            OSError: the connection has ended.
            TimeoutError: nothing has come for three seconds.
        """
        loop = asyncio.get_running_loop()
        await self._create()
        try:
            delivered, last = 0, self._after
            deadline = loop.time() + _SILENCE
            while last < self._until:
                self._pull()
                before = self._wire.bytes_taken
                async with asyncio.timeout_at(deadline):
                    messages = await self._wire.receive()
                batch: list[StoredMessage] = []
                for message in messages:
                    if not message.reply.startswith(b"$JS.ACK."):
                        self._heed(message)
                        continue
                    last, number = _place(message.reply)
                    delivered += 1
                    if number != delivered:
                        raise WireError(f"delivery {delivered} of {self._stream} was lost, {number} came")
                    if last > self._until:
                        break
                    batch.append(StoredMessage(last, message.subject.decode(), WireHeaders(message.head), message.body))
                self._outstanding -= len(batch)
                if batch:
                    each = (self._wire.bytes_taken - before) / len(batch)
                    self._size = max(1, min(_PULL, self._size * 4, int(_PULL_BYTES / each)))
                    yield batch
                    deadline = loop.time() + _SILENCE
        finally:
            with suppress(OSError):
                self._wire.publish(f"$JS.API.CONSUMER.DELETE.{self._stream}.{self._name}", self._wire.pulls, {})

    async def _create(self) -> None:
        config: dict[str, Any] = {
            "name": self._name,
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self._after + 1,
            "ack_policy": "none",
            "replay_policy": "instant",
            "inactive_threshold": int(_IDLE_SECONDS * 1e9),
            "num_replicas": 1,
            "mem_storage": True,
        }
        await self._wire.ask(
            f"$JS.API.CONSUMER.CREATE.{self._stream}.{self._name}", {"stream_name": self._stream, "config": config}
        )

    def _pull(self) -> None:
        while self._unasked > 0 and self._outstanding <= self._size:
            wanted = min(self._size, self._unasked)
            self._unasked -= wanted
            self._outstanding += wanted
            self._wire.publish(
                f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}",
                self._wire.pulls,
                {"batch": wanted, "expires": int(_PULL_SECONDS * 1e9)},
            )

    def _heed(self, message: Delivered) -> None:
        """Take what the server says about a pull: one that ended early is asked for again."""
        try:
            status = status_of(message)
        except ProtocolError as error:
            raise WireError(str(error)) from error
        if status is None or status.code == _CONTROL:
            return
        rest = _rest(status)
        if rest is None:
            raise WireError(f"the server ends the read of {self._stream}: {status.code} {status.text}")
        self._outstanding -= rest
        self._unasked += rest


def _rest(status: Status) -> int | None:
    """Return how many messages a pull that ended did not bring; None where the consumer itself has ended."""
    text = header_lines(status.head).get("Nats-Pending-Messages", "")
    return int(text) if status.code in {408, 409} and text.isdigit() else None


def _place(reply: bytes) -> tuple[int, int]:
    """Return a message's sequence in the stream and its number among the deliveries, from its reply subject.

    It is `$JS.ACK.<stream>.<consumer>.<times>.<sequence>.<number>.<time>.<pending>`, or the longer form with domain
    and account before the stream.
    """
    tokens = reply.split(b".")
    first = 5 if len(tokens) == 9 else 7
    try:
        return int(tokens[first]), int(tokens[first + 1])
    except (ValueError, IndexError):
        raise WireError(f"{reply!r} does not say where a message stands") from None
