"""Reads messages of a stream in batches of direct gets: one request, many replies, no consumer to clean up."""

import json
from collections.abc import AsyncIterator
from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg

from kernelmill.bus.errors import LogUnavailableError
from kernelmill.bus.jetstream.provision import LOG_STREAM
from kernelmill.bus.log import StoredMessage

_BATCH: Final = 512
_BATCH_BYTES: Final = 8 << 20
_TIMEOUT: Final = 10.0
_RESERVED: Final = "Nats-"
_NOT_FOUND: Final = "404"
_END: Final = "204"


async def read_messages(  # noqa: PLR0913 - a range and a limit, each by its name
    client: Client,
    subject_filter: str,
    *,
    after: int = 0,
    until: int | None = None,
    limit: int | None = None,
    stream: str = LOG_STREAM,
) -> AsyncIterator[StoredMessage]:
    """Yield the messages of a stream that match a filter, in order, up to the end as it is now.

    Args:
        client: a connected client.
        subject_filter: subject, wildcards allowed.
        after: only sequences above this.
        until: only sequences up to this.
        limit: at most so many messages.
        stream: the stream.

    Raises:
        LogUnavailableError: the server does not answer within ten seconds.
    """
    position, left = after, limit
    while left is None or left > 0:
        asked = _BATCH if left is None else min(left, _BATCH)
        batch = await _batch(client, stream, subject_filter, position + 1, asked)
        left = None if left is None else left - len(batch)
        for message in batch:
            position = message.sequence
            if until is not None and position > until:
                return
            yield message
        if len(batch) < asked and not batch.more:
            return


class _Batch(list[StoredMessage]):
    more: bool = False


async def _batch(client: Client, stream: str, subject_filter: str, sequence: int, asked: int) -> _Batch:
    inbox = client.new_inbox()
    found = _Batch()
    subscription = await client.subscribe(inbox)
    try:
        request = {"seq": sequence, "next_by_subj": subject_filter, "batch": asked, "max_bytes": _BATCH_BYTES}
        await client.publish(f"$JS.API.DIRECT.GET.{stream}", json.dumps(request).encode(), reply=inbox)
        while True:
            reply = await subscription.next_msg(timeout=_TIMEOUT)
            status = (reply.headers or {}).get("Status")
            if status == _END:
                found.more = int((reply.headers or {}).get("Nats-Num-Pending", "0")) > 0
                return found
            if status == _NOT_FOUND:
                return found
            if status is not None:
                description = (reply.headers or {}).get("Description", "")
                raise LogUnavailableError(f"the server refuses to read {stream}: {status} {description}")
            found.append(stored_message(reply))
    except TimeoutError as error:
        raise LogUnavailableError(f"the server did not answer a read of {stream} within {_TIMEOUT:g} s") from error
    finally:
        await subscription.unsubscribe()


def stored_message(reply: Msg) -> StoredMessage:
    """Return the message that a direct get delivered."""
    headers = dict(reply.headers or {})
    return StoredMessage(
        sequence=int(headers["Nats-Sequence"]),
        subject=headers["Nats-Subject"],
        headers={name: value for name, value in headers.items() if not name.startswith(_RESERVED)},
        body=reply.data,
    )
