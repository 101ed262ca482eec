"""Control groups: one fresh group per sandboxed process, in version 2 where it is mounted, else the v1 freezer."""

import contextlib
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from kernelmill.sandbox.errors import SandboxError

PREFIX = "kernelmill"
_instances = count()


@dataclass(frozen=True)
class CgroupMounts:
    """Where this process's own groups are; None where a hierarchy is not mounted or not visible."""

    unified: Path | None
    """Version 2."""
    freezer: Path | None
    """The freezer hierarchy of version 1."""


@dataclass(frozen=True)
class Group:
    """A group for one process, made empty; the launcher removes it when the process has ended."""

    unified: Path | None
    freezer: Path | None


def find_mounts(mountinfo: str, membership: str) -> CgroupMounts:
    """Return the folders of the caller's own groups.

    Args:
        mountinfo: Text of /proc/self/mountinfo (proc(5)).
        membership: Text of /proc/self/cgroup (cgroups(7)).
    """
    own: dict[str, str] = {}
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    unified = freezer = None
    for line in mountinfo.splitlines():
        fields = line.split()
        separator = fields.index("-")
        kind, options = fields[separator + 1], fields[separator + 3].split(",")
        root, point = fields[3], fields[4]
        if kind == "cgroup2" and "" in own:
            unified = _folder(point, root, own[""])
        elif kind == "cgroup" and "freezer" in options and "freezer" in own:
            freezer = _folder(point, root, own["freezer"])
    return CgroupMounts(unified, freezer)


def _folder(point: str, root: str, path: str) -> Path:
    inside = path[len(root) :] if root != "/" and path.startswith(root) else path
    return Path(point) / inside.lstrip("/")


def _start_time(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def owner_is_dead(name: str, namespace: str) -> bool:
    """Say whether a group folder was made in this pid namespace by a process that no longer lives."""
    parts = name.split("-")
    if len(parts) != 5 or parts[0] != PREFIX or parts[1] != namespace or not parts[2].isdigit():
        return False
    return _start_time(int(parts[2])) != parts[3]


class Cgroups:
    """Makes groups below a folder of this process's own and sweeps those of dead owners. Thread-safe."""

    def __init__(self, *, unified: bool = True, freezer: bool = True) -> None:
        """Sweep what dead owners left and make this process's folder.

        Args:
            unified: Whether version 2 may be used.
            freezer: Whether the v1 freezer may be used instead.
        """
        mounts = find_mounts(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
        namespace = _pid_namespace()
        self._name = f"{PREFIX}-{namespace}-{os.getpid()}-{_start_time(os.getpid())}-{next(_instances)}"
        self._lock = threading.Lock()
        self._next = 0
        for base in (mounts.unified, mounts.freezer):
            if base is not None:
                sweep(base, namespace)
        self.unified = self._own_folder(mounts.unified, "cgroup.freeze") if unified else None
        """This process's folder in version 2; None where groups cannot be made or frozen."""
        self.freezer = self._own_folder(mounts.freezer, "freezer.state") if freezer and not self.unified else None
        """The same in the v1 freezer, used only without version 2."""

    def _own_folder(self, base: Path | None, needed: str) -> Path | None:
        if base is None:
            return None
        folder = base / self._name
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            return None
        if os.access(folder / needed, os.W_OK):
            return folder
        with contextlib.suppress(OSError):
            folder.rmdir()
        return None

    def create(self, *, memory_bytes: int, processes: int) -> Group:
        """Return a fresh, empty group, limited where the controllers are delegated.

        Raises:
            SandboxError: if the group cannot be made although others could.
        """
        with self._lock:
            self._next += 1
            name = str(self._next)
        try:
            if self.unified is not None:
                folder = self.unified / name
                folder.mkdir()
                for file, value in (("memory.max", memory_bytes), ("memory.swap.max", 0), ("pids.max", processes)):
                    if (folder / file).exists():
                        (folder / file).write_text(str(value))
                return Group(folder, None)
            if self.freezer is not None:
                folder = self.freezer / name
                folder.mkdir()
                return Group(None, folder)
        except OSError as error:
            raise SandboxError(f"cannot make a control group in {error.filename}: {error.strerror}") from error
        return Group(None, None)

    def abandon(self) -> None:
        """Make no more groups, because processes cannot be started in them."""
        self.close()
        self.unified = self.freezer = None

    def close(self) -> None:
        """Remove this process's own folders; groups that still hold processes are killed first."""
        for folder in (self.unified, self.freezer):
            if folder is not None:
                remove(folder)


def discard(group: Group) -> None:
    """Remove a group in which nothing was started."""
    for folder in (group.unified, group.freezer):
        if folder is not None:
            remove(folder)


def sweep(base: Path, namespace: str) -> None:
    """Kill and remove the groups below `base` whose owners are dead."""
    with contextlib.suppress(OSError):
        for folder in base.glob(f"{PREFIX}-*"):
            if owner_is_dead(folder.name, namespace):
                remove(folder)


def remove(folder: Path) -> None:
    """Kill what is in a group and its children and remove the folders; what stays busy is left for the next sweep."""
    for group in (*_children(folder), folder):
        for file, text in (("cgroup.kill", "1"), ("freezer.state", "THAWED")):
            with contextlib.suppress(OSError):
                if (group / file).exists():
                    (group / file).write_text(text)
        with contextlib.suppress(OSError):
            group.rmdir()


def _children(folder: Path) -> Iterable[Path]:
    with contextlib.suppress(OSError):
        yield from [entry for entry in folder.iterdir() if entry.is_dir()]
