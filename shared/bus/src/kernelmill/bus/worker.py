"""Handles the deliveries of one durable consumer: decode, keep alive, acknowledge, return."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import structlog
from faststream.nats import NatsMessage
from nats.errors import Error as NatsError

from kernelmill.bus.connection import Bus
from kernelmill.bus.errors import HaltedError
from kernelmill.bus.jetstream.provision import PARKED_ROOT
from kernelmill.bus.jetstream.reader import read_messages
from kernelmill.bus.log import StoredMessage
from kernelmill.bus.messages import Understanding
from kernelmill.bus.work import Delivery, RetryLaterError, Worker

_FIRST_DELAY: Final = 0.5
_LONGEST_DELAY: Final = 30.0

_logger = structlog.get_logger(__name__)


class DeliveryLoop:
    """Turns messages into calls of a worker's handler.

    A handler that returns is acknowledged. RetryLaterError gives the message back for its delay, any other exception
    for a growing one. What cannot be understood is parked where people find it, and never lost: the log keeps it.
    """

    def __init__(self, worker: Worker, bus: Bus, ack_wait: float) -> None:
        self._worker = worker
        self._bus = bus
        self._beat = ack_wait / 3.0
        self._in_hand: set[asyncio.Task[None]] = set()
        self.stopping = False

    async def handle(self, message: NatsMessage) -> None:
        """Handle one message of the broker."""
        if self.stopping:
            await message.nack()
            return
        task = asyncio.create_task(self._handle(message))
        self._in_hand.add(task)
        task.add_done_callback(self._in_hand.discard)
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)

    async def again(self, sequence: int) -> str:
        """Handle a message of the log once more on a person's request, and return why it failed, or nothing."""
        client = self._bus.client
        if client is None or self.stopping:
            return "the worker is stopping"
        found = [item async for item in read_messages(client, ">", after=sequence - 1, limit=1)]
        if not found or found[0].sequence != sequence:
            return f"the log holds no message {sequence}"
        try:
            recorded = Understanding().understand(found[0])
            if recorded is not None:
                await self._worker.handler(Delivery(sequence, recorded.event, 1))
        except Exception as error:  # noqa: BLE001 - whatever went wrong is the answer
            return f"{type(error).__name__}: {error}"
        return ""

    async def drain(self, seconds: float) -> None:
        """Let what is in hand finish within the given seconds; the rest is returned."""
        self.stopping = True
        if not self._in_hand:
            return
        _, late = await asyncio.wait(set(self._in_hand), timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _handle(self, message: NatsMessage) -> None:
        raw = message.raw_message
        metadata = raw.metadata
        stored = StoredMessage(metadata.sequence.stream, raw.subject, dict(raw.headers or {}), raw.data)
        try:
            recorded = Understanding().understand(stored)
        except HaltedError as error:
            await self._park(message, stored, str(error))
            return
        if recorded is None:
            await message.ack()
            return
        context = {
            key: str(value)
            for key in ("campaign", "candidate", "task")
            if (value := getattr(recorded.event, key, None)) is not None
        }
        with structlog.contextvars.bound_contextvars(
            worker=self._worker.durable, sequence=recorded.sequence, **context
        ):
            await self._call(message, Delivery(recorded.sequence, recorded.event, metadata.num_delivered or 1))

    async def _call(self, message: NatsMessage, delivery: Delivery) -> None:
        beating = asyncio.create_task(self._keep_alive(message))
        try:
            await self._worker.handler(delivery)
        except RetryLaterError as later:
            await message.nack(delay=later.delay)
        except asyncio.CancelledError:
            await message.nack()
            raise
        except Exception:
            delay = min(_FIRST_DELAY * 2.0 ** min(delivery.attempt - 1, 10), _LONGEST_DELAY)
            _logger.exception("handling failed; it is delivered again", kind=delivery.event.kind, delay=delay)
            await message.nack(delay=delay)
        else:
            await message.ack()
        finally:
            beating.cancel()

    async def _keep_alive(self, message: NatsMessage) -> None:
        while True:
            await asyncio.sleep(self._beat)
            with suppress(NatsError, OSError):
                await message.in_progress()

    async def _park(self, message: NatsMessage, stored: StoredMessage, why: str) -> None:
        _logger.error("a message cannot be understood; it is parked", sequence=stored.sequence, why=why)
        client = self._bus.client
        if client is not None:
            headers = {"Kernelmill-Sequence": str(stored.sequence), "Kernelmill-Why": why.replace("\n", " ")[:1000]}
            headers["Kernelmill-At"] = datetime.now(UTC).isoformat()
            await client.jetstream().publish(f"{PARKED_ROOT}.{self._worker.durable}", stored.body, headers=headers)
        await message.ack()
