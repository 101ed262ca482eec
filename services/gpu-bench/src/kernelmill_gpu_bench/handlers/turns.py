"""Whose turn it is on the device: one piece of work at a time, tuning and confirmations before measurements."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class DeviceTurns:
    """The device's queue."""

    def __init__(self) -> None:
        self._device = asyncio.Lock()
        self._urgent = 0
        self._calm = asyncio.Event()
        self._calm.set()

    @asynccontextmanager
    async def ordinary(self) -> AsyncIterator[None]:
        """Hold the device once nobody urgent waits."""
        await self._calm.wait()
        async with self._device:
            yield

    @asynccontextmanager
    async def urgent(self) -> AsyncIterator[None]:
        """Hold the device before any measurement that has not begun."""
        self._urgent += 1
        self._calm.clear()
        try:
            async with self._device:
                yield
        finally:
            self._urgent -= 1
            if self._urgent == 0:
                self._calm.set()
