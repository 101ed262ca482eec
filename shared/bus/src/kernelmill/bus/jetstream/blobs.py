"""Blobs on JetStream: content-addressed messages, one per part; the server keeps the first and refuses a second."""

from typing import Final

import stamina
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from kernelmill.bus.errors import BlobCorruptError, BlobMissingError
from kernelmill.bus.jetstream.provision import BLOB_ROOT, BLOB_STREAM, PART
from kernelmill.bus.jetstream.reader import read_messages
from kernelmill.events import BlobClass, BlobRef
from kernelmill.identity import digest_bytes

_ALREADY_THERE: Final = 10077
"""JetStream's code for a full subject of a stream that discards new messages per subject."""


class JetStreamBlobs:
    """A `Blobs` on a server. `writer` keeps one service from squatting another's digests."""

    def __init__(self, client: Client, writer: str) -> None:
        self._client = client
        self._js = client.jetstream(timeout=10.0)
        self._writer = writer

    async def put(self, data: bytes, blob_class: BlobClass) -> BlobRef:
        """Store the bytes; see `Blobs.put`."""
        ref = BlobRef(digest=digest_bytes(data), size=len(data), blob_class=blob_class)
        for number, start in enumerate(range(0, max(1, len(data)), PART)):
            subject = f"{BLOB_ROOT}.{self._writer}.{blob_class}.{ref.digest}.{number}"
            try:
                await self._publish(subject, data[start : start + PART])
            except APIError as error:
                if error.err_code != _ALREADY_THERE:
                    raise
        return ref

    async def get(self, ref: BlobRef) -> bytes:
        """Return the bytes; see `Blobs.get`."""
        by_writer: dict[str, dict[int, bytes]] = {}
        async for message in read_messages(
            self._client, f"{BLOB_ROOT}.*.{ref.blob_class}.{ref.digest}.*", stream=BLOB_STREAM
        ):
            *_, writer, _, _, part = message.subject.split(".")
            by_writer.setdefault(writer, {})[int(part)] = message.body
        if not by_writer:
            raise BlobMissingError(f"no blob {ref.digest} ({ref.blob_class}, {ref.size} bytes) is stored")
        for parts in by_writer.values():
            data = b"".join(parts[number] for number in sorted(parts))
            if digest_bytes(data) == ref.digest:
                return data
        raise BlobCorruptError(
            f"what is stored as blob {ref.digest} does not have that digest; restore it from a backup"
        )

    async def _publish(self, subject: str, part: bytes) -> None:
        async for attempt in stamina.retry_context(on=_is_passing, attempts=8, timeout=30.0, wait_initial=0.05):
            with attempt:
                await self._js.publish(subject, part, stream=BLOB_STREAM)


def _is_passing(error: Exception) -> bool:
    if isinstance(error, APIError):
        return error.err_code is None
    return isinstance(error, NatsError | OSError | TimeoutError)
