"""An iterator over what arrives on the log, for one thread, that another thread can stop."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from eventsourcing.persistence import InterfaceError, Notification, Subscription

from kernelmill.bus.recorder.errors import translated
from kernelmill.bus.recorder.reading import Reading
from kernelmill.bus.recorder.thread import LoopThread

if TYPE_CHECKING:
    from kernelmill.bus.recorder.recorder import LogRecorder


class LogSubscription(Subscription["LogRecorder"]):
    """Yields notifications for ever; `stop` ends it from any thread, also while it waits, and waits for nothing."""

    def __init__(
        self, recorder: "LogRecorder", thread: LoopThread, reading: Reading, gt: int | None, topics: Sequence[str]
    ) -> None:
        super().__init__(recorder=recorder, gt=gt, topics=topics)
        self._thread = thread
        self._arrivals = reading.arrivals(gt or 0, topics)
        self._turn = asyncio.Lock()
        self._state = threading.RLock()  # a destructor may stop while the same thread asks for the next one
        self._waiting: concurrent.futures.Future[Notification] | None = None

    def __next__(self) -> Notification:
        """Return the next notification; blocks until there is one.

        Raises:
            StopIteration: the subscription was stopped.
            DataError: the log cannot be read past a message.
            InterfaceError: the recorder was closed.
        """
        with self._state:
            if self._has_been_stopped:
                raise StopIteration
            waiting = self._waiting = self._thread.submit(self._next())
        try:
            with translated():
                notification = waiting.result()
        except StopAsyncIteration:  # it ended with an error before
            raise StopIteration from None
        except concurrent.futures.CancelledError:
            if self._has_been_stopped:
                raise StopIteration from None
            raise InterfaceError("the recorder was closed") from None
        if self._has_been_stopped:
            raise StopIteration
        return notification

    def stop(self) -> None:
        """End the iteration."""
        with self._state:
            if self._has_been_stopped:
                return
            super().stop()
            if self._waiting is not None:
                self._waiting.cancel()
        with suppress(InterfaceError):  # the thread is closed, and its loop with it
            self._thread.submit(self._close())

    async def _next(self) -> Notification:
        async with self._turn:
            return await anext(self._arrivals)

    async def _close(self) -> None:
        async with self._turn:
            await self._arrivals.aclose()
