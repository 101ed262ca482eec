"""The bytes of the NATS client protocol as a client receives them: cut into frames, wherever chunks end."""

from typing import Final, NamedTuple

_LINE_LIMIT: Final = 1 << 20
"""Most bytes of a control line; the greeting of a large cluster is the longest."""
_PAYLOAD_LIMIT: Final = 8 << 20
"""Most bytes of a message, far over the log's limit: a wrong length must not fill the memory."""
_CRLF: Final = b"\r\n"
_PLAIN: Final = b"NATS/1.0\r\n"


class ProtocolError(Exception):
    """The peer does not speak the protocol: the connection is of no use any more."""


class Delivered(NamedTuple):
    """A message."""

    subject: bytes
    reply: bytes
    """Subject for an answer, empty where there is none."""
    head: bytes
    """The block of headers as it came, empty where there is none."""
    body: bytes


class Control(NamedTuple):
    """Any other line: INFO, PING, PONG, +OK, -ERR."""

    verb: bytes
    text: bytes


class Status(NamedTuple):
    """What the server says about a request in place of a message."""

    code: int
    text: str
    head: bytes


Frame = Delivered | Control


class Parser:
    """Cuts a stream of bytes into frames; what is incomplete waits for the next chunk."""

    def __init__(self) -> None:
        self._rest = b""
        self._needed = 0
        """Length from which on trying again is worth it."""

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that `data` completes.

        Raises:
            ProtocolError: a line or a length does not follow the protocol.
        """
        if self._rest:
            data = self._rest + data
        frames: list[Frame] = []
        at = 0
        self._needed = max(self._needed, 1)
        while len(data) - at >= self._needed:
            end = data.find(_CRLF, at)
            if end < 0:
                if len(data) - at > _LINE_LIMIT:
                    raise ProtocolError(f"a line is longer than {_LINE_LIMIT} bytes")
                break
            words = data[at:end].split()
            verb = words[0] if words else b""
            if verb in {b"HMSG", b"MSG"}:
                head_size, size = _sizes(words)
                start = end + 2
                stop = start + size
                if stop + 2 > len(data):
                    self._needed = stop + 2 - at
                    break
                if data[stop : stop + 2] != _CRLF:
                    raise ProtocolError("a message does not end where its length says")
                middle = start + head_size
                reply = words[3] if len(words) == (6 if verb == b"HMSG" else 5) else b""
                frames.append(Delivered(words[1], reply, data[start:middle], data[middle:stop]))
                at = stop + 2
            else:
                frames.append(Control(verb.upper(), data[at + len(verb) : end].strip()))
                at = end + 2
            self._needed = 1
        self._rest = data[at:]
        return frames


def status_of(message: Delivered) -> Status | None:
    """Return the status that stands in a message's first header line, None for a plain message.

    Raises:
        ProtocolError: the header line is not one.
    """
    head = message.head
    if not head or head.startswith(_PLAIN):
        return None
    version, _, line = head.partition(_CRLF)[0].partition(b" ")
    code, _, text = line.strip().partition(b" ")
    if version != b"NATS/1.0" or not code.isdigit():
        raise ProtocolError(f"{head[:80]!r} is no header line")
    return Status(int(code), text.strip().decode("utf-8", "replace"), head)


def header_lines(head: bytes) -> dict[str, str]:
    """Return the headers of a block by name, read as nats-py reads them; of a repeated name the last counts."""
    found: dict[str, str] = {}
    for line in head.split(_CRLF)[1:]:
        name, colon, value = line.partition(b":")
        name = name.strip()
        if colon and name.isascii() and len(name.split()) == 1:
            found[name.decode("ascii")] = value.strip().decode("utf-8", "replace")
    return found


def _sizes(words: list[bytes]) -> tuple[int, int]:
    """Return the bytes of the headers and of headers and body together, from a message's control line."""
    headed = words[0] == b"HMSG"
    if len(words) not in ((5, 6) if headed else (4, 5)):
        raise ProtocolError(f"{b' '.join(words)[:200]!r} is no message line")
    try:
        size = int(words[-1])
        head_size = int(words[-2]) if headed else 0
    except ValueError:
        raise ProtocolError(f"{b' '.join(words)[:200]!r} has no length") from None
    if not 0 <= head_size <= size <= _PAYLOAD_LIMIT:
        raise ProtocolError(f"a message of {head_size} and {size} bytes is not possible")
    return head_size, size
