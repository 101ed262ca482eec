"""The recorder: appends and reads of the log under the library's interface."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from eventsourcing.persistence import ApplicationRecorder, IntegrityError, Notification, StoredEvent

from kernelmill.bus.log import Log, StreamAddress
from kernelmill.bus.recorder.codec import Codec, WireCodec
from kernelmill.bus.recorder.errors import translated
from kernelmill.bus.recorder.reading import Reading
from kernelmill.bus.recorder.subscription import LogSubscription
from kernelmill.bus.recorder.thread import LoopThread
from kernelmill.events import EventBase


class LogRecorder(ApplicationRecorder):
    """The log as the library sees it: notification ids are the log's sequences, originators are its streams.

    Voided events are passed over and keep their version. All methods block, and raise the library's errors:
    IntegrityError, DataError, OperationalError, and InterfaceError after the thread was closed.
    """

    def __init__(self, thread: LoopThread, log: Log, codec: Codec | None = None) -> None:
        """Make a recorder.

        Args:
            thread: runs the log.
            log: opened in the thread's loop.
            codec: what stored events look like on the log; the product's own by default.
        """
        self._thread = thread
        self._log = log
        self._codec = codec or WireCodec()
        self._reading = Reading(log, self._codec)

    def insert_events(self, stored_events: Sequence[StoredEvent], **_kwargs: Any) -> Sequence[int]:
        """Append all of the events or none, and return their sequences.

        Raises:
            IntegrityError: a version is taken or leaves a gap: load the stream and decide again.
            DataError: an event is not one of the log's, or too large.
        """
        with translated():
            return self._thread.call(self._insert(stored_events))

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Return the events of one stream with versions in (`gt`, `lte`], in order or from the last one back."""
        with translated():
            rows = self._thread.call(self._reading.stream(self._codec.address(originator_id)))
        found = [
            event
            for _, _, event in rows
            if event is not None
            and (gt is None or event.originator_version > gt)
            and (lte is None or event.originator_version <= lte)
        ]
        return (found[::-1] if desc else found)[:limit]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return up to `limit` events of the log from `start` to `stop`, of the topics or of all."""
        after = max((start or 0) - (1 if inclusive_of_start else 0), 0)
        with translated():
            return self._thread.call(self._reading.page(after, stop, limit, topics))

    def max_notification_id(self) -> int | None:
        """Return the sequence of the newest event, None for an empty log."""
        with translated():
            return self._thread.call(self._log.last_sequence()) or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> LogSubscription:
        """Return an iterator over the events with sequences above `gt`, which waits for new ones."""
        return LogSubscription(self, self._thread, self._reading, gt, topics)

    async def _insert(self, stored_events: Sequence[StoredEvent]) -> list[int]:
        events: list[EventBase] = []
        expected: dict[StreamAddress, int] = {}
        versions: dict[StreamAddress, int | None] = {}
        for stored in stored_events:
            event = self._codec.event(stored)
            address = StreamAddress.of(event)
            if address not in expected:
                expected[address], versions[address] = await self._standing(address)
            if not self._codec.follows(stored.originator_version, versions[address]):
                raise IntegrityError(
                    f"version {stored.originator_version} of {stored.originator_id} does not follow"
                    f" {versions[address] or 'the empty stream'}; load the stream and decide again"
                )
            versions[address] = stored.originator_version
            events.append(event)
        return await self._log.append_together(events, expected=expected)

    async def _standing(self, address: StreamAddress) -> tuple[int, int | None]:
        """Return sequence and version of a stream's last message."""
        rows = await self._reading.stream(address)
        if not rows:
            return 0, None
        sequence, ordinal, event = rows[-1]
        return sequence, ordinal if event is None else event.originator_version
