"""The machine's state around a measurement, read from /proc and /sys."""

import os
from pathlib import Path
from time import monotonic

from kernelmill.events import Telemetry

_TICKS = os.sysconf("SC_CLK_TCK")


def steal_ticks(core: int, stat: str) -> int:
    """Return the clock ticks that the hypervisor took from a core, given the text of /proc/stat; -1 where unknown."""
    for line in stat.splitlines():
        fields = line.split()
        if fields and fields[0] == f"cpu{core}":
            return int(fields[8]) if len(fields) > 8 else -1
    return -1


class StealWatch:
    """Counts stolen time of a core."""

    def __init__(self, core: int) -> None:
        self._core = core
        self._descriptor = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self._began = monotonic()
        self.first = self.now()
        """Ticks at the start; -1 where unknown."""

    def now(self) -> int:
        """Return the ticks stolen since boot."""
        return steal_ticks(self._core, os.pread(self._descriptor, 1 << 16, 0).decode())

    def fraction(self) -> float:
        """Return the share of time stolen since the start, or -1 where unknown."""
        if self.first < 0:
            return -1.0
        return max(0, self.now() - self.first) / _TICKS / max(monotonic() - self._began, 1 / _TICKS)

    def close(self) -> None:
        """Close /proc/stat."""
        os.close(self._descriptor)


def frequency_mhz(core: int) -> float:
    """Return the present clock of a core in MHz, or 0 where unknown."""
    try:
        return int(Path(f"/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq").read_text()) / 1e3
    except (OSError, ValueError):
        pass
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return 0.0
    clocks = [float(line.partition(":")[2]) for line in text.splitlines() if line.startswith("cpu MHz")]
    return clocks[core] if core < len(clocks) else 0.0


def migrations(pid: int) -> int:
    """Return how often a process moved between cores, or -1 where the kernel does not tell."""
    try:
        text = Path(f"/proc/{pid}/sched").read_text()
    except OSError:
        return -1
    found = [line.partition(":")[2] for line in text.splitlines() if line.startswith("se.nr_migrations")]
    return int(found[0]) if found else -1


def telemetry(watch: StealWatch, core: int, pid: int) -> Telemetry:
    """Return the state of the machine, the bench core and the candidate's process."""
    return Telemetry(
        load_1m=os.getloadavg()[0],
        steal_fraction=watch.fraction(),
        migrations=migrations(pid),
        frequency_mhz=frequency_mhz(core),
    )
