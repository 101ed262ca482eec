"""Headers that are decoded when somebody asks for them: most readers want two of ten."""

from collections.abc import Iterator, Mapping
from typing import Final

from kernelmill.bus.jetstream.protocol import header_lines

RESERVED: Final = "Nats-"
"""Prefix of the headers that belong to the server, not to the message."""


class WireHeaders(Mapping[str, str]):
    """The headers of a message, over the block of bytes that the server sent."""

    __slots__ = ("_block", "_found")

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._found: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        if self._found is None and not name.startswith(RESERVED):
            # A name that occurs once, where a line begins, is that header and no other: the rest need not be read.
            wanted, block = name.encode(), self._block
            at = block.find(b"\r\n%b:" % wanted)
            if at >= 0 and block.count(wanted) == 1:
                start = at + len(wanted) + 3
                return block[start : block.find(b"\r\n", start)].strip().decode("utf-8", "replace")
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, str]:
        if self._found is None:
            lines = header_lines(self._block)
            self._found = {name: value for name, value in lines.items() if not name.startswith(RESERVED)}
        return self._found
