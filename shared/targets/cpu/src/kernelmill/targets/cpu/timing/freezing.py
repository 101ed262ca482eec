"""Keeps a harness still outside its turn, and tells how much CPU time it has used."""

import ctypes
import os

from kernelmill.sandbox import Freeze, Group
from kernelmill.targets.cpu.native_library import (
    FREEZE_SIGNAL,
    FREEZE_UNIFIED,
    FREEZE_V1,
    FreezerStruct,
    MeasureLibrary,
)


def freeze_kind(group: Group) -> Freeze:
    """Return what keeps a process of this group still."""
    if group.unified is not None:
        return "cgroup-v2"
    return "cgroup-v1" if group.freezer is not None else "self-stop"


class Freezer:
    """Open descriptors of one process's group. Close it."""

    def __init__(self, library: MeasureLibrary, group: Group, pid: int) -> None:
        self._library = library
        self.kind: Freeze = freeze_kind(group)
        """What keeps it still."""
        self._descriptors: list[int] = []
        if group.unified is not None:
            state = self._open(f"{group.unified}/cgroup.freeze", os.O_RDWR)
            events = self._open(f"{group.unified}/cgroup.events", os.O_RDONLY)
            self._usage, self._key, self._unit = (
                self._open(f"{group.unified}/cpu.stat", os.O_RDONLY),
                b"usage_usec",
                1e-6,
            )
            kind = FREEZE_UNIFIED
        else:
            # Without version 2 only the first thread's time is seen; such machines give weaker evidence.
            self._usage, self._key, self._unit = self._open(f"/proc/{pid}/schedstat", os.O_RDONLY), b"", 1e-9
            if group.freezer is not None:
                state = events = self._open(f"{group.freezer}/freezer.state", os.O_RDWR)
                kind = FREEZE_V1
            else:
                state, events, kind = -1, self._open(f"/proc/{pid}/stat", os.O_RDONLY), FREEZE_SIGNAL
        self.struct = FreezerStruct(kind, state, events, pid)
        """What the C library needs."""

    def _open(self, path: str, flags: int) -> int:
        descriptor = os.open(path, flags | os.O_CLOEXEC)
        self._descriptors.append(descriptor)
        return descriptor

    def freeze(self) -> bool:
        """Stop everything in the group; False if the kernel did not manage within two seconds."""
        return int(self._library.freeze(ctypes.byref(self.struct))) == 0

    def cpu_seconds(self) -> float:
        """Return the CPU time used so far in seconds, or -1 where it cannot be read."""
        number = int(self._library.number(self._usage, self._key))
        return number * self._unit if number >= 0 else -1.0

    def close(self) -> None:
        """Close the descriptors."""
        while self._descriptors:
            os.close(self._descriptors.pop())
