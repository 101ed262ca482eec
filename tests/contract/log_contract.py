"""What every log promises. Inherited by the log in memory and the one on a real server."""

import asyncio

import pytest
from support.events import opened, paused

from kernelmill.bus import (
    Bus,
    CommandReusedError,
    ConflictError,
    HaltedError,
    OversizedEventError,
    StreamAddress,
    verify_chains,
)
from kernelmill.bus.log import Log
from kernelmill.events import EventVoided


class LogContract:
    """Subclasses provide the fixture `bus` and the method `publish_raw`."""

    @staticmethod
    async def publish_raw(bus: Bus, subject: str, headers: dict[str, str], body: bytes) -> None:
        raise NotImplementedError

    @pytest.fixture
    def log(self, bus: Bus) -> Log:
        return bus.log

    async def test_an_empty_log_is_empty(self, log: Log) -> None:
        assert await log.last_sequence() == 0
        assert [record async for record in log.replay()] == []
        assert await log.read_stream(StreamAddress.of(paused(1))) == []

    async def test_events_come_back_in_order(self, log: Log) -> None:
        first = await log.append(paused(1), expected=0)
        other = await log.append(paused(1, "c2"), expected=0)
        second = await log.append(paused(2), expected=first)
        assert first < other < second
        assert [record.event for record in await log.read_stream(StreamAddress.of(paused(1)))] == [paused(1), paused(2)]
        assert [record.sequence for record in await log.read_campaign("c1")] == [first, second]
        assert [record.sequence async for record in log.replay()] == [first, other, second]
        assert [record.sequence async for record in log.replay(after=first, until=other)] == [other]
        assert await log.last_sequence() == second

    async def test_an_append_expects_where_its_stream_stands(self, log: Log) -> None:
        first = await log.append(paused(1), expected=0)
        with pytest.raises(ConflictError):
            await log.append(paused(2), expected=0)
        with pytest.raises(ConflictError):
            await log.append(paused(2), expected=first + 7)
        await log.append(paused(1, "c2"), expected=0)
        await log.append(paused(2), expected=first)

    async def test_different_kinds_of_one_stream_conflict(self, log: Log) -> None:
        await log.append(opened(), expected=0)
        with pytest.raises(ConflictError):
            await log.append(paused(1), expected=0)

    async def test_a_repeated_command_is_one_event(self, log: Log) -> None:
        first = await log.append(paused(1), expected=0)
        last = await log.append(paused(2), expected=first)
        assert await log.append(paused(1), expected=0) == first
        assert await log.append(paused(1), expected=None) == first
        assert await log.append(paused(2), expected=first) == last
        assert await log.last_sequence() == last

    async def test_an_id_names_one_event_only(self, log: Log) -> None:
        await log.append(paused(1), expected=0)
        reused = paused(1, "c2").model_copy(update={"event_id": paused(1).event_id})
        with pytest.raises(CommandReusedError):
            await log.append(reused, expected=0)

    async def test_an_oversized_event_is_refused_with_its_remedy(self, log: Log) -> None:
        with pytest.raises(OversizedEventError, match="put the large part into a blob"):
            await log.append(paused(1, because="x" * 300_000), expected=0)
        assert await log.last_sequence() == 0

    async def test_several_events_are_appended_together_or_not_at_all(self, log: Log) -> None:
        first = await log.append(paused(1), expected=0)
        ours, other = StreamAddress.of(paused(1)), StreamAddress.of(paused(1, "c2"))
        batch = [paused(2), paused(1, "c2"), opened("c2"), paused(3)]
        with pytest.raises(ConflictError):
            await log.append_together(batch, expected={ours: 0, other: 0})
        with pytest.raises(ConflictError):
            await log.append_together(batch, expected={ours: first, other: first})
        assert await log.last_sequence() == first
        sequences = await log.append_together(batch, expected={ours: first, other: 0})
        assert sequences == [first + 1, first + 2, first + 3, first + 4]
        assert await log.append_together(batch, expected={ours: first, other: 0}) == sequences
        assert await log.append(opened("c2"), expected=None) == sequences[2]
        with pytest.raises(ConflictError):
            await log.append_together([paused(3), paused(4)], expected={ours: sequences[0]})
        await log.append(paused(4), expected=sequences[3])
        assert [record.event async for record in log.replay()] == [paused(1), *batch, paused(4)]
        assert (await verify_chains(log)).broken == []
        assert await log.append_together([], expected={}) == []
        with pytest.raises(OversizedEventError):
            await log.append_together([paused(n) for n in range(1001)], expected={ours: sequences[3]})

    async def test_messages_are_read_in_parts(self, log: Log) -> None:
        for number in range(4):
            await log.append(paused(number, f"c{number % 2}"), expected=None)
        assert [message.sequence async for message in log.stored(after=1, limit=2)] == [2, 3]
        address = StreamAddress.of(paused(1, "c1"))
        assert [message.sequence async for message in log.stored(address, limit=1)] == [2]
        assert [message.sequence async for message in log.stored(address, after=2, limit=600)] == [4]

    async def test_writers_that_race_lose_nothing(self, log: Log) -> None:
        async def write(writer: int) -> None:
            for number in range(5):
                while True:
                    records = await log.read_stream(StreamAddress.of(paused(0)))
                    try:
                        await log.append(paused(writer * 100 + number), expected=records[-1].sequence if records else 0)
                        break
                    except ConflictError:
                        continue

        await asyncio.gather(*(write(writer) for writer in range(6)))
        events = [record.event for record in await log.read_stream(StreamAddress.of(paused(0)))]
        assert len(events) == 30
        assert len({event.event_id for event in events}) == 30
        report = await verify_chains(log)
        assert (report.messages, report.broken) == (30, [])

    async def test_followers_see_what_comes(self, log: Log) -> None:
        await log.append(paused(1), expected=None)

        async def collect(count: int, after: int) -> list[str]:
            found: list[str] = []
            async for record in log.follow(after=after):
                found.append(record.event.event_id)
                if len(found) == count:
                    break
            return found

        early, late = asyncio.create_task(collect(3, 0)), asyncio.create_task(collect(2, 1))
        await log.append(paused(2), expected=None)
        await log.append(paused(3), expected=None)
        async with asyncio.timeout(10):
            assert await early == ["paused-c1-1", "paused-c1-2", "paused-c1-3"]
            assert await late == ["paused-c1-2", "paused-c1-3"]

    async def test_what_may_be_skipped_is_skipped_and_the_rest_halts(self, bus: Bus) -> None:
        log = bus.log
        first = await log.append(paused(1), expected=0)
        subject = "kernelmill.v1.cpu.c1.campaign.c1.Novelty._"
        ignorable = {"ce-id": "n1", "ce-type": "kernelmill.Novelty.v1", "Kernelmill-Ignorable": "true"}
        await self.publish_raw(bus, subject, ignorable, b"{}")
        assert [record.sequence async for record in log.replay()] == [first]
        await self.publish_raw(bus, subject, {"ce-id": "n2", "ce-type": "kernelmill.Novelty.v1"}, b"{}")
        with pytest.raises(HaltedError, match="unknown event kind 'Novelty'") as halted:
            [record async for record in log.replay()]
        assert halted.value.sequence == first + 2

    async def test_a_replay_of_some_kinds_checks_the_others_without_their_bodies(self, bus: Bus) -> None:
        log = bus.log
        first = await log.append(opened(), expected=0)
        subject = "kernelmill.v1.cpu.c1.campaign.c1.CampaignPaused._"
        await self.publish_raw(bus, subject, {"ce-id": "x", "ce-type": "kernelmill.CampaignPaused.v1"}, b"{")
        folded = frozenset({"CampaignOpened"})
        assert [record.sequence async for record in log.replay(kinds=folded)] == [first]
        with pytest.raises(HaltedError, match="does not validate"):
            [record async for record in log.replay(kinds=frozenset({"CampaignPaused"}))]
        await self.publish_raw(bus, subject, {"ce-id": "y", "ce-type": "kernelmill.CampaignResumed.v1"}, b"{}")
        with pytest.raises(HaltedError, match="the headers name a CampaignResumed") as halted:
            [record async for record in log.replay(kinds=folded)]
        assert halted.value.sequence == first + 2

    @pytest.mark.parametrize("kind", ["CampaignPaused.v99", "Novelty.v1"])
    async def test_a_replay_of_some_kinds_halts_at_what_it_does_not_know(self, bus: Bus, kind: str) -> None:
        subject = f"kernelmill.v1.cpu.c1.campaign.c1.{kind.partition('.')[0]}._"
        await self.publish_raw(bus, subject, {"ce-id": "x", "ce-type": f"kernelmill.{kind}"}, b"{}")
        with pytest.raises(HaltedError):
            [record async for record in bus.log.replay(kinds=frozenset({"CampaignOpened"}))]

    @pytest.mark.parametrize(
        ("headers", "body", "says"),
        [
            ({"ce-id": "x", "ce-type": "kernelmill.CampaignPaused.v99"}, b"{}", "version 99"),
            ({"ce-id": "x", "ce-type": "kernelmill.CampaignPaused.v1"}, b"\xff\xfe", "does not validate"),
            ({"ce-id": "x", "ce-type": "nonsense"}, b"{}", "ce-type"),
            ({}, b"", "ce-type"),
        ],
    )
    async def test_a_strangers_message_halts_until_it_is_voided(
        self, bus: Bus, headers: dict[str, str], body: bytes, says: str
    ) -> None:
        log = bus.log
        await log.append(paused(1), expected=0)
        await self.publish_raw(bus, "kernelmill.v1.cpu.c9.campaign.c9.CampaignPaused._", headers, body)
        with pytest.raises(HaltedError, match=says) as halted:
            [record async for record in log.replay()]
        voided = EventVoided(
            event_id="void-1",
            recorded_at=paused(1).recorded_at,
            log_id="log-1",
            voided_sequence=halted.value.sequence,
            voided_event=None,
            because="a stranger wrote it",
        )
        await log.append(voided, expected=None)
        assert [record.event.event_id async for record in log.replay()] == ["paused-c1-1", "void-1"]

    async def test_altered_chains_are_found(self, bus: Bus) -> None:
        await bus.log.append(paused(1), expected=0)
        forged = paused(2)
        headers = {"ce-id": forged.event_id, "ce-type": "kernelmill.CampaignPaused.v1", "Kernelmill-Prev": "0" * 64}
        await self.publish_raw(
            bus, "kernelmill.v1.cpu.c1.campaign.c1.CampaignPaused._", headers, forged.model_dump_json().encode()
        )
        report = await verify_chains(bus.log)
        assert [(broken.sequence, broken.event_id) for broken in report.broken] == [(2, "paused-c1-2")]
