"""Long parts of a log are read over a connection of their own: logins, breaks, slow readers, gaps, clear ends."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from nats.js.api import StreamConfig
from support.events import paused

from kernelmill.bus import Bus, HaltedError, LogUnavailableError, connect
from kernelmill.bus.jetstream.log import JetStreamLog
from kernelmill.bus.jetstream.login import Login
from kernelmill.bus.jetstream.provision import LOG_STREAM
from kernelmill.bus.jetstream.replay import read_batches, whole
from kernelmill.bus.jetstream.wire import Access
from kernelmill.bus.server import EmbeddedServer

STREAM = "NUMBERS"
WRONG, RIGHT = "wrong", "right"


@pytest.fixture
async def client(embedded: EmbeddedServer) -> AsyncIterator[Client]:
    """A client of a server with a stream that permits what the log's does not."""
    client = Client()
    await client.connect(embedded.url, max_reconnect_attempts=-1, reconnect_time_wait=0)
    js = client.jetstream()
    await js.add_stream(config=StreamConfig(name=STREAM, subjects=["numbers.>"]))
    yield client
    await client.close()


async def fill(client: Client, count: int, size: int = 100) -> None:
    js = client.jetstream()
    for start in range(0, count, 200):
        numbers = range(start, min(start + 200, count))
        await asyncio.gather(*(js.publish(f"numbers.{number}", bytes(size)) for number in numbers))


async def read(client: Client, until: int, after: int = 0, **options: Any) -> list[int]:
    async with aclosing(read_batches(Access(client), after=after, until=until, stream=STREAM, **options)) as batches:
        return [message.sequence async for batch in batches for message in batch]


async def test_every_message_comes_once_and_in_order(client: Client) -> None:
    await fill(client, 12_000)
    assert await read(client, 12_000) == list(range(1, 12_001))
    assert await read(client, 6_000, after=5_990) == list(range(5_991, 6_001))
    assert await client.jetstream().consumers_info(STREAM) == []


async def test_large_messages_are_pulled_in_small_numbers(client: Client) -> None:
    await fill(client, 400, size=200_000)
    assert await read(client, 400) == list(range(1, 401))


async def test_a_read_goes_on_after_the_server_was_killed(client: Client, embedded: EmbeddedServer) -> None:
    await fill(client, 3_000, size=10_000)
    found: list[int] = []
    async with (
        asyncio.timeout(60),
        aclosing(read_batches(Access(client), after=0, until=3_000, stream=STREAM, patience=30.0)) as batches,
    ):
        async for batch in batches:
            if not found:
                assert embedded.pid is not None
                os.kill(embedded.pid, signal.SIGKILL)
                await embedded.wait()
                await embedded.start()
            found.extend(message.sequence for message in batch)
    assert found == list(range(1, 3_001))


async def test_a_read_of_a_dead_server_ends_with_an_error(client: Client, embedded: EmbeddedServer) -> None:
    await fill(client, 10)
    await embedded.stop()
    with pytest.raises(LogUnavailableError, match="no further than sequence 0"):
        await read(client, 10, patience=0.2)


async def test_what_the_stream_does_not_hold_ends_a_read_with_an_error(client: Client) -> None:
    await fill(client, 10)
    with pytest.raises(LogUnavailableError, match="no further than sequence 10"):
        await read(client, 20, patience=0.2)
    with pytest.raises(LogUnavailableError, match="refuses to read ABSENT"):
        async for _ in read_batches(Access(client), after=0, until=1, stream="ABSENT"):
            pass


async def test_a_gap_halts_who_needs_every_message(client: Client) -> None:
    await fill(client, 600)
    for sequence in (300, 301):
        await client.jetstream().delete_msg(STREAM, sequence)
    assert await read(client, 600) == [*range(1, 300), *range(302, 601)]
    with pytest.raises(HaltedError, match="sequence 300: the messages from there up to 301 are missing"):
        async for _ in whole(read_batches(Access(client), after=0, until=600, stream=STREAM), 0):
            pass


async def test_followers_far_behind_catch_up_and_go_on(nats_url: str) -> None:
    async with connect(nats_url, role="console") as bus:
        assert isinstance(bus.log, JetStreamLog)
        bus.log.few = 10
        for number in range(30):
            await bus.log.append(paused(number), expected=None)
        found: list[int] = []
        async with asyncio.timeout(20):
            async for record in bus.log.follow():
                found.append(record.sequence)
                if record.sequence in {30, 31}:
                    await bus.log.append(paused(record.sequence), expected=None)
                if record.sequence == 32:
                    break
        assert found == list(range(1, 33))


@asynccontextmanager
async def guarded(folder: Path, authorization: dict[str, object]) -> AsyncIterator[EmbeddedServer]:
    """Start a server that asks for a login of our choice."""

    class Guarded(EmbeddedServer):
        def _config(self) -> str:
            return json.dumps(json.loads(super()._config()) | {"authorization": authorization})

    server = Guarded(folder)
    await server.start()
    yield server
    await server.stop()


async def read_all(bus: Bus) -> int:
    assert isinstance(bus.log, JetStreamLog)
    bus.log.few = 0
    await bus.log.append(paused(1), expected=None)
    return len([record async for record in bus.log.replay()])


async def test_a_token_in_the_address_is_a_login(tmp_path: Path) -> None:
    async with guarded(tmp_path, {"token": "secret"}) as server:
        port = server.url.rpartition(":")[2]
        async with connect(f"nats://secret@127.0.0.1:{port}", role="console") as bus:
            assert await read_all(bus) == 1


async def test_user_and_password_of_the_settings_are_a_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    password = tmp_path / "password"
    password.write_text("secret\n")
    monkeypatch.setenv("KERNELMILL_NATS_USER", "someone")
    monkeypatch.setenv("KERNELMILL_NATS_PASSWORD_FILE", str(password))
    async with guarded(tmp_path, {"users": [{"user": "someone", "password": "secret"}]}) as server:
        port = server.url.rpartition(":")[2]
        async with connect(f"nats://127.0.0.1:{port}", role="console") as bus:
            assert await read_all(bus) == 1
            assert bus.client is not None
            someone = Access(bus.client, Login(user="someone", password=WRONG))
            with pytest.raises(LogUnavailableError, match="Authorization Violation"):
                async for _ in read_batches(someone, after=0, until=1):
                    pass


async def test_a_login_that_may_not_read_is_told_so(tmp_path: Path) -> None:
    users = [
        {"user": "all", "password": "a"},
        {"user": "few", "password": RIGHT, "permissions": {"publish": {"deny": ["$JS.API.CONSUMER.CREATE.>"]}}},
    ]
    async with guarded(tmp_path, {"users": users}) as server:
        port = server.url.rpartition(":")[2]
        async with connect(f"nats://all:a@127.0.0.1:{port}", role="console") as bus:
            await bus.log.append(paused(1), expected=None)
            assert bus.client is not None
            few = Access(bus.client, Login(user="few", password=RIGHT))
            with pytest.raises(LogUnavailableError, match="Permissions Violation"):
                async for _ in read_batches(few, after=0, until=1):
                    pass
            assert (await bus.client.jetstream().stream_info(LOG_STREAM)).state.messages == 1
