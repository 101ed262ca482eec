"""Publishes messages on conditions: one, or several of which the stream stores all or none."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import stamina
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import Header
from nats.js.errors import APIError

from kernelmill.bus.errors import LogUnavailableError, NotProvisionedError
from kernelmill.bus.headers import CE_ID
from kernelmill.bus.log import StreamAddress
from kernelmill.bus.subjects import stream_filter
from kernelmill.identity import new_id

DUPLICATE: Final = 10201
"""JetStream's code for a batch with a message id that the stream has seen."""
_FORBIDDEN: Final = 10174
_ACK_SECONDS: Final = 10.0
_ATTEMPTS: Final = 8
_GIVE_UP_SECONDS: Final = 30.0

_Answer = TypeVar("_Answer")


class Outgoing(NamedTuple):
    """A message that is ready to be sent."""

    subject: str
    headers: Mapping[str, str]
    body: bytes


def once(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the header by which the server knows a message that it has stored lately."""
    return {"Nats-Msg-Id": headers[CE_ID]}


def conditional(headers: Mapping[str, str], address: StreamAddress, expected: int) -> dict[str, str]:
    """Return the headers of a message that is stored once, and only where its stream still stands at `expected`."""
    return {
        **headers,
        **once(headers),
        "Nats-Expected-Last-Subject-Sequence": str(expected),
        "Nats-Expected-Last-Subject-Sequence-Subject": stream_filter(address),
    }


async def acknowledged(what: str, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """Return the answer of `send`, called again while nothing was said about the message itself.

    Raises:
        APIError: the server refuses the message.
        LogUnavailableError: no acknowledgement within 30 seconds.
    """
    try:
        async for attempt in stamina.retry_context(
            on=_is_passing, attempts=_ATTEMPTS, timeout=_GIVE_UP_SECONDS, wait_initial=0.05, wait_max=2.0
        ):
            with attempt:
                return await send()
    except (NatsError, OSError, TimeoutError) as error:
        if isinstance(error, APIError) and error.err_code is not None:
            raise
        raise LogUnavailableError(
            f"{what} was not acknowledged within {_GIVE_UP_SECONDS:g} s ({error}); retry with the same id"
        ) from error
    raise LogUnavailableError(f"{what} was not sent")


async def publish_batch(client: Client, messages: Sequence[Outgoing]) -> int:
    """Store the messages and return the sequence of the last one; the others stand right before it.

    Raises:
        APIError: the server refuses the batch; nothing is stored.
        NotProvisionedError: the stream was made by a version that did not allow batches.
        TimeoutError: no acknowledgement within ten seconds; nothing or everything is stored.
    """
    batch = new_id("batch")
    for number, message in enumerate(messages, 1):
        headers = {**message.headers, Header.BATCH_ID.value: batch, Header.BATCH_SEQUENCE.value: str(number)}
        if number == len(messages):
            headers[Header.BATCH_COMMIT.value] = "1"
        elif number > 1:
            await client.publish(message.subject, message.body, headers=headers)
            continue
        # The first message tells whether the stream takes batches, the last one what became of this one.
        reply = await client.request(message.subject, message.body, headers=headers, timeout=_ACK_SECONDS)
        sequence = _sequence(reply.data)
    return sequence


def _sequence(answer: bytes) -> int:
    content = json.loads(answer) if answer else {}
    error = content.get("error")
    if error is None:
        return int(content.get("seq", 0))
    if error.get("err_code") == _FORBIDDEN:
        raise NotProvisionedError(
            "this log's stream was made without atomic batches: set its `allow_atomic` on the server,"
            " or append one event at a time"
        )
    raise APIError.from_error(error)


def _is_passing(error: Exception) -> bool:
    """Return whether an append is worth trying again: nothing was said about the message itself."""
    if isinstance(error, APIError):
        return error.err_code is None or error.code == 503
    return isinstance(error, NatsError | OSError | TimeoutError)
