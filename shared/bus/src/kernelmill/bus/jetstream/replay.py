"""Reads a long part of a stream fast: over a connection of its own, through breaks of it, without silent gaps."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

import structlog

from kernelmill.bus.errors import HaltedError, LogUnavailableError
from kernelmill.bus.jetstream.provision import LOG_STREAM
from kernelmill.bus.jetstream.pulling import Puller
from kernelmill.bus.jetstream.wire import Access, RefusedError, WireError, open_wire
from kernelmill.bus.log import StoredMessage

_logger = structlog.get_logger(__name__)
_PATIENCE: Final = 10.0
"""Seconds without a new message after which the read ends with an error."""
_PAUSE: Final = 0.1


async def read_batches(
    access: Access,
    *,
    after: int,
    until: int,
    stream: str = LOG_STREAM,
    patience: float = _PATIENCE,
) -> AsyncGenerator[list[StoredMessage]]:
    """Yield all messages of a stream with sequences above `after` up to `until`, in order, in batches of any size.

    A broken connection is opened again and the read goes on behind the last message. Sequences that the stream itself
    lacks are left out: `whole` checks for them.

    Args:
        access: the servers, and who reads.
        after: only sequences above this.
        until: only sequences up to this, which the stream must have reached.
        stream: the stream.
        patience: seconds without a new message after which the read ends.

    Raises:
        LogUnavailableError: the server refuses the read, or nothing new came for `patience` seconds.
    """
    position = after
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    while position < until:
        try:
            async with (
                open_wire(access) as wire,
                aclosing(Puller(wire, stream, after=position, until=until).batches()) as batches,
            ):
                async for batch in batches:
                    position = batch[-1].sequence
                    yield batch
                    deadline = loop.time() + patience
        except RefusedError as error:
            raise LogUnavailableError(f"the server refuses to read {stream}: {error}") from error
        except (WireError, OSError) as error:
            if loop.time() >= deadline:
                raise LogUnavailableError(
                    f"reading {stream} got no further than sequence {position} for {patience:g} s: {error or 'silence'}"
                ) from error
            _logger.warning("a read broke; it goes on", stream=stream, position=position, why=str(error) or "silence")
            await asyncio.sleep(_PAUSE)
        else:
            return


async def whole(batches: AsyncIterator[list[StoredMessage]], after: int) -> AsyncIterator[list[StoredMessage]]:
    """Yield the batches, which must hold every sequence above `after`.

    Raises:
        HaltedError: the log lacks a message; a fold that went on would never know.
    """
    position = after
    async for batch in batches:
        for message in batch:
            position += 1
            if message.sequence != position:
                raise HaltedError(
                    position,
                    f"the messages from there up to {message.sequence - 1} are missing; restore the log from a copy",
                )
        yield batch
