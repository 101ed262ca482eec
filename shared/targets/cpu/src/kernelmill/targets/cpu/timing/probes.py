"""The node's own limits, measured by its best probes and kept per fingerprint."""

import ctypes
import json
import math
import tempfile
import threading
from pathlib import Path

from kernelmill.sandbox import build_trusted
from kernelmill.targets.cpu.errors import MeasurementError
from kernelmill.targets.cpu.native_library import SOURCES

READ, COPY, MULTIPLY_ADD = range(3)
LEAST_BYTES = 64 << 10
MOST_BYTES = 1 << 30
PROBE_FLOPS = 20_000_000
PROBE_TRAFFIC = 256 << 20
"""Bytes that one probe moves in all its rounds, at least eight of them."""


def bucket(footprint_bytes: int) -> int:
    """Return the footprint at which a probe runs: the next lower quarter power of two, within bounds.

    A smaller footprint is never slower, so rounding down keeps the floor on the safe side.
    """
    bounded = min(max(footprint_bytes, LEAST_BYTES), MOST_BYTES)
    return int(2 ** (math.floor(4 * math.log2(bounded)) / 4)) // 4096 * 4096


class Probes:
    """Measures rates once per node and keeps them in a file. Thread-safe."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._file = folder / f"probes-{fingerprint[:24]}.json"
        self._lock = threading.Lock()
        self._library: ctypes.CDLL | None = None
        self._rates: dict[str, float] = {}
        if self._file.exists():
            self._rates = {str(key): float(value) for key, value in json.loads(self._file.read_text()).items()}

    def seconds(self, footprint_bytes: int, flops: int, threads: int) -> float:
        """Return the seconds that the best probe needs for these bytes and operations; the slower of both counts.

        Raises:
            MeasurementError: if a probe cannot run.
        """
        with self._lock:
            moving = footprint_bytes / self._bandwidth(bucket(footprint_bytes), threads) if footprint_bytes else 0.0
            computing = flops / self._rate(MULTIPLY_ADD, PROBE_FLOPS * threads, threads) if flops else 0.0
        return max(moving, computing)

    def _bandwidth(self, footprint: int, threads: int) -> float:
        return max(self._rate(kind, footprint, threads) for kind in (READ, COPY))

    def _rate(self, kind: int, amount: int, threads: int) -> float:
        key = f"{kind}-{amount}-{threads}"
        if key not in self._rates:
            rounds = 8 if kind == MULTIPLY_ADD else max(8, PROBE_TRAFFIC // amount)
            best = float(self._loaded().km_probe(kind, amount, threads, rounds))
            if best <= 0:
                raise MeasurementError(f"a probe of {amount} bytes or operations with {threads} threads could not run")
            self._rates[key] = amount / best
            self._keep()
        return self._rates[key]

    def _loaded(self) -> ctypes.CDLL:
        if self._library is None:
            flags = (
                "-O3",
                "-march=native",
                "-fassociative-math",
                "-fno-signed-zeros",
                "-fno-trapping-math",
                "-shared",
                "-fPIC",
                "-pthread",
            )
            # The result runs on this kind of processor only, and so does this folder's name.
            path = build_trusted(SOURCES / "probes.c", self._file.with_suffix(""), flags)
            self._library = ctypes.CDLL(str(path))
            self._library.km_probe.argtypes = [ctypes.c_int64, ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64]
            self._library.km_probe.restype = ctypes.c_double
        return self._library

    def _keep(self) -> None:
        with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False) as file:
            json.dump(self._rates, file)
        Path(file.name).chmod(0o644)
        Path(file.name).rename(self._file)
