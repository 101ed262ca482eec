"""Headers that are decoded when somebody asks for them: most readers want two of ten."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from kernelmill.bus.jetstream.protocol import header_lines

RESERVED: Final = "Nats-"
"""Prefix of the headers that belong to the server, not to the message."""


@lru_cache(maxsize=64)
def _needles(name: str) -> tuple[bytes, bytes]:
    wanted = name.encode()
    return wanted, b"\r\n" + wanted + b":"


class WireHeaders(Mapping[str, str]):
    """The headers of a message, over the block of bytes that the server sent."""

    __slots__ = ("_block", "_found")

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._found: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        found = self._alone(name) if self._found is None else None
        return self._all()[name] if found is None else found

    def get(self, name: str, /, default: Any = None) -> Any:
        """Return a header's value, or the default; the way of `Mapping` is twice as long."""
        found = self._alone(name) if self._found is None else None
        return self._all().get(name, default) if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _alone(self, name: str) -> str | None:
        """Return a header's value without reading the others, None where that is not certain to be the same.

        A name that occurs once in the block, where a line begins, is that header and no other.
        """
        if name.startswith(RESERVED):
            return None
        wanted, line = _needles(name)
        block = self._block
        at = block.find(line)
        if at < 0 or block.count(wanted) != 1:
            return None
        at += len(line)
        return block[at : block.find(b"\r\n", at)].strip().decode("utf-8", "replace")

    def _all(self) -> dict[str, str]:
        if self._found is None:
            lines = header_lines(self._block)
            self._found = {name: value for name, value in lines.items() if not name.startswith(RESERVED)}
        return self._found
