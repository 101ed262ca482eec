"""The lessons' own reader gives the same bytes as a projection of the library over the same log."""

import asyncio
from pathlib import Path

from eventsourcing.projection import ProjectionRunner
from support.events import at, candidate_id
from support.histories import HISTORY, judged, retracted
from support.notes_projection import NotesProjection, NotesView
from support.swarm import Swarm

from kernelmill.bus import Bus, StreamAddress, connect
from kernelmill.bus.recorder import LogApplication
from kernelmill.events import Budget, EventBase, LessonRetired, LessonStated, VerdictReinstated
from kernelmill_lessons.domain.notes import Memory
from kernelmill_lessons.domain.summaries import export
from kernelmill_lessons.handlers import rebuild


async def campaign() -> list[EventBase]:
    """Return every event of a simulated campaign."""
    swarm = Swarm(11, objective={"budget": Budget(evaluations=24, wall_seconds=900.0, device_seconds=400.0)})
    await swarm.begin()
    for _ in range(120):
        await swarm.step()
    return [record.event async for record in swarm.log.replay()]


def afterthoughts() -> list[EventBase]:
    """Return what takes parts of the history back, and some of it back again."""
    verdict = judged("b", 0.2)
    again = VerdictReinstated(
        event_id="again",
        recorded_at=at(1),
        target="cpu",
        campaign="c1",
        candidate=candidate_id("b"),
        verdict=verdict.event_id,
        because="no mistake",
    )
    said = [
        LessonStated(
            event_id=f"said-{lesson}",
            recorded_at=at(0),
            lesson=lesson,
            claim="unrolling helps",
            problem_class="rmsnorm",
            for_target="cpu",
            evidence=(verdict.event_id,),
            author="test",
        )
        for lesson in ("l1", "l2")
    ]
    retired = LessonRetired(event_id="retired", recorded_at=at(2), lesson="l1", because="it does not")
    return [*HISTORY[1:], *said, retracted("b"), retracted("a"), again, retired]


async def append(bus: Bus, events: list[EventBase]) -> int:
    """Append in order, as an import does: together, where each stream stands on what is there."""
    expected: dict[StreamAddress, int] = {}
    for event in events:
        address = StreamAddress.of(event)
        records = await bus.log.read_stream(address)
        expected[address] = records[-1].sequence if records else 0
    return (await bus.log.append_together(events, expected=expected))[-1]


def projected(url: str, database: Path, until: int) -> Memory:
    """Return what the projection has stored once it has come to a sequence; the next call goes on from there."""
    environment = {
        "KERNELMILL_NATS_URL": url,
        "NOTES_PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "NOTES_SQLITE_DBNAME": str(database),
    }
    with ProjectionRunner(
        application_class=LogApplication,
        projection_class=NotesProjection,
        view_class=NotesView,
        env=environment,
    ) as runner:
        runner.wait(until, timeout=60)
    memory = runner.view.memory()
    runner.view.datastore.close()
    return memory


async def test_the_fast_reader_equals_a_projection_of_the_library(nats_url: str, tmp_path: Path) -> None:
    async with connect(nats_url, role="lessons") as bus:
        last = 0
        for part in (await campaign(), afterthoughts()):
            before, last = last, await append(bus, part)
            assert last > before
            reference = await asyncio.to_thread(projected, nats_url, tmp_path / "notes.sqlite", last)
            assert reference.position == last
            assert export(reference) == export(await rebuild(bus, last))
        assert len(reference.notes) > 12
        assert reference.notes["c1", candidate_id("b")].retracted == {}
        assert reference.notes["c1", candidate_id("a")].retracted
        assert reference.stated["l1"]["retired"]
