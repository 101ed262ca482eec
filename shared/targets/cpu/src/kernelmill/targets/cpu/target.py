"""The cpu target: C kernels on this machine's own cores, behind the port."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from kernelmill.events import BuildOptions, Fingerprint, Sandboxing
from kernelmill.sandbox import Freeze, Sandbox, reachable_by_others
from kernelmill.targets.cpu import facts, toolchain
from kernelmill.targets.cpu.compiling import Builder
from kernelmill.targets.cpu.cores import available_cores, divide
from kernelmill.targets.cpu.errors import MeasurementError
from kernelmill.targets.cpu.harness import Launchpad
from kernelmill.targets.cpu.locks import MachineLock, SharedLease
from kernelmill.targets.cpu.native_library import MeasureLibrary
from kernelmill.targets.cpu.screening import screen
from kernelmill.targets.cpu.session import CpuSession
from kernelmill.targets.cpu.timing.contender import Side, Track
from kernelmill.targets.cpu.timing.dispatch import EMPTY_SOURCE, DispatchCost, measure_dispatch
from kernelmill.targets.cpu.timing.pair import PairTimer, Surroundings
from kernelmill.targets.cpu.timing.probes import Probes
from kernelmill.targets.port import (
    Artifact,
    CandidateFault,
    CompileFailure,
    InfrastructureFault,
    Limits,
    PairMeasured,
    PairPlan,
    Program,
    Screening,
    TimedRow,
)

Timed = PairMeasured | CandidateFault | InfrastructureFault
START_SECONDS = 60.0
SESSION_SLICE_SECONDS = 0.1
"""How long a checking session may keep a timer waiting, where both share the cores."""
DATA_VARIABLE = "KERNELMILL_DATA"
SHARED_CACHE = Path("/var/tmp/kernelmill")  # noqa: S108  # made by root for root, checked before use


def default_cache() -> Path:
    """Return `$KERNELMILL_DATA/cache/cpu` (`.kernelmill` by default), or a folder of root's own that others can reach.

    Sandboxed processes of root run under other user ids and must be able to walk to what they load.
    """
    folder = Path(os.environ.get(DATA_VARIABLE, ".kernelmill")).absolute() / "cache" / "cpu"
    if os.geteuid() or reachable_by_others(folder):
        return folder
    SHARED_CACHE.mkdir(mode=0o755, exist_ok=True)
    if SHARED_CACHE.is_symlink() or SHARED_CACHE.stat().st_uid:
        raise PermissionError(f"{SHARED_CACHE} belongs to another user; remove it or set {DATA_VARIABLE}")
    return SHARED_CACHE / "cpu"


class CpuTarget:
    """C kernels on the cores of this machine; see `kernelmill.targets.port.Target`. Thread-safe.

    One instance per process is enough: it holds the sandbox, the compiled harness and the caches.
    """

    name = "cpu"

    def __init__(self, cache: Path | None = None, *, strongest_freeze: Freeze = "cgroup-v2") -> None:
        """Set up the sandbox and compile the harness, unless that was done before.

        Args:
            cache: Folder for binaries, objects, artifacts and probes; None: `default_cache()`.
            strongest_freeze: The strongest way of keeping processes still; weaker ones follow where it does not work.

        Raises:
            OSError: if the sandbox cannot be set up; the message says what is missing.
        """
        self._folder = default_cache() if cache is None else cache.absolute()
        binaries = self._folder / "binaries"
        binaries.mkdir(parents=True, exist_ok=True)
        self._cores = divide(available_cores())
        self._lock = MachineLock(exclusive_only=self._cores.reserved)
        self._sandbox = Sandbox(binaries, strongest=strongest_freeze)
        self._library = MeasureLibrary(binaries)
        self._builder = Builder(self._sandbox, self._folder, self._cores.others)
        self._launchpad = Launchpad(self._sandbox, self._folder)
        self._track = Track(self._launchpad, self._library, self._cores)
        self._once = threading.Lock()
        self._dispatch: DispatchCost | None = None

    def fingerprint(self) -> Fingerprint:
        """Return everything a timing on this machine depends on besides the code."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> Fingerprint:
        return facts.fingerprint(self._cores, self._sandbox.freeze)

    def capabilities(self) -> dict[str, str]:
        """Return `native-flags` (of gcc where installed), `native-flags-<compiler>`, `compilers` and `threads`."""
        installed = toolchain.installed()
        flags = {f"native-flags-{name}": " ".join(toolchain.native_flags(name)) for name in installed}
        first = next(iter(flags.values()), "")
        return {
            **flags,
            "native-flags": first,
            "compilers": " ".join(installed),
            "threads": str(len(available_cores())),
        }

    def sandboxing(self) -> Sandboxing:
        """Return how strongly candidates are isolated on this machine."""
        return Sandboxing(freeze=self._sandbox.freeze, layers=self._sandbox.layers)

    def resolve(self, build: BuildOptions) -> BuildOptions:
        """Return the options with `native` replaced by named features.

        Raises:
            CompilerMissingError: if `native` is used with a compiler that is not installed.
        """
        return toolchain.resolve(build)

    def screen(self, program: Program, *, finite_inputs: bool) -> Screening:
        """Look at sources and flags only. `finite_inputs`: the problem leaves non-finite inputs undefined."""
        return screen(program, finite_inputs=finite_inputs)

    def compile(self, program: Program, *, layout_seed: bytes | None = None) -> Artifact | CompileFailure:
        """Build in the sandbox. A layout seed shuffles objects and pads randomly without touching the code.

        Objects are kept by content, so further layouts of a program cost a link only.

        Raises:
            OSError: if a compiler or library is missing or the sandbox fails.
        """
        with self._lock.shared():
            return self._builder.build(program, layout_seed)

    def session(self, artifact: Artifact, limits: Limits) -> CpuSession:
        """Return a fresh sandboxed process that loads the artifact. Use and leave it in the thread that made it.

        Raises:
            OSError: when the sandbox itself cannot be set up.
        """
        lease = SharedLease(self._lock, SESSION_SLICE_SECONDS)
        try:
            harness = self._launchpad.start(artifact, limits, cpus=self._cores.others, wall_seconds=0.0)
        except BaseException:
            lease.close()
            raise
        return CpuSession(harness, self._library, limits.wall_seconds, lease)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the machine's timing lock over several pairs; `time_pair` takes it by itself otherwise."""
        with self._lock.exclusive():
            yield

    def time_pair(
        self, candidate: Artifact, opponent: Artifact, row: TimedRow, plan: PairPlan, limits: Limits
    ) -> Timed:
        """Time two fresh processes against each other on the same fresh inputs, outputs checked.

        Faults of the machinery are returned, not raised.
        """
        began = time.monotonic()
        life = plan.deadline_seconds + START_SECONDS + 2 * limits.wall_seconds
        try:
            with self._lock.exclusive(), self._pinned():
                began = time.monotonic()
                around = Surroundings(self._library, self._cores.bench[0], self.sandboxing(), self._dispatch_cost())
                timer = PairTimer(row, plan, around, limits.wall_seconds)
                return self._race({"candidate": candidate, "opponent": opponent}, timer, limits, life)
        except OSError as error:
            return InfrastructureFault(f"{type(error).__name__}: {error}", time.monotonic() - began)

    def _race(self, sides: Mapping[Side, Artifact], timer: PairTimer, limits: Limits, life_seconds: float) -> Timed:
        with contextlib.ExitStack() as open_sides:
            contenders = []
            for side, artifact in sides.items():
                contender = self._track.open(side, artifact, limits, life_seconds)
                open_sides.callback(contender.close)
                contenders.append(contender)
            return timer.run(*contenders)

    @contextlib.contextmanager
    def _pinned(self) -> Iterator[None]:
        """Keep the calling thread off the timed core, and only this thread."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self._cores.parent})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    def _dispatch_cost(self) -> DispatchCost:
        """Measure what the protocol costs, once per process; the caller holds the machine's lock."""
        with self._once:
            if self._dispatch is None:
                empty = Program({"empty.c": EMPTY_SOURCE}, "kernel", BuildOptions(flags=("-O2",)))
                artifact = self._builder.build(empty, None)
                if isinstance(artifact, CompileFailure):
                    raise MeasurementError(f"the empty kernel does not compile: {artifact.diagnostics}")
                contender = self._track.open("opponent", artifact, Limits(), START_SECONDS)
                try:
                    self._dispatch = measure_dispatch(contender)
                finally:
                    contender.close()
            return self._dispatch

    def probe_floor(self, footprint_bytes: int, flops: int, threads: int) -> float:
        """Return the seconds that the node's own best probe needs for these bytes and operations, cached per node.

        Raises:
            OSError: if a probe cannot run.
        """
        with self._lock.exclusive():
            return self._probes.seconds(footprint_bytes, flops, threads)

    @cached_property
    def _probes(self) -> Probes:
        return Probes(self._folder, self.fingerprint().digest)

    def close(self) -> None:
        """Remove this process's control groups; the end of the process does the same."""
        self._sandbox.close()
