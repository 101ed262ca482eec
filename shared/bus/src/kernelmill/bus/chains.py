"""Verifies the chains of all streams of a log in one pass."""

from dataclasses import dataclass, field

from kernelmill.bus import chain
from kernelmill.bus.errors import MalformedMessageError
from kernelmill.bus.headers import CE_ID, PREVIOUS
from kernelmill.bus.log import Log, StreamAddress
from kernelmill.bus.subjects import Subject


@dataclass(frozen=True)
class BrokenLink:
    """A message that does not follow from the one before it."""

    sequence: int
    event_id: str
    what: str


@dataclass
class ChainReport:
    """What a pass over the log found."""

    streams: int = 0
    messages: int = 0
    broken: list[BrokenLink] = field(default_factory=list)


async def verify_chains(log: Log) -> ChainReport:
    """Check that each message records the hash of the one before it in its stream, and that no sequence is missing."""
    report = ChainReport()
    links: dict[StreamAddress, str] = {}
    position = 0
    async for message in log.stored():
        report.messages += 1
        event_id = message.headers.get(CE_ID, "")
        if message.sequence != position + 1:
            report.broken.append(
                BrokenLink(message.sequence, event_id, f"sequences {position + 1} and after are missing")
            )
        position = message.sequence
        try:
            address = Subject.parse(message.subject).address
        except MalformedMessageError as error:
            report.broken.append(BrokenLink(message.sequence, event_id, str(error)))
            continue
        expected = links.get(address, chain.START)
        if message.headers.get(PREVIOUS, "") != expected:
            report.broken.append(
                BrokenLink(
                    message.sequence, event_id, "it does not record the hash of the message before it in its stream"
                )
            )
        links[address] = chain.link(message.subject, message.headers, message.body)
    report.streams = len(links)
    return report
