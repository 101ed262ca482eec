"""Workers on a real server: work is shared, kept alive, given back, redelivered after a kill, and never lost."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest
from support.events import opened, paused

from kernelmill.bus import (
    Bus,
    Delivery,
    NoAnswerError,
    RetryLaterError,
    ServicePlan,
    ServiceSettings,
    Worker,
    WorkFilter,
    connect,
    dead_letters,
    deliver_again,
    serve,
)
from kernelmill.bus.jetstream.provision import DEAD_STREAM
from kernelmill.bus.work import Handler
from kernelmill.events import CampaignOpened, CampaignPaused

PAUSES = (WorkFilter(CampaignPaused),)


def settings(url: str, instance: str, ack_wait: float = 1.0) -> ServiceSettings:
    return ServiceSettings(nats_url=url, instance=instance, ack_wait=ack_wait, shutdown_grace=5.0)


class Running:
    """Instances of one worker in this process."""

    def __init__(self, url: str, bus: Bus) -> None:
        self._url = url
        self._bus = bus
        self._stops: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, handler: Handler, *, filters: tuple[WorkFilter, ...] = PAUSES, slots: int = 1) -> asyncio.Event:
        stop = asyncio.Event()
        plan = ServicePlan(workers=(Worker("test-worker", filters, handler, slots),))
        configured = settings(self._url, f"i{len(self._tasks)}")
        self._tasks.append(asyncio.create_task(serve(self._bus, plan, configured, stop)))
        self._stops.append(stop)
        return stop

    async def stop(self) -> None:
        for stop in self._stops:
            stop.set()
        await asyncio.gather(*self._tasks)


async def until(reached: Callable[[], bool], news: asyncio.Event) -> None:
    async with asyncio.timeout(30):
        while not reached():
            await news.wait()
            news.clear()


async def test_instances_share_the_work_and_each_piece_is_done_once(nats_url: str) -> None:
    done: Counter[str] = Counter()
    news = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        done[delivery.event.event_id] += 1
        news.set()

    async with connect(nats_url, role="verifier") as bus:
        running = Running(nats_url, bus)
        for _ in range(2):
            running.start(handle, slots=2)
        for number in range(30):
            await bus.log.append(paused(number), expected=None)
        await until(lambda: len(done) == 30, news)
        await running.stop()
    assert set(done.values()) == {1}


async def test_filters_choose_what_is_delivered(nats_url: str) -> None:
    seen: list[str] = []
    news = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        seen.append(delivery.event.kind)
        news.set()

    async with connect(nats_url, role="verifier") as bus:
        running = Running(nats_url, bus)
        running.start(handle, filters=(WorkFilter(CampaignOpened, target="cpu"),))
        await bus.log.append(paused(1), expected=None)
        await bus.log.append(opened("c7"), expected=0)
        await until(lambda: bool(seen), news)
        await running.stop()
    assert seen == ["CampaignOpened"]


async def test_long_work_keeps_its_message_and_failed_work_comes_again(nats_url: str) -> None:
    attempts: list[int] = []
    news = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        attempts.append(delivery.attempt)
        if delivery.attempt == 1:
            raise RetryLaterError(0.1, "not yet")
        if delivery.attempt == 2:
            msg = "the machinery broke"
            raise OSError(msg)
        with suppress(TimeoutError):
            async with asyncio.timeout(2.5):  # well beyond the ack wait of one second
                await asyncio.Event().wait()
        news.set()

    async with connect(nats_url, role="verifier") as bus:
        running = Running(nats_url, bus)
        running.start(handle)
        await bus.log.append(paused(1), expected=None)
        await until(lambda: len(attempts) >= 3, news)
        await running.stop()
    assert attempts == [1, 2, 3]


async def test_work_in_hand_is_finished_at_shutdown(nats_url: str) -> None:
    begun, finished = asyncio.Event(), []

    async def handle(delivery: Delivery) -> None:
        begun.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await asyncio.Event().wait()
        finished.append(delivery.event.event_id)

    async with connect(nats_url, role="verifier") as bus:
        running = Running(nats_url, bus)
        running.start(handle)
        await bus.log.append(paused(1), expected=None)
        await begun.wait()
        await running.stop()
    assert finished == ["paused-c1-1"]


async def test_what_nobody_understands_is_parked_and_holds_nobody_up(nats_url: str) -> None:
    seen: list[str] = []
    news = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        seen.append(delivery.event.event_id)
        news.set()

    async with connect(nats_url, role="verifier") as bus:
        assert bus.client is not None
        running = Running(nats_url, bus)
        running.start(handle)
        js = bus.client.jetstream()
        subject = "kernelmill.v1.cpu.c1.campaign.c1.CampaignPaused._"
        await js.publish(subject, b"nonsense", headers={"ce-id": "x", "ce-type": "kernelmill.CampaignPaused.v1"})
        await bus.log.append(paused(2), expected=None)
        await until(lambda: bool(seen), news)
        dead = await js.get_last_msg(DEAD_STREAM, "kernelmill.parked.test-worker")
        (letter,) = [letter async for letter in dead_letters(bus.client)]
        still = await deliver_again(bus.client, letter)
        # A dead letter that is understood by now is handled and gone.
        understood = {"Kernelmill-Sequence": "2", "Kernelmill-Why": "an older reader"}
        await js.publish("kernelmill.parked.test-worker", b"", headers=understood)
        _, second = [letter async for letter in dead_letters(bus.client)]
        handled = await deliver_again(bus.client, second)
        left = [letter.number async for letter in dead_letters(bus.client)]
        await running.stop()
        with pytest.raises(NoAnswerError, match="kernelmill up"):
            await deliver_again(bus.client, letter)
    assert seen == ["paused-c1-2", "paused-c1-2"]
    assert dead.data == b"nonsense"
    assert (letter.worker, letter.sequence, letter.end, letter.subject) == ("test-worker", 1, "parked", subject)
    assert "does not validate" in letter.because
    assert "does not validate" in still
    assert handled == ""
    assert left == [letter.number]
