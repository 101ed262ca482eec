"""Unprivileged user ids, one per running sandbox, so that limits per user do not meet and nobody signals another."""

import fcntl
import os
import threading
from pathlib import Path

from kernelmill.sandbox.errors import SandboxError
from kernelmill.sandbox.places import open_lock, runtime_folder

PREFERRED_BASE = 1_879_048_192
"""Above every range that systemd and distributions hand out."""
FALLBACK_BASE = 60_600
"""Used where the user namespace maps only 16-bit ids."""
SLOTS = 256


def base_uid(uid_map: str) -> int:
    """Return the first user id of the slots, given the text of /proc/self/uid_map (user_namespaces(7))."""
    for line in uid_map.splitlines():
        first, _, count = (int(field) for field in line.split())
        if first <= PREFERRED_BASE and first + count >= PREFERRED_BASE + SLOTS:
            return PREFERRED_BASE
    return FALLBACK_BASE


class UserSlots:
    """A pool of user ids, unique on the machine while this process lives. Thread-safe."""

    def __init__(self) -> None:
        self._base = base_uid(Path("/proc/self/uid_map").read_text())
        self._lock = threading.Lock()
        self._free: list[int] = []
        self._held: dict[int, int] = {}

    def acquire(self) -> int:
        """Return a user id that no other sandbox uses.

        Raises:
            SandboxError: when all are taken.
        """
        with self._lock:
            if self._free:
                return self._free.pop()
            folder = runtime_folder()
            for slot in range(SLOTS):
                uid = self._base + slot
                if uid in self._held:
                    continue
                descriptor = open_lock(folder / f"uid-{uid}.lock")
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(descriptor)
                    continue
                self._held[uid] = descriptor
                return uid
        raise SandboxError(f"all {SLOTS} user ids for sandboxes are taken; lower the number of slots")

    def release(self, uid: int) -> None:
        """Give a user id back to this process's pool."""
        with self._lock:
            self._free.append(uid)
