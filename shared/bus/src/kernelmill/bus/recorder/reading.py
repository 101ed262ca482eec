"""Reads of the log in the library's shapes: one stream, a page of the log, and what arrives."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from eventsourcing.persistence import Notification, StoredEvent

from kernelmill.bus.errors import HaltedError, MalformedMessageError
from kernelmill.bus.log import Log, StoredMessage, StreamAddress
from kernelmill.bus.recorder.codec import Codec
from kernelmill.bus.recorder.ordinals import Ordinals

_PAGE: Final = 512


class Reading:
    """Turns messages into notifications, and passes over what people have voided."""

    def __init__(self, log: Log, codec: Codec) -> None:
        self._log = log
        self._codec = codec
        self._ordinals = Ordinals(log)

    async def stream(self, address: StreamAddress) -> list[tuple[int, int, StoredEvent | None]]:
        """Return sequence, place and event of each message of a stream; None where it is voided or may be skipped."""
        voided = await self._log.voided()
        found: list[tuple[int, int, StoredEvent | None]] = []
        async for message in self._log.stored(address):
            ordinal = len(found) + 1
            event = None if message.sequence in voided else self._codec.read(message, ordinal)
            found.append((message.sequence, ordinal, event))
        return found

    async def page(self, after: int, stop: int | None, limit: int, topics: Sequence[str]) -> list[Notification]:
        """Return up to `limit` notifications with ids above `after` and not above `stop`, of the topics or of all."""
        voided = await self._log.voided()
        found: list[Notification] = []
        position = after
        while len(found) < limit:
            asked = _PAGE if topics else min(limit - len(found), _PAGE)
            messages = [message async for message in self._log.stored(after=position, limit=asked)]
            for message in messages:
                position = message.sequence
                if len(found) == limit or (stop is not None and position > stop):
                    return found
                notification = await self._notification(message, voided)
                if notification is not None and (not topics or notification.topic in topics):
                    found.append(notification)
            if len(messages) < asked:
                break
        return found

    async def arrivals(self, after: int, topics: Sequence[str]) -> AsyncGenerator[Notification, None]:
        """Yield the notifications with ids above `after`, and go on with new ones until closed."""
        voided = await self._log.voided()
        async with aclosing(self._log.arrivals(after=after)) as messages:
            async for message in messages:
                try:
                    notification = await self._notification(message, voided)
                except HaltedError:
                    # Somebody may have voided it since this reader began.
                    voided = await self._log.voided()
                    notification = await self._notification(message, voided)
                if notification is not None and (not topics or notification.topic in topics):
                    yield notification

    async def _notification(self, message: StoredMessage, voided: set[int]) -> Notification | None:
        if message.sequence in voided:
            return None
        try:
            ordinal = await self._ordinals.of(message)
        except MalformedMessageError as error:
            raise HaltedError(message.sequence, str(error)) from error
        event = self._codec.read(message, ordinal)
        if event is None:
            return None
        return Notification(event.originator_id, event.originator_version, event.topic, event.state, message.sequence)
