"""Rebuild of the lessons against the bare reader (decode and validate every event) on the same log."""

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from figures import run
from support.events import candidate_id, checked, compiled, measured, opened, proposed, screened

from kernelmill.bus import Bus, connect
from kernelmill.bus.server import EmbeddedServer
from kernelmill.events import EventBase
from kernelmill_lessons.domain.summaries import export
from kernelmill_lessons.handlers import rebuild


def history(count: int) -> Iterator[EventBase]:
    """Yield valid events: campaigns of candidates that are proposed, screened, compiled, checked and timed."""
    made = 0
    for number in itertools.count():
        campaign = f"c{number // 1000}"
        if number % 1000 == 0:
            yield opened(campaign)
            made += 1
        name = f"{number}"
        for event in (
            proposed(name),
            screened(name, techniques=("unroll",)),
            compiled(name),
            checked(name),
            measured(name, 0.1),
        ):
            if made >= count:
                return
            yield event.model_copy(update={"campaign": campaign, "event_id": f"{event.kind}-{candidate_id(name)[:24]}"})
            made += 1


async def main(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="kernelmill-") as folder:
        server = EmbeddedServer(Path(folder))
        await server.start()
        async with connect(server.url, role="console") as bus:
            began = time.perf_counter()
            for event in history(count):
                await bus.log.append(event, expected=None)
            last = await bus.log.last_sequence()
            print(f"{last} events appended at {last / (time.perf_counter() - began):.0f} a second")
            for attempt in range(3):
                bare, built = await bare_seconds(bus), await rebuild_seconds(bus, last)
                print(
                    f"attempt {attempt + 1}: bare reader {last / bare:.0f} events/s, "
                    f"rebuild {last / built:.0f} events/s, ratio {bare / built:.2f}"
                )
        await server.stop()


async def bare_seconds(bus: Bus) -> float:
    began = time.perf_counter()
    async for _ in bus.log.replay():
        pass
    return time.perf_counter() - began


async def rebuild_seconds(bus: Bus, last: int) -> float:
    began = time.perf_counter()
    memory = await rebuild(bus, last)
    seconds = time.perf_counter() - began
    assert len(export(memory)) > 0
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    run(main(parser.parse_args().events))
