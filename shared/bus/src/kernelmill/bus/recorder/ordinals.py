"""The places of messages in their streams, from the hash chain: nothing is counted twice, wherever a reader starts."""

from collections import OrderedDict
from contextlib import aclosing
from typing import Final

from kernelmill.bus import chain
from kernelmill.bus.headers import PREVIOUS
from kernelmill.bus.log import Log, StoredMessage
from kernelmill.bus.subjects import Subject

_KEPT: Final = 1 << 16


class Ordinals:
    """Knows for each message how many stand before it in its stream.

    The log does not number the messages of a stream, but each of them records the hash of the one before it. A reader
    that has seen that one knows the place without asking; otherwise the stream is read once up to the message.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: OrderedDict[str, int] = OrderedDict()
        """Places of the messages seen lately, by their hash."""

    async def of(self, message: StoredMessage) -> int:
        """Return the place of a message in its stream, counted from 1.

        Raises:
            MalformedMessageError: the message has no readable subject.
        """
        previous = message.headers.get(PREVIOUS, "")
        if previous == chain.START:
            ordinal = 1
        elif previous in self._known:
            ordinal = self._known[previous] + 1
        else:
            ordinal = await self._counted(message)
        self._known[chain.link(message.subject, message.headers, message.body)] = ordinal
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return ordinal

    async def _counted(self, message: StoredMessage) -> int:
        count = 0
        address = Subject.parse(message.subject).address
        async with aclosing(self._log.stored(address)) as messages:
            async for other in messages:
                count += 1
                if other.sequence >= message.sequence:
                    break
        return count
