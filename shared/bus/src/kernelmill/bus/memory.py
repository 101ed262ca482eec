"""The log, blobs and secrets in memory: the same contract as the server's, for tests of decisions and handlers."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing

from kernelmill.bus import chain
from kernelmill.bus.errors import (
    BlobCorruptError,
    BlobMissingError,
    CommandReusedError,
    ConflictError,
    HaltedError,
    OversizedEventError,
    SecretMissingError,
)
from kernelmill.bus.headers import CE_ID, event_headers
from kernelmill.bus.log import TOGETHER_LIMIT, Recorded, StoredMessage, StreamAddress
from kernelmill.bus.messages import Understanding, decode_message, encode_body
from kernelmill.bus.subjects import Subject
from kernelmill.events import BlobClass, BlobRef, EventBase, EventVoided
from kernelmill.identity import digest_bytes, new_id


class MemoryLog:
    """A log in this process; it keeps messages, not events, so that everything is encoded, chained and decoded."""

    def __init__(self, *, source: str = "kernelmill/memory") -> None:
        self.log_id = new_id("log")
        self._source = source
        self._messages: list[StoredMessage] = []
        self._streams: dict[StreamAddress, list[int]] = defaultdict(list)
        self._commands: dict[str, int] = {}
        self._news = asyncio.Condition()

    async def append(self, event: EventBase, *, expected: int | None) -> int:
        """Append one event; see `Log.append`."""
        subject = Subject.of(event)
        body = encode_body(event)
        known = self._commands.get(event.event_id)
        if known is not None:
            if self._messages[known - 1].subject != str(subject):
                raise CommandReusedError(
                    f"the id {event.event_id} already names {self._messages[known - 1].subject}, now {subject}"
                )
            return known
        stream = self._streams[subject.address]
        last = stream[-1] if stream else 0
        if expected is not None and expected != last:
            raise ConflictError(f"{subject.address} stands at {last}, not at {expected}; reload it and decide again")
        previous = self._link(last) if last else chain.START
        headers = event_headers(event, source=self._source, previous=previous)
        return await self.append_message(str(subject), headers, body)

    async def append_together(self, events: Sequence[EventBase], *, expected: Mapping[StreamAddress, int]) -> list[int]:
        """Append several events or none; see `Log.append_together`."""
        if len(events) > TOGETHER_LIMIT:
            raise OversizedEventError(f"{len(events)} events together, the log takes {TOGETHER_LIMIT}: append in parts")
        known = [self._commands.get(event.event_id) for event in events]
        if not any(known):
            for address in {StreamAddress.of(event): None for event in events}:
                last = self._streams[address][-1] if self._streams[address] else 0
                if expected[address] != last:
                    raise ConflictError(f"{address} stands at {last}, not at {expected[address]}; reload it")
            for event in events:
                encode_body(event)
        elif not all(known):
            raise ConflictError("some of these commands are on the log, some are not; append what is missing")
        return [await self.append(event, expected=None) for event in events]

    async def append_message(self, subject: str, headers: dict[str, str], body: bytes) -> int:
        """Append a message as it is, unchecked, as a stranger with access to the server could."""
        sequence = len(self._messages) + 1
        self._messages.append(StoredMessage(sequence, subject, headers, body))
        self._streams[Subject.parse(subject).address].append(sequence)
        if CE_ID in headers:
            self._commands.setdefault(headers[CE_ID], sequence)
        async with self._news:
            self._news.notify_all()
        return sequence

    async def read_stream(self, address: StreamAddress, *, after: int = 0) -> list[Recorded]:
        """Return the events of one stream; see `Log.read_stream`."""
        return self._understood([self._messages[n - 1] for n in self._streams.get(address, ()) if n > after])

    async def read_campaign(self, campaign: str, *, after: int = 0) -> list[Recorded]:
        """Return the events of one campaign; see `Log.read_campaign`."""
        return self._understood([m for m in self._messages[after:] if m.subject.split(".")[3] == campaign])

    async def stored(
        self, address: StreamAddress | None = None, *, after: int = 0, limit: int | None = None
    ) -> AsyncGenerator[StoredMessage, None]:
        """Yield the messages of one stream, or of the log, as they are; see `Log.stored`."""
        numbers = range(1, len(self._messages) + 1) if address is None else self._streams.get(address, ())
        for number in [number for number in numbers if number > after][:limit]:
            yield self._messages[number - 1]

    async def arrivals(self, *, after: int = 0) -> AsyncGenerator[StoredMessage, None]:
        """Yield the messages for ever; see `Log.arrivals`."""
        position = after
        while True:
            async with self._news:
                while len(self._messages) <= position:
                    await self._news.wait()
            for message in self._messages[position:]:
                position = message.sequence
                yield message

    async def voided(self) -> set[int]:
        """Return the voided sequences; see `Log.voided`."""
        return self._reader().voided

    async def replay(
        self, *, after: int = 0, until: int | None = None, kinds: frozenset[str] | None = None
    ) -> AsyncIterator[Recorded]:
        """Yield the events up to `until`; see `Log.replay`."""
        reader = self._reader()
        reader.kinds = kinds
        for message in self._messages[after:until]:
            if recorded := reader.understand(message):
                yield recorded

    async def follow(self, *, after: int = 0) -> AsyncIterator[Recorded]:
        """Yield the events for ever; see `Log.follow`."""
        reader = self._reader()
        async with aclosing(self.arrivals(after=after)) as arriving:
            async for message in arriving:
                if recorded := self._retried(reader, message):
                    yield recorded

    async def last_sequence(self) -> int:
        """Return the sequence of the newest event, 0 for an empty log."""
        return len(self._messages)

    def _link(self, sequence: int) -> str:
        message = self._messages[sequence - 1]
        return chain.link(message.subject, message.headers, message.body)

    def _reader(self) -> Understanding:
        voiding = (m for m in self._messages if ".EventVoided." in m.subject)
        events = (decode_message(message) for message in voiding)
        return Understanding({event.voided_sequence for event in events if isinstance(event, EventVoided)})

    def _retried(self, reader: Understanding, message: StoredMessage) -> Recorded | None:
        try:
            return reader.understand(message)
        except HaltedError:
            reader.voided |= self._reader().voided
            return reader.understand(message)

    def _understood(self, messages: list[StoredMessage]) -> list[Recorded]:
        reader = self._reader()
        return [recorded for message in messages if (recorded := reader.understand(message))]


class MemoryBlobs:
    """Blobs in this process."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        """Bytes by digest; a test may damage them."""

    async def put(self, data: bytes, blob_class: BlobClass) -> BlobRef:
        """Store the bytes; see `Blobs.put`."""
        digest = digest_bytes(data)
        self.stored.setdefault(digest, data)
        return BlobRef(digest=digest, size=len(data), blob_class=blob_class)

    async def get(self, ref: BlobRef) -> bytes:
        """Return the bytes; see `Blobs.get`."""
        data = self.stored.get(ref.digest)
        if data is None:
            raise BlobMissingError(f"no blob {ref.digest} ({ref.blob_class}, {ref.size} bytes) is stored")
        if digest_bytes(data) != ref.digest:
            raise BlobCorruptError(f"what is stored as blob {ref.digest} has the digest {digest_bytes(data)}")
        return data


class MemorySecrets:
    """Secrets in this process."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    async def create(self, name: str, value: bytes) -> bytes:
        """Store the value unless the name is taken; see `Secrets.create`."""
        return self._values.setdefault(name, value)

    async def read(self, name: str) -> bytes:
        """Return the stored secret; see `Secrets.read`."""
        if name not in self._values:
            raise SecretMissingError(f"no secret '{name}' is stored; a campaign that needs it is void")
        return self._values[name]
