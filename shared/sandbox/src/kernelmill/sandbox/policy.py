"""What a sandboxed program may see and use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Freeze = Literal["cgroup-v2", "cgroup-v1", "self-stop"]
"""What keeps a process still: its control group, or only stop signals, which is weaker."""

SYSTEM_LIBRARIES = tuple(Path(path) for path in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"))
"""What the dynamic loader needs; those that exist are readable in every sandbox."""


@dataclass(frozen=True)
class Confinement:
    """Limits and visible files of one process. All but `readable` and `writable` is invisible or refused."""

    wall_seconds: float
    """After this the launcher kills everything inside, whatever the caller does; 0: no limit."""
    cpu_seconds: float
    """RLIMIT_CPU, rounded up to whole seconds."""
    memory_bytes: int
    """Address space of one process (RLIMIT_AS), and memory of the group where the controller is delegated."""
    processes: int = 1
    """Processes and threads of the sandbox's own user."""
    file_bytes: int = 64 << 20
    """Largest file that may be written."""
    readable: tuple[Path, ...] = ()
    """Files and folders that may be read and executed, besides the system's libraries."""
    writable: Path | None = None
    """The one folder that may be written; it becomes the working folder."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment."""
    cpus: tuple[int, ...] = ()
    """Cores that it is pinned to; empty: as the caller."""
    keep: tuple[int, ...] = ()
    """Descriptors that stay open, under the same numbers."""
    group: bool = True
    """Whether it gets a control group of its own, so that it can be frozen."""
    user_slot: bool = True
    """Whether it runs under a user id of its own; False only for trusted programs that others cannot reach."""
