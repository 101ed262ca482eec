"""Questions on a real server: one that nobody hears is not given up while the service may be starting."""

import asyncio

import pytest
from nats.aio.msg import Msg

from kernelmill.bus import NoAnswerError, connect
from kernelmill.bus.connection import ASK


async def test_a_question_waits_for_a_service_that_is_starting(nats_url: str) -> None:
    async with connect(nats_url, role="console") as bus, connect(nats_url, role="lessons") as other:
        assert other.client is not None
        asked = asyncio.create_task(bus.ask("late.question", b"who?", timeout=10.0))
        done, _ = await asyncio.wait([asked], timeout=0.5)
        assert not done

        async def reply(message: Msg) -> None:
            await message.respond(b"me")

        await other.client.subscribe(f"{ASK}.late.question", cb=reply)
        assert await asked == b"me"


async def test_a_question_to_nobody_says_so(nats_url: str) -> None:
    async with connect(nats_url, role="console") as bus:
        with pytest.raises(NoAnswerError, match=r"nobody listens to 'no\.question'"):
            await bus.ask("no.question", b"", timeout=0.3)


async def test_a_service_that_does_not_answer_is_told_from_one_that_is_not_there(nats_url: str) -> None:
    async with connect(nats_url, role="console") as bus, connect(nats_url, role="lessons") as other:
        assert other.client is not None
        await other.client.subscribe(f"{ASK}.slow.question")
        await other.client.flush()
        with pytest.raises(NoAnswerError, match=r"was not answered within 0\.3 s"):
            await bus.ask("slow.question", b"", timeout=0.3)
