"""Reads sizes and exported names from a shared object that a hostile compilation produced. Trusts no offset."""

import struct
from dataclasses import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ALLOCATED, _DYNSYM, _EXECUTABLE = 0x2, 11, 0x4


@dataclass(frozen=True)
class SharedObject:
    """What the target wants to know of a shared object."""

    exported: frozenset[str]
    """Names of defined functions and objects in .dynsym."""
    text_bytes: int
    """Bytes of executable sections."""
    data_bytes: int
    """Bytes of other allocated sections, .bss included."""


def read_shared_object(data: bytes) -> SharedObject | None:
    """Return the facts of a 64-bit little-endian ELF file (ELF-64 Object File Format 1.5), or None if it is none."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        return None
    offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    if size != _SECTION.size or offset + size * count > len(data):
        return None
    sections = [_SECTION.unpack_from(data, offset + index * size) for index in range(count)]
    text = sum(section[5] for section in sections if section[2] & _ALLOCATED and section[2] & _EXECUTABLE)
    rest = sum(section[5] for section in sections if section[2] & _ALLOCATED and not section[2] & _EXECUTABLE)
    exported: set[str] = set()
    for section in sections:
        if section[1] == _DYNSYM and section[6] < count:
            exported |= _defined_names(data, section[4], section[5], sections[section[6]][4])
    return SharedObject(frozenset(exported), text, rest)


def _defined_names(data: bytes, table: int, size: int, strings: int) -> set[str]:
    names = set()
    for at in range(table, min(table + size, len(data) - _SYMBOL.size + 1), _SYMBOL.size):
        name, _, _, section, _, _ = _SYMBOL.unpack_from(data, at)
        end = data.find(b"\0", strings + name)
        if section and name and end > 0:
            names.add(data[strings + name : end].decode(errors="replace"))
    return names
