"""The hash chain of a stream: each message records the hash of the one before it.

The chain alone does not show a dropped tail, a removed stream or a chain that was recomputed from some point on; a
LogSealed that the attacker could not reach does.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kernelmill.bus.errors import ChainBrokenError
from kernelmill.bus.headers import IGNORABLE, PREVIOUS
from kernelmill.bus.log import StoredMessage
from kernelmill.identity import digest_framed

START: Final = "0" * 64
"""What the first message of a stream records as the hash before it."""


def link(subject: str, headers: Mapping[str, str], body: bytes) -> str:
    """Return the hash of a message: sha256 over the framed (previous, subject, headers, body).

    Covered are the headers that carry meaning (`ce-*` and the ignorable flag), by name in sorted order.
    """
    covered = sorted(name for name in headers if name.startswith("ce-") or name == IGNORABLE)
    pairs = (part.encode() for name in covered for part in (name, headers[name]))
    return digest_framed([headers.get(PREVIOUS, START).encode(), subject.encode(), *pairs, body])


def verify_chain(messages: Iterable[StoredMessage]) -> str:
    """Check one stream from its first message on and return the hash of its last one (`START` for an empty stream).

    Raises:
        ChainBrokenError: a message does not record the hash of the one before it.
    """
    expected = START
    for message in messages:
        recorded = message.headers.get(PREVIOUS, "")
        if recorded != expected:
            raise ChainBrokenError(
                message.sequence,
                f"{message.subject} records '{recorded}' as the hash of its predecessor, which is {expected}; compare"
                " with a copy of the log or the last seal outside the data folder",
            )
        expected = link(message.subject, message.headers, message.body)
    return expected
