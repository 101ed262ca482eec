"""Reads sizes and exported names from a shared object that a hostile compilation produced. Trusts no offset."""

import struct
from dataclasses import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ALLOCATED, _DYNSYM, _EXECUTABLE = 0x2, 11, 0x4


@dataclass(frozen=True)
class SharedObject:
    """What the target wants to know of a shared object."""

    exports_entry: bool
    """Whether .dynsym defines the name that was asked for."""
    text_bytes: int
    """Bytes of executable sections."""
    data_bytes: int
    """Bytes of other allocated sections, .bss included."""


def read_shared_object(data: bytes, entry: str) -> SharedObject | None:
    """Return the facts of a 64-bit little-endian ELF file (ELF-64 Object File Format 1.5), or None if it is none.

    Names are compared in place: their number and length are up to whoever wrote the program.
    """
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        return None
    offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    if size != _SECTION.size or offset + size * count > len(data):
        return None
    sections = [_SECTION.unpack_from(data, offset + index * size) for index in range(count)]
    text = sum(section[5] for section in sections if section[2] & _ALLOCATED and section[2] & _EXECUTABLE)
    rest = sum(section[5] for section in sections if section[2] & _ALLOCATED and not section[2] & _EXECUTABLE)
    tables = [section for section in sections if section[1] == _DYNSYM and section[6] < count]
    wanted = entry.encode() + b"\0"
    exports = any(_defines(data, table[4], table[5], sections[table[6]][4], wanted) for table in tables)
    return SharedObject(exports, text, rest)


def _defines(data: bytes, table: int, size: int, strings: int, wanted: bytes) -> bool:
    for at in range(table, min(table + size, len(data) - _SYMBOL.size + 1), _SYMBOL.size):
        name, _, _, section, _, _ = _SYMBOL.unpack_from(data, at)
        if section and data.startswith(wanted, strings + name):
            return True
    return False
