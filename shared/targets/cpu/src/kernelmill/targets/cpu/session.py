"""A session that checks one artifact: one fresh process, calls on poisoned outputs."""

import secrets
import time
from types import TracebackType
from typing import Self

import numpy as np

from kernelmill.targets.cpu.buffers import Pool
from kernelmill.targets.cpu.endings import HarnessFailed
from kernelmill.targets.cpu.harness import Harness
from kernelmill.targets.cpu.locks import SharedLease
from kernelmill.targets.cpu.native_library import MeasureLibrary
from kernelmill.targets.cpu.poison import poison
from kernelmill.targets.port import Call, CallResult, TensorSpec

LOAD_SECONDS = 30.0
LIMITS_OF_ALL_CALLS = 3.0
"""All calls of a session together may take so many times the limit of one."""


class CpuSession:
    """One sandboxed process with an artifact; see `kernelmill.targets.port.Session`. Use it in one thread."""

    def __init__(
        self,
        harness: Harness,
        library: MeasureLibrary,
        wall_seconds: float,
        lease: SharedLease,
    ) -> None:
        self._harness = harness
        self._library = library
        self._wall_seconds = wall_seconds
        self._left_seconds = LIMITS_OF_ALL_CALLS * wall_seconds
        self._lease = lease
        self._over: HarnessFailed | None = None
        self._loaded = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._harness.close()
        finally:
            self._lease.close()

    def run(self, call: Call) -> CallResult:
        """Run one call on poisoned outputs and return copies of what it wrote.

        Raises:
            ValueError: if the call has more arguments than the harness can pass.
            OSError: if the sandbox fails.
        """
        self._lease.step()
        if self._over is None and not self._loaded:
            self._over = self._harness.ready(time.monotonic() + min(LOAD_SECONDS, max(self._wall_seconds, 5.0)))
            self._loaded = self._over is None
        if self._over is None:
            inputs = tuple(TensorSpec(name, np.shape(value), value.dtype) for name, value in call.inputs.items())
            with Pool(inputs, call.outputs, call.axes, 1, guarded=True) as pool:
                (slot,) = pool.slots
                for name, value in call.inputs.items():
                    slot.inputs[name][...] = value
                secret = secrets.randbits(64)
                for address, size, dtype in slot.output_spans:
                    poison(self._library, address, size, secret, dtype)
                began = time.monotonic()
                self._over = self._harness.offer(pool, "run", began + min(self._wall_seconds, self._left_seconds))
                self._left_seconds -= time.monotonic() - began
                if self._over is None and pool.spilled():
                    self._over = HarnessFailed("crashed", "it wrote beyond an output")
                if self._over is None:
                    outputs = {name: value.copy() for name, value in slot.outputs.items()}
                    return CallResult("completed", outputs, "")
        return CallResult(self._over.outcome, None, self._over.detail)
