"""Folders that every process of the machine agrees on, and whether other users can reach a path."""

import os
import stat
import tempfile
from pathlib import Path

LOCK_FOLDER = "kernelmill"


def runtime_folder() -> Path:
    """Return the machine-wide folder of lock files, created if missing: below /run/lock, else the temporary folder."""
    for base in (Path("/run/lock"), Path(tempfile.gettempdir())):
        folder = base / LOCK_FOLDER
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o1777)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    private = Path(tempfile.gettempdir()) / f"{LOCK_FOLDER}-{os.geteuid()}"
    private.mkdir(exist_ok=True)
    return private


def open_lock(path: Path) -> int:
    """Return a descriptor for `flock`, creating the file if missing.

    It is opened for reading only: in a sticky folder the kernel refuses to open another user's file for creation.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)


def reachable_by_others(path: Path) -> bool:
    """Say whether an unprivileged user may walk to `path`."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.absolute().parents if folder.exists())
