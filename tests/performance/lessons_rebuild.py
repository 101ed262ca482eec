"""Rebuild of the lessons against the raw reader, alone and with validation of every event, on the same log.

The yardstick is the raw reader that hands each body to pydantic's TypeAdapter and does nothing else.
"""

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from figures import run
from history import history

from kernelmill.bus import Bus, StreamAddress, connect
from kernelmill.bus.jetstream.replay import read_batches
from kernelmill.bus.jetstream.wire import Access
from kernelmill.bus.server import EmbeddedServer
from kernelmill.events import EVENT_ADAPTER
from kernelmill_lessons.domain.notes import Memory
from kernelmill_lessons.domain.summaries import export
from kernelmill_lessons.handlers import rebuild
from kernelmill_lessons.storage import Store


@asynccontextmanager
async def log_of(count: int, folder: Path) -> AsyncIterator[Bus]:
    """Yield a bus over a log of so many events; what the folder holds already is kept."""
    server = EmbeddedServer(folder)
    await server.start()
    try:
        async with connect(server.url, role="console") as bus:
            began, before = time.perf_counter(), await bus.log.last_sequence()
            streams: dict[StreamAddress, int] = {}
            for event in itertools.islice(history(), 0 if before else count):
                address = StreamAddress.of(event)
                streams[address] = await bus.log.append(event, expected=streams.get(address, 0))
            last = await bus.log.last_sequence()
            if last > before:
                print(f"{last} events appended at {last / (time.perf_counter() - began):.0f} a second", flush=True)
            yield bus
    finally:
        await server.stop()


async def read_raw(bus: Bus, last: int) -> None:
    assert bus.client is not None
    count = 0
    async with aclosing(read_batches(Access(bus.client), after=0, until=last)) as batches:
        async for batch in batches:
            count += len(batch)
    assert count == last


async def read_validated(bus: Bus, last: int) -> None:
    assert bus.client is not None
    count = 0
    async with aclosing(read_batches(Access(bus.client), after=0, until=last)) as batches:
        async for batch in batches:
            for message in batch:
                EVENT_ADAPTER.validate_json(message.body)
                count += 1
    assert count == last


async def rebuild_and_store(bus: Bus, last: int) -> None:
    """Do what the service does on `lessons rebuild`, from the first event to the stored memory."""
    memory = await rebuild(bus, last)
    with tempfile.TemporaryDirectory(prefix="kernelmill-") as folder:
        store = Store(Path(folder))
        store.replace(bus.log.log_id, memory)
        store.close()
    assert memory.position == last
    assert memory.notes


async def seconds(work: Callable[[Bus, int], Awaitable[None]], bus: Bus, last: int) -> float:
    began = time.perf_counter()
    await work(bus, last)
    return time.perf_counter() - began


async def main(count: int, rounds: int, folder: Path) -> None:
    async with log_of(count, folder) as bus:
        last = await bus.log.last_sequence()
        ratios = []
        for number in range(1, rounds + 1):
            raw = await seconds(read_raw, bus, last)
            before = await seconds(read_validated, bus, last)
            built = await seconds(rebuild_and_store, bus, last)
            after = await seconds(read_validated, bus, last)
            yardstick = (before + after) / 2.0
            ratios.append(yardstick / built)
            print(
                f"round {number}: raw reader {last / raw:.0f} events/s, with TypeAdapter {last / yardstick:.0f}, "
                f"rebuild {last / built:.0f}; rebuild/yardstick {ratios[-1]:.2f}",
                flush=True,
            )
        print(f"{last} events; rebuild/yardstick: median {statistics.median(ratios):.2f}, least {min(ratios):.2f}")
        live = Memory()
        async for record in bus.log.follow():
            live.apply(record.sequence, record.event)
            if record.sequence == last:
                break
        assert export(await rebuild(bus, last)) == export(live)
        print("live and rebuilt: equal")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="keep the log in this folder, and use the one that is there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kernelmill-") as temporary:
        run(main(arguments.events, arguments.rounds, arguments.data or Path(temporary)))
