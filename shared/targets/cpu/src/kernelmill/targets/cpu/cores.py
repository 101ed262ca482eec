"""Which core is timed, which core the parent spins on, and which cores everything else may use."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

RESERVE_FROM = 4
"""With at least so many cores, two are reserved for timing and nothing else runs there."""


@dataclass(frozen=True)
class Cores:
    """The division of this machine's cores."""

    bench: tuple[int, ...]
    """Where timed processes run; the first one for single-threaded rows."""
    parent: int
    """Where the parent spins while it times; equal to the bench core on a machine with one core."""
    others: tuple[int, ...]
    """Where compilers and checks run."""

    @property
    def reserved(self) -> bool:
        """Whether timing has cores of its own, so that compilers and checks need not wait for it."""
        return not set(self.others) & {*self.bench, self.parent}

    def for_threads(self, threads: int) -> tuple[int, ...]:
        """Return the cores of a timed process with that many threads; the parent's core is used last."""
        if threads <= len(self.bench):
            return self.bench[:threads]
        spare = [core for core in (*self.others, self.parent) if core not in self.bench]
        return (*self.bench, *dict.fromkeys(spare))[:threads]


def divide(available: Iterable[int]) -> Cores:
    """Divide the cores that this process may use: the last is timed, the one before it is the parent's.

    The first cores take most interrupts, so timing stays away from them.
    """
    cores = sorted(available)
    if len(cores) == 1:
        return Cores((cores[0],), cores[0], (cores[0],))
    if len(cores) < RESERVE_FROM:
        return Cores((cores[-1],), cores[-2], tuple(cores))
    return Cores((cores[-1],), cores[-2], tuple(cores[:-2]))


def available_cores() -> tuple[int, ...]:
    """Return the cores that this machine lets us use, whatever the calling thread is pinned to right now."""
    return tuple(sorted(os.sched_getaffinity(os.getpid())))


def last_level_cache_bytes() -> int:
    """Return the size of the largest data cache of core 0, or 32 MiB where the kernel does not tell."""
    sizes = []
    for entry in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        text = (entry / "size").read_text().strip()
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
        sizes.append(int(text.rstrip("KMG")) * unit)
    return max(sizes, default=32 << 20)
