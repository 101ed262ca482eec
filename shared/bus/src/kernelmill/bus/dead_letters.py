"""Messages that a worker gave up: listed, explained, and delivered again once their cause is gone."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from nats.aio.client import Client
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError

from kernelmill.bus.errors import NoAnswerError
from kernelmill.bus.jetstream.provision import DEAD_STREAM, LOG_STREAM, PARKED_ROOT
from kernelmill.bus.jetstream.reader import read_messages
from kernelmill.bus.log import StoredMessage

AGAIN: Final = "kernelmill.again"
"""Root of the subjects on which a worker takes the sequence of a message that it shall handle again."""

_ADVISORY: Final = "$JS.EVENT.ADVISORY.CONSUMER"
_ANSWER_SECONDS: Final = 60.0


@dataclass(frozen=True)
class DeadLetter:
    """One message that one worker gave up. The message itself is still on the log."""

    number: int
    """Its place among the dead letters; names it in commands."""
    worker: str
    """The worker's durable consumer."""
    sequence: int
    """The message's sequence on the log."""
    end: Literal["parked", "max-deliveries", "terminated"]
    """Whether the worker could not understand it, or the bus stopped delivering it."""
    because: str
    """What is wrong, as far as it is known."""
    at: datetime | None
    """When it was given up; None where the bus did not say."""
    subject: str
    """Its subject on the log; empty where the log does not hold it."""


async def dead_letters(client: Client) -> AsyncIterator[DeadLetter]:
    """Yield all dead letters, the oldest first.

    Raises:
        LogUnavailableError: the server does not answer.
    """
    async for message in read_messages(client, ">", stream=DEAD_STREAM):
        worker, sequence, end, because, at = _told(message)
        original = [item async for item in read_messages(client, ">", after=sequence - 1, limit=1, stream=LOG_STREAM)]
        subject = original[0].subject if original and original[0].sequence == sequence else ""
        yield DeadLetter(message.sequence, worker, sequence, end, because, at, subject)


async def deliver_again(client: Client, letter: DeadLetter) -> str:
    """Hand a dead letter to its worker once more; where that succeeds, it is dead no longer.

    Returns:
        Nothing where the worker handled it, else why it did not.

    Raises:
        NoAnswerError: the worker does not run, or did not answer within a minute.
    """
    try:
        payload = str(letter.sequence).encode()
        reply = await client.request(f"{AGAIN}.{letter.worker}", payload, timeout=_ANSWER_SECONDS)
    except NoRespondersError as error:
        raise NoAnswerError(f"no worker '{letter.worker}' runs: start the factory with `kernelmill up`") from error
    except NatsTimeoutError as error:
        raise NoAnswerError(f"worker '{letter.worker}' has not finished within {_ANSWER_SECONDS:g} s") from error
    failed = reply.data.decode()
    if not failed:
        await client.jetstream().delete_msg(DEAD_STREAM, letter.number)
    return failed


def _told(
    message: StoredMessage,
) -> tuple[str, int, Literal["parked", "max-deliveries", "terminated"], str, datetime | None]:
    headers = message.headers
    if message.subject.startswith(f"{PARKED_ROOT}."):
        worker = message.subject.removeprefix(f"{PARKED_ROOT}.")
        stamp = headers.get("Kernelmill-At")
        at = datetime.fromisoformat(stamp) if stamp else None
        return worker, int(headers["Kernelmill-Sequence"]), "parked", headers.get("Kernelmill-Why", ""), at
    told = json.loads(message.body)
    at = datetime.fromisoformat(str(told["timestamp"])).astimezone(UTC)
    if message.subject.startswith(f"{_ADVISORY}.MAX_DELIVERIES."):
        because = f"delivered {told['deliveries']} times without success"
        return str(told["consumer"]), int(told["stream_seq"]), "max-deliveries", because, at
    because = str(told.get("reason", "")) or "terminated by its worker"
    return str(told["consumer"]), int(told["stream_seq"]), "terminated", because, at
