"""Finding one's own control groups, and telling folders of dead owners from those of others."""

import os
from pathlib import Path

from kernelmill.sandbox.cgroups import CgroupMounts, find_mounts, owner_is_dead

HYBRID = """\
24 20 0:21 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
25 24 0:22 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
26 24 0:23 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
27 24 0:24 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
"""
PURE = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot\n"
CONTAINER = "30 23 0:26 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"


def test_hybrid_hierarchy() -> None:
    mounts = find_mounts(HYBRID, "9:freezer:/jobs\n3:cpu,cpuacct:/\n0::/user.slice\n")
    assert mounts == CgroupMounts(Path("/sys/fs/cgroup/unified/user.slice"), Path("/sys/fs/cgroup/freezer/jobs"))


def test_pure_version_2() -> None:
    mounts = find_mounts(PURE, "0::/user.slice/user-1000.slice/session-3.scope\n")
    assert mounts == CgroupMounts(Path("/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope"), None)


def test_inside_a_container_paths_start_at_the_mount() -> None:
    assert find_mounts(CONTAINER, "0::/docker/abc/work\n").unified == Path("/sys/fs/cgroup/work")
    assert find_mounts(PURE, "0::/\n").unified == Path("/sys/fs/cgroup")


def test_nothing_mounted() -> None:
    assert find_mounts("", "0::/\n") == CgroupMounts(None, None)


def test_owner_that_lives_is_not_dead() -> None:
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    assert not owner_is_dead(f"kernelmill-7-{os.getpid()}-{start}-0", "7")
    assert owner_is_dead(f"kernelmill-7-{os.getpid()}-{int(start) + 1}-0", "7")


def test_folders_of_other_namespaces_and_strangers_are_left_alone() -> None:
    assert not owner_is_dead("kernelmill-8-999999999-1-0", "7")
    assert not owner_is_dead("kernelmill-7", "7")
    assert not owner_is_dead("somebody-7-999999999-1-0", "7")
    assert owner_is_dead("kernelmill-7-999999999-1-0", "7")
