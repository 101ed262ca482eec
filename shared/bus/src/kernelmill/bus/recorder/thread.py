"""One thread with one event loop, behind a library that is synchronous."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from eventsourcing.persistence import InterfaceError, ProgrammingError

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines for other threads until it is closed.

    Closing never waits: the library closes from destructors, which may run anywhere, also in this very thread.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.RLock()  # a destructor may close while the same thread submits
        self._closing = False
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return the result of a coroutine that runs in the thread; blocks the caller.

        Raises:
            InterfaceError: the thread is closed, or was while the work ran.
            ProgrammingError: the caller is the thread itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise ProgrammingError("a recorder was called in its own loop's thread, which would wait for itself")
        try:
            return self.submit(work).result()
        except concurrent.futures.CancelledError:
            raise InterfaceError("the recorder was closed") from None

    def submit(self, work: Coroutine[Any, Any, _T]) -> "concurrent.futures.Future[_T]":
        """Start a coroutine in the thread and return the future of its result.

        Raises:
            InterfaceError: the thread is closed.
        """
        with self._lock:
            if self._closing:
                work.close()
                raise InterfaceError("the recorder is closed")
            return asyncio.run_coroutine_threadsafe(self._tracked(work), self._loop)

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Await `closer` in the thread when it is closed, the latest one first."""
        self._closers.append(closer)

    def close(self) -> None:
        """Cancel what runs, and end the thread soon; does not wait for it."""
        with self._lock:
            if not self._closing:
                self._closing = True
                self._loop.call_soon_threadsafe(self._stopping.set)

    def ended(self, seconds: float) -> bool:
        """Return whether the thread has ended, after waiting up to `seconds` for it."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        await self._stopping.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for closer in reversed(self._closers):
            with suppress(Exception):  # nobody is left to hear of it, and the others must still be closed
                await closer()

    async def _tracked(self, work: Coroutine[Any, Any, _T]) -> _T:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in a task
        self._tasks.add(task)
        try:
            return await work
        finally:
            self._tasks.discard(task)
