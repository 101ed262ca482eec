"""The bus on a real nats-server keeps the contracts, and survives what only a real one suffers."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest
from contract.blobs_contract import BlobsContract
from contract.log_contract import LogContract
from nats.js.errors import APIError
from support.events import paused

from kernelmill.bus import Bus, StreamAddress, connect, verify_chains
from kernelmill.bus.jetstream.log import JetStreamLog
from kernelmill.bus.jetstream.provision import LOG_STREAM
from kernelmill.bus.server import EmbeddedServer


@pytest.fixture
async def bus(nats_url: str) -> AsyncIterator[Bus]:
    async with connect(nats_url, role="console") as connected:
        yield connected


class TestJetStreamLog(LogContract):
    @staticmethod
    async def publish_raw(bus: Bus, subject: str, headers: dict[str, str], body: bytes) -> None:
        assert bus.client is not None
        await bus.client.jetstream().publish(subject, body, headers=headers or None)

    async def test_nothing_can_be_deleted_or_purged(self, bus: Bus) -> None:
        assert bus.client is not None
        js = bus.client.jetstream()
        sequence = await bus.log.append(paused(1), expected=0)
        with pytest.raises(APIError, match="not permitted"):
            await js.delete_msg(LOG_STREAM, sequence)
        with pytest.raises(APIError, match="not permitted"):
            await js.purge_stream(LOG_STREAM)
        assert await bus.log.last_sequence() == sequence


class TestJetStreamLogReadOverItsOwnConnection(TestJetStreamLog):
    """The same contract where every read of the whole log takes the way of long ones."""

    @pytest.fixture
    async def bus(self, nats_url: str) -> AsyncIterator[Bus]:
        async with connect(nats_url, role="console") as connected:
            assert isinstance(connected.log, JetStreamLog)
            connected.log.few = 0
            yield connected


class TestJetStreamBlobs(BlobsContract):
    pass


async def test_no_acknowledged_event_is_lost_and_none_doubled_when_the_server_is_killed(
    embedded: EmbeddedServer,
) -> None:
    acknowledged: list[int] = []
    news = asyncio.Condition()

    async def write(bus: Bus) -> None:
        last = 0
        for number in range(120):
            last = await bus.log.append(paused(number), expected=last)
            acknowledged.append(last)
            async with news:
                news.notify_all()

    async def kill() -> None:
        for round_ in range(1, 4):
            async with news:
                await news.wait_for(lambda wanted=round_ * 25: len(acknowledged) >= wanted)
            assert embedded.pid is not None
            os.kill(embedded.pid, signal.SIGKILL)
            await embedded.wait()
            await embedded.start()

    async with connect(embedded.url, role="console") as bus, asyncio.timeout(60):
        await asyncio.gather(write(bus), kill())
        records = await bus.log.read_stream(StreamAddress.of(paused(0)))
        assert [record.sequence for record in records] == acknowledged
        assert [record.event.event_id for record in records] == [f"paused-c1-{number}" for number in range(120)]
        assert (await verify_chains(bus.log)).broken == []


async def test_followers_survive_a_restart_without_gap_or_repeat(embedded: EmbeddedServer) -> None:
    async with connect(embedded.url, role="console") as bus, asyncio.timeout(60):
        found: list[str] = []

        async def collect() -> None:
            async for record in bus.log.follow():
                found.append(record.event.event_id)
                if len(found) == 20:
                    return

        following = asyncio.create_task(collect())
        for number in range(20):
            if number == 10:
                assert embedded.pid is not None
                os.kill(embedded.pid, signal.SIGKILL)
                await embedded.wait()
                await embedded.start()
            await bus.log.append(paused(number), expected=None)
        await following
        assert found == [f"paused-c1-{number}" for number in range(20)]


async def test_a_log_keeps_its_id(embedded: EmbeddedServer) -> None:
    async with connect(embedded.url, role="console") as bus:
        first = bus.log.log_id
    await embedded.stop()
    await embedded.start()
    async with connect(embedded.url, role="planner") as bus:
        assert bus.log.log_id == first
