"""The log on JetStream: conditional, idempotent, chained appends; reads in order; replay and follow."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import PubAck
from nats.js.errors import APIError, NotFoundError

from kernelmill.bus import chain
from kernelmill.bus.errors import (
    CommandReusedError,
    ConflictError,
    HaltedError,
    LogUnavailableError,
    OversizedEventError,
)
from kernelmill.bus.headers import CE_ID, event_headers
from kernelmill.bus.jetstream.login import Login
from kernelmill.bus.jetstream.provision import LOG_STREAM, read_log_id
from kernelmill.bus.jetstream.publishing import DUPLICATE, Outgoing, acknowledged, conditional, once, publish_batch
from kernelmill.bus.jetstream.reader import read_messages
from kernelmill.bus.jetstream.replay import read_batches, whole
from kernelmill.bus.jetstream.wire import Access
from kernelmill.bus.log import TOGETHER_LIMIT, Recorded, StoredMessage, StreamAddress
from kernelmill.bus.messages import Understanding, decode_message, encode_body
from kernelmill.bus.subjects import EVERYTHING, Subject, campaign_filter, kind_filter, stream_filter
from kernelmill.events import EventBase, EventVoided

_CONFLICTS: Final = frozenset({10071, 10164})
"""JetStream's codes for a wrong last sequence of a subject, on one node and on a cluster."""
_ACK_SECONDS: Final = 2.0
_LINKS_KEPT: Final = 4096
_POLL_SECONDS: Final = 1.0
_FEW: Final = 512
"""Up to so many messages one request of the bus's own connection is the fastest way to read."""


class JetStreamLog:
    """A `Log` on a server. Make it with `JetStreamLog.open`."""

    def __init__(self, client: Client, js: JetStreamContext, log_id: str, source: str, login: Login) -> None:
        self.log_id = log_id
        self.few = _FEW
        """Up to so many messages are read over the bus's own connection; a test may change it."""
        self._access = Access(client, login)
        self._client = client
        self._js = js
        self._source = source
        self._links: OrderedDict[StreamAddress, tuple[int, str]] = OrderedDict()
        """Sequence and hash of the last message known of recently used streams: saves a round trip per append."""

    @classmethod
    async def open(cls, client: Client, source: str, login: Login | None = None) -> "JetStreamLog":
        """Return the log of a provisioned server.

        Args:
            client: a connected client.
            source: CloudEvents source of what is appended: role and instance.
            login: who opens the connections over which long parts are read; None: as the servers' addresses say.

        Raises:
            NotProvisionedError: the server has no log yet.
        """
        js = client.jetstream(timeout=_ACK_SECONDS)
        return cls(client, js, await read_log_id(js), source, login or Login())

    async def append(self, event: EventBase, *, expected: int | None) -> int:
        """Append one event; see `Log.append`."""
        subject = Subject.of(event)
        body = encode_body(event)
        while True:
            try:
                sequence, previous = await self._last(subject.address, expected)
            except _MovedError:
                return await self._settled(event, subject, expected or 0)
            headers = event_headers(event, source=self._source, previous=previous)
            try:
                answer = await self._publish(subject, headers, body, sequence)
            except APIError as error:
                if error.err_code not in _CONFLICTS:
                    raise
                self._links.pop(subject.address, None)
                if expected is not None:
                    return await self._settled(event, subject, expected)
                if (found := await self._find(event, subject.address, 0)) is not None:
                    return found
                continue
            if answer.duplicate:
                return await self._duplicate(event, subject, answer.seq)
            self._remember(subject.address, answer.seq, chain.link(str(subject), headers, body))
            return answer.seq

    async def append_together(self, events: Sequence[EventBase], *, expected: Mapping[StreamAddress, int]) -> list[int]:
        """Append several events or none; see `Log.append_together`."""
        if len(events) < 2:
            return [await self.append(event, expected=expected[StreamAddress.of(event)]) for event in events]
        if len(events) > TOGETHER_LIMIT:
            raise OversizedEventError(f"{len(events)} events together, the log takes {TOGETHER_LIMIT}: append in parts")
        try:
            messages, links = await self._chained(events, expected)
        except _MovedError:
            return await self._all_settled(events, expected)
        try:
            last = await acknowledged(f"a batch of {len(events)} events", lambda: publish_batch(self._client, messages))
        except APIError as error:
            if error.err_code not in _CONFLICTS | {DUPLICATE}:
                raise
            for address in links:
                self._links.pop(address, None)
            return await self._all_settled(events, expected)
        sequences = list(range(last - len(events) + 1, last + 1))
        for sequence, event in zip(sequences, events, strict=True):
            self._remember(StreamAddress.of(event), sequence, links[StreamAddress.of(event)])
        return sequences

    async def read_stream(self, address: StreamAddress, *, after: int = 0) -> list[Recorded]:
        """Return the events of one stream; see `Log.read_stream`."""
        messages = [message async for message in self.stored(address, after=after)]
        if messages:
            last = messages[-1]
            self._remember(address, last.sequence, chain.link(last.subject, last.headers, last.body))
        return self._understood(messages, await self._reader())

    async def read_campaign(self, campaign: str, *, after: int = 0) -> list[Recorded]:
        """Return the events of one campaign; see `Log.read_campaign`."""
        messages = [message async for message in read_messages(self._client, campaign_filter(campaign), after=after)]
        return self._understood(messages, await self._reader())

    async def stored(
        self, address: StreamAddress | None = None, *, after: int = 0, limit: int | None = None
    ) -> AsyncGenerator[StoredMessage, None]:
        """Yield the messages of one stream, or of the log, as they are; see `Log.stored`."""
        if address is not None or limit is not None:
            subject_filter = EVERYTHING if address is None else stream_filter(address)
            async for message in read_messages(self._client, subject_filter, after=after, limit=limit):
                yield message
            return
        async with aclosing(self._batches(after, await self.last_sequence())) as batches:
            async for batch in batches:
                for message in batch:
                    yield message

    async def replay(
        self, *, after: int = 0, until: int | None = None, kinds: frozenset[str] | None = None
    ) -> AsyncIterator[Recorded]:
        """Yield the events up to `until`; see `Log.replay`."""
        reader = await self._reader()
        reader.kinds = kinds
        end = await self.last_sequence()
        async with aclosing(self._batches(after, end if until is None else min(until, end))) as batches:
            async for batch in whole(batches, after):
                for message in batch:
                    if recorded := reader.understand(message):
                        yield recorded

    async def follow(self, *, after: int = 0) -> AsyncIterator[Recorded]:
        """Yield the events for ever; see `Log.follow`."""
        reader = await self._reader()
        async with aclosing(self.arrivals(after=after)) as arriving:
            async for message in arriving:
                if recorded := await self._retried(reader, message):
                    yield recorded

    async def arrivals(self, *, after: int = 0) -> AsyncGenerator[StoredMessage, None]:
        """Yield the messages for ever; see `Log.arrivals`.

        What is new is announced by a plain subscription and then read from the stream, so that reconnections and
        restarts of the server leave neither gaps nor repeats. What lies far back is read as by `replay`.
        """
        position = after
        far = True
        news = asyncio.Event()

        async def wake(_message: object) -> None:
            news.set()

        subscription = await self._client.subscribe(EVERYTHING, cb=wake)
        try:
            while True:
                news.clear()
                try:
                    async with aclosing(self._since(position, far=far)) as messages:
                        async for message in messages:
                            position = message.sequence
                            yield message
                    far = False
                except (LogUnavailableError, NatsError, OSError):
                    far = True
                    await asyncio.sleep(_POLL_SECONDS)
                    continue
                try:
                    async with asyncio.timeout(_POLL_SECONDS):
                        await news.wait()
                except TimeoutError:
                    pass
        finally:
            if not self._client.is_closed:
                await subscription.unsubscribe()

    async def voided(self) -> set[int]:
        """Return the voided sequences; see `Log.voided`."""
        voided = set()
        async for message in read_messages(self._client, kind_filter("EventVoided")):
            event = decode_message(message)
            if isinstance(event, EventVoided):
                voided.add(event.voided_sequence)
        return voided

    async def last_sequence(self) -> int:
        """Return the sequence of the newest event, 0 for an empty log."""
        info = await self._js.stream_info(LOG_STREAM)
        return info.state.last_seq

    def _batches(self, after: int, until: int) -> AsyncGenerator[list[StoredMessage]]:
        """Return the messages of the whole log between two sequences; a long part over a connection of its own."""
        if until - after > self.few:
            return read_batches(self._access, after=after, until=until)
        return self._few(after, until)

    async def _few(self, after: int, until: int) -> AsyncGenerator[list[StoredMessage]]:
        if until > after:
            found = read_messages(self._client, EVERYTHING, after=after, until=until)
            yield [message async for message in found]

    async def _since(self, after: int, *, far: bool) -> AsyncGenerator[StoredMessage]:
        if not far:
            async for message in read_messages(self._client, EVERYTHING, after=after):
                yield message
            return
        async with aclosing(self._batches(after, await self.last_sequence())) as batches:
            async for batch in whole(batches, after):
                for message in batch:
                    yield message

    async def _last(self, address: StreamAddress, expected: int | None) -> tuple[int, str]:
        """Return sequence and hash of the stream's last message as the append has to state them."""
        if expected == 0:
            return 0, chain.START
        known = self._links.get(address)
        if known is not None and (expected is None or known[0] == expected):
            return known
        try:
            found = await self._js.get_last_msg(LOG_STREAM, stream_filter(address))
        except NotFoundError:
            if expected is None:
                return 0, chain.START
            raise _MovedError from None
        headers = {name: value for name, value in (found.headers or {}).items() if not name.startswith("Nats-")}
        sequence = found.seq or 0
        if expected is not None and sequence != expected:
            raise _MovedError
        link = chain.link(found.subject or "", headers, found.data or b"")
        self._remember(address, sequence, link)
        return sequence, link

    async def _publish(self, subject: Subject, headers: dict[str, str], body: bytes, expected: int) -> PubAck:
        sent = conditional(headers, subject.address, expected)
        return await acknowledged(
            f"{subject.kind} {headers[CE_ID]}",
            lambda: self._js.publish(str(subject), body, headers=sent, stream=LOG_STREAM),
        )

    async def _chained(
        self, events: Sequence[EventBase], expected: Mapping[StreamAddress, int]
    ) -> tuple[list[Outgoing], dict[StreamAddress, str]]:
        """Return the messages of a batch, each linked to the one before it, and the last hash of each stream."""
        messages: list[Outgoing] = []
        links: dict[StreamAddress, str] = {}
        for event in events:
            subject, body = Subject.of(event), encode_body(event)
            address = subject.address
            first = address not in links
            previous = (await self._last(address, expected[address]))[1] if first else links[address]
            headers = event_headers(event, source=self._source, previous=previous)
            links[address] = chain.link(str(subject), headers, body)
            # One condition a stream is enough, and the server takes no second one in the same batch.
            sent = conditional(headers, address, expected[address]) if first else headers | once(headers)
            messages.append(Outgoing(str(subject), sent, body))
        return messages, links

    async def _settled(self, event: EventBase, subject: Subject, expected: int) -> int:
        """After a conflict: the sequence of our own earlier append, or a conflict for the caller to decide again."""
        found = await self._find(event, subject.address, expected)
        if found is not None:
            return found
        raise ConflictError(f"{subject.address} has moved on from {expected}; reload it and decide again")

    async def _all_settled(self, events: Sequence[EventBase], expected: Mapping[StreamAddress, int]) -> list[int]:
        subjects = [Subject.of(event) for event in events]
        return [
            await self._settled(event, subject, expected[subject.address])
            for event, subject in zip(events, subjects, strict=True)
        ]

    async def _find(self, event: EventBase, address: StreamAddress, after: int) -> int | None:
        async for message in self.stored(address, after=after):
            if message.headers.get(CE_ID) == event.event_id:
                return message.sequence
        return None

    async def _duplicate(self, event: EventBase, subject: Subject, sequence: int) -> int:
        found = await self._js.get_msg(LOG_STREAM, sequence)
        if found.subject != str(subject):
            raise CommandReusedError(f"the id {event.event_id} already names {found.subject}, now {subject}")
        return sequence

    def _remember(self, address: StreamAddress, sequence: int, link: str) -> None:
        self._links[address] = (sequence, link)
        self._links.move_to_end(address)
        while len(self._links) > _LINKS_KEPT:
            self._links.popitem(last=False)

    async def _reader(self) -> Understanding:
        return Understanding(await self.voided())

    async def _retried(self, reader: Understanding, message: StoredMessage) -> Recorded | None:
        try:
            return reader.understand(message)
        except HaltedError:
            reader.voided |= (await self._reader()).voided
            return reader.understand(message)

    @staticmethod
    def _understood(messages: list[StoredMessage], reader: Understanding) -> list[Recorded]:
        return [recorded for message in messages if (recorded := reader.understand(message))]


class _MovedError(Exception):
    """The stream does not stand where the caller thinks."""
