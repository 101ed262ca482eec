"""The parser of the raw reader: the same frames, wherever the chunks are cut; what is no protocol is refused."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmill.bus.jetstream.lazy import WireHeaders
from kernelmill.bus.jetstream.protocol import Control, Delivered, Frame, Parser, ProtocolError, status_of

SUBJECTS = st.text("abcdefgh.-_$", min_size=1, max_size=40).map(str.encode)
VALUES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)), max_size=30).map(str.strip)
NAMES = st.sampled_from(["ce-id", "ce-type", "ce-source", "Kernelmill-Prev", "Nats-Msg-Id", "x"])
BODIES = st.binary(max_size=200) | st.sampled_from(
    [b"\r\n", b"PING\r\n", b"HMSG a 1 2 2\r\n\r\n", b"MSG a 1 0\r\n\r\n"]
)


def block(status: str, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"NATS/1.0{status}\r\n{lines}\r\n".encode()


def on_the_wire(frame: Frame) -> bytes:
    if isinstance(frame, Control):
        return frame.verb + (b" " + frame.text if frame.text else b"") + b"\r\n"
    reply = b" " + frame.reply if frame.reply else b""
    size = len(frame.head) + len(frame.body)
    start = b"HMSG" if frame.head else b"MSG"
    lengths = b"%d %d" % (len(frame.head), size) if frame.head else b"%d" % size
    return b"%b %b 1%b %b\r\n%b%b\r\n" % (start, frame.subject, reply, lengths, frame.head, frame.body)


HEADS = st.builds(
    block,
    st.sampled_from(["", "", "", " 404 No Messages", " 408 Request Timeout", " 409 Consumer Deleted", " 100"]),
    st.dictionaries(NAMES, VALUES, max_size=6),
)
FRAMES = st.lists(
    st.builds(Delivered, SUBJECTS, st.just(b"") | SUBJECTS, st.just(b"") | HEADS, BODIES)
    | st.sampled_from(
        [
            Control(b"PING", b""),
            Control(b"PONG", b""),
            Control(b"+OK", b""),
            Control(b"-ERR", b"'Stale Connection'"),
            Control(b"INFO", b'{"headers":true}'),
        ]
    ),
    max_size=12,
)


@given(frames=FRAMES, cuts=st.lists(st.integers(0, 4000), max_size=40))
def test_frames_are_the_same_wherever_chunks_are_cut(frames: list[Frame], cuts: list[int]) -> None:
    data = b"".join(map(on_the_wire, frames))
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parser = Parser()
    found = [
        frame for start, stop in itertools.pairwise(borders) if stop > start for frame in parser.feed(data[start:stop])
    ]
    assert found == frames


@given(frames=FRAMES)
def test_frames_are_the_same_byte_by_byte(frames: list[Frame]) -> None:
    parser = Parser()
    data = b"".join(map(on_the_wire, frames))
    assert [frame for byte in data for frame in parser.feed(bytes([byte]))] == frames


@pytest.mark.parametrize(
    "line",
    [
        b"MSG a 1\r\n",
        b"MSG a 1 x\r\n",
        b"MSG a 1 -1\r\n",
        b"HMSG a 1 12\r\n",
        b"HMSG a 1 20 10\r\n",
        b"HMSG a 1 b c d e\r\n",
        b"MSG a 1 99999999999\r\n",
        b"MSG a 1 2\r\nabcd",
        b"x" * (1 << 20) + b"xx",
    ],
)
def test_what_is_no_protocol_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        Parser().feed(line)


@pytest.mark.parametrize("code", [100, 404, 408, 409, 503])
def test_a_status_is_told_from_a_message(code: int) -> None:
    status = status_of(Delivered(b"a", b"", block(f" {code} Some Words", {"Nats-Pending-Messages": "3"}), b""))
    assert status is not None
    assert (status.code, status.text) == (code, "Some Words")
    assert status_of(Delivered(b"a", b"", block("", {"x": "y"}), b"")) is None
    assert status_of(Delivered(b"a", b"", b"", b"")) is None
    with pytest.raises(ProtocolError):
        status_of(Delivered(b"a", b"", b"HTTP/1.1 200 OK\r\n\r\n", b""))


@given(headers=st.lists(st.tuples(NAMES | st.sampled_from([" ce-id", "ce-id "]), VALUES), max_size=8))
def test_headers_read_one_by_one_are_those_read_together(headers: list[tuple[str, str]]) -> None:
    head = b"NATS/1.0\r\n" + "".join(f"{name}:{value}\r\n" for name, value in headers).encode() + b"\r\n"
    together = dict(WireHeaders(head))
    assert together == {name.strip(): value for name, value in headers if not name.startswith("Nats-")}
    for name in ("ce-id", "ce-type", "ce-source", "Kernelmill-Prev", "Nats-Msg-Id", "x"):
        assert WireHeaders(head).get(name) == together.get(name)
