"""Our own events through the recorder: what stands on the wire, what is refused, how reading stops."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from eventsourcing.compressor import ZlibCompressor
from eventsourcing.persistence import (
    DataError,
    IntegrityError,
    InterfaceError,
    Notification,
    OperationalError,
    ProgrammingError,
    StoredEvent,
)
from support.events import opened, paused

from kernelmill.bus import Bus, StreamAddress, connect, verify_chains
from kernelmill.bus.log import StoredMessage
from kernelmill.bus.memory import MemoryLog
from kernelmill.bus.recorder import (
    LogApplication,
    LoggedEvent,
    LogRecorder,
    LoopThread,
    WireMapper,
    WireTranscoder,
    originator_of,
)
from kernelmill.events import EventVoided, encode

C1, C2 = "cpu.c1.campaign.c1", "cpu.c2.campaign.c2"


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    running = LoopThread("test-recorder")
    yield running
    running.close()
    assert running.ended(10)


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def recorder(thread: LoopThread, log: MemoryLog) -> LogRecorder:
    return LogRecorder(thread, log)


def stored(number: int, version: int, campaign: str = "c1") -> StoredEvent:
    return WireMapper(WireTranscoder()).to_stored_event(LoggedEvent.of(paused(number, campaign), version))


def voiding(sequence: int) -> EventVoided:
    return EventVoided(
        event_id=f"void-{sequence}",
        recorded_at=paused(0).recorded_at,
        log_id="log-1",
        voided_sequence=sequence,
        voided_event=None,
        because="a mistake",
    )


def test_a_stored_event_is_what_stands_on_the_wire(thread: LoopThread, log: MemoryLog, recorder: LogRecorder) -> None:
    assert recorder.insert_events([stored(1, 1)]) == [1]

    async def messages() -> list[StoredMessage]:
        return [message async for message in log.stored()]

    (message,) = thread.call(messages())
    assert message.subject == "kernelmill.v1.cpu.c1.campaign.c1.CampaignPaused._"
    assert message.headers["ce-type"] == "kernelmill.CampaignPaused.v1"
    assert message.body == encode(paused(1))
    assert recorder.select_events(C1) == [StoredEvent(C1, 1, "CampaignPaused.v1", message.body)]
    assert recorder.select_notifications(None, 9) == [Notification(C1, 1, "CampaignPaused.v1", message.body, 1)]


def test_versions_are_places_in_the_stream_wherever_a_reader_starts(
    thread: LoopThread, log: MemoryLog, recorder: LogRecorder
) -> None:
    recorder.insert_events([stored(1, 1), stored(1, 1, "c2"), stored(2, 2), stored(3, 3)])
    expected = [(1, C1, 1), (2, C2, 1), (3, C1, 2), (4, C1, 3)]
    for start in (4, 3, 2, 1):
        for reader in (recorder, LogRecorder(thread, log)):
            found = reader.select_notifications(start, 10)
            assert [(n.id, n.originator_id, n.originator_version) for n in found] == expected[start - 1 :]
    assert recorder.select_notifications(1, 10, topics=["CampaignOpened.v1"]) == []


def test_an_insert_must_follow_its_stream_and_is_whole_or_not_at_all(recorder: LogRecorder) -> None:
    recorder.insert_events([stored(1, 1)])
    for wrong in ([stored(1, 1)], [stored(2, 3)], [stored(2, 2), stored(3, 2)], [stored(5, 1, "c2"), stored(2, 4)]):
        with pytest.raises(IntegrityError, match="decide again"):
            recorder.insert_events(wrong)
    assert recorder.max_notification_id() == 1
    assert recorder.insert_events([]) == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (StoredEvent(C2, 1, "CampaignPaused.v1", encode(paused(1))), f"belongs to {C1}"),
        (StoredEvent(C1, 1, "CampaignPaused.v1", b"{}"), "does not validate"),
        (StoredEvent(C1, 1, "CampaignPaused.v7", encode(paused(1))), "version 7"),
        (StoredEvent(C1, 1, "Novelty.v1", b"{}"), "unknown event kind"),
        (StoredEvent(C1, 1, "kernelmill.events:CampaignPaused", encode(paused(1))), "is no topic of the log"),
    ],
)
def test_what_is_no_event_of_the_log_is_refused(recorder: LogRecorder, wrong: StoredEvent, says: str) -> None:
    with pytest.raises(DataError, match=says):
        recorder.insert_events([wrong])
    assert recorder.max_notification_id() is None


def test_a_strange_originator_is_refused(recorder: LogRecorder) -> None:
    with pytest.raises(DataError, match="is no stream of the log"):
        recorder.select_events("campaign-1")


def test_the_mapper_takes_no_other_events_and_no_cipher() -> None:
    with pytest.raises(DataError, match="wrap one in LoggedEvent"):
        WireMapper(WireTranscoder()).to_stored_event(paused(1))  # type: ignore[arg-type]
    with pytest.raises(ProgrammingError, match="plain JSON"):
        WireMapper(WireTranscoder(), compressor=ZlibCompressor())


def test_unknown_kinds_halt_unless_they_may_be_skipped_or_are_voided(
    thread: LoopThread, log: MemoryLog, recorder: LogRecorder
) -> None:
    recorder.insert_events([stored(1, 1)])
    subject = "kernelmill.v1.cpu.c1.campaign.c1.Novelty._"
    headers = {"ce-id": "n1", "ce-type": "kernelmill.Novelty.v1"}
    thread.call(log.append_message(subject, headers | {"Kernelmill-Ignorable": "true"}, b"{}"))
    assert [n.id for n in recorder.select_notifications(1, 10)] == [1]
    thread.call(log.append_message(subject, headers, b"{}"))
    with recorder.subscribe() as subscription:
        assert next(subscription).id == 1
        for read in (
            lambda: recorder.select_notifications(1, 10),
            lambda: recorder.select_events(C1),
            lambda: next(subscription),
        ):
            with pytest.raises(DataError, match="cannot be read past sequence 3"):
                read()
        assert list(subscription) == []
    thread.call(log.append(voiding(3), expected=None))
    assert [n.id for n in recorder.select_notifications(1, 10)] == [1, 4]
    assert recorder.insert_events([stored(2, 4)]) == [5]
    assert [event.originator_version for event in recorder.select_events(C1)] == [1, 4]


def test_a_reader_that_waits_learns_what_was_voided(thread: LoopThread, log: MemoryLog, recorder: LogRecorder) -> None:
    recorder.insert_events([stored(1, 1)])
    with recorder.subscribe() as subscription:
        assert next(subscription).id == 1
        thread.call(log.append_message("kernelmill.v1.cpu.c9.campaign.c9.CampaignPaused._", {}, b""))
        thread.call(log.append(voiding(2), expected=None))
        assert next(subscription).id == 3


def test_a_waiting_subscription_is_stopped_from_elsewhere(recorder: LogRecorder) -> None:
    recorder.insert_events([stored(1, 1)])
    subscription = recorder.subscribe(topics=["CampaignPaused.v1"])
    reached = threading.Event()
    found: list[int] = []

    def read() -> None:
        for notification in subscription:
            found.append(notification.id)
            reached.set()

    reading = threading.Thread(target=read)
    reading.start()
    assert reached.wait(10)
    subscription.stop()
    reading.join(10)
    assert not reading.is_alive()
    assert found == [1]


def test_closing_waits_for_nothing_and_ends_those_who_wait(log: MemoryLog) -> None:
    thread = LoopThread("test-recorder")
    recorder = LogRecorder(thread, log)
    subscription = recorder.subscribe()
    ends: list[BaseException] = []

    def read() -> None:
        try:
            next(subscription)
        except InterfaceError as error:
            ends.append(error)

    reading = threading.Thread(target=read)
    reading.start()
    thread.close()
    reading.join(10)
    assert thread.ended(10)
    assert len(ends) == 1
    with pytest.raises(InterfaceError, match="closed"):
        recorder.max_notification_id()
    subscription.stop()
    thread.close()


def test_a_call_in_the_loops_own_thread_is_refused_and_closing_there_is_not(log: MemoryLog) -> None:
    thread = LoopThread("test-recorder")
    recorder = LogRecorder(thread, log)

    refused: list[str] = []

    async def ask() -> None:
        try:
            recorder.max_notification_id()
        except ProgrammingError as error:
            refused.append(str(error))
        thread.close()

    thread.submit(ask())
    assert thread.ended(10)
    assert refused


def test_a_server_without_a_log_says_so(nats_url: str) -> None:
    with pytest.raises(OperationalError, match="kernelmill up"):
        LogApplication({"KERNELMILL_NATS_URL": nats_url})


@pytest.fixture
async def bus(nats_url: str) -> AsyncIterator[Bus]:
    async with connect(nats_url, role="console") as connected:
        yield connected


async def test_an_application_of_the_library_shares_the_log_with_services(bus: Bus, nats_url: str) -> None:
    first = await bus.log.append(opened(), expected=0)

    def use() -> None:
        with LogApplication({"KERNELMILL_NATS_URL": nats_url}) as app:
            assert app.stream(C1) == [opened()]
            assert app.append(paused(1), paused(2), after=1) == [first + 1, first + 2]
            assert app.append(paused(3), after=3) == [first + 3]
            with pytest.raises(IntegrityError):
                app.append(paused(4), after=3)
            assert [section.topic for section in app.notification_log.select(start=1, limit=9)][:2] == [
                "CampaignOpened.v1",
                "CampaignPaused.v1",
            ]
        assert app.factory.ended(10)

    await asyncio.to_thread(use)
    address = StreamAddress.of(opened())
    assert originator_of(address) == C1
    records = await bus.log.read_stream(address)
    assert [record.event for record in records] == [opened(), paused(1), paused(2), paused(3)]
    assert await bus.log.append(paused(5), expected=first + 3) == first + 4
    assert (await verify_chains(bus.log)).broken == []
