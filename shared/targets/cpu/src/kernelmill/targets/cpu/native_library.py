"""The trusted C library of the timing loop, compiled once and called through ctypes."""

import ctypes
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernelmill.sandbox import build_trusted

SOURCES = Path(__file__).parent / "native"
DONE, TIMED_OUT, DIED, NOT_FROZEN, WENT_ON = range(5)
FREEZE_UNIFIED, FREEZE_V1, FREEZE_SIGNAL = range(3)


class FreezerStruct(ctypes.Structure):
    """`struct freezer` of measure.c."""

    _fields_ = (
        ("kind", ctypes.c_int64),
        ("state", ctypes.c_int64),
        ("events", ctypes.c_int64),
        ("pid", ctypes.c_int64),
    )


class MeasureLibrary:
    """measure.c with its types. Calls release the interpreter's lock."""

    def __init__(self, folder: Path) -> None:
        path = build_trusted(SOURCES / "measure.c", folder, ("-O3", "-shared", "-fPIC"))
        library = ctypes.CDLL(str(path))
        word, number, pointer = ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p
        self.freeze = library.km_freeze
        """km_freeze(freezer*) -> outcome."""
        self.freeze.argtypes, self.freeze.restype = [pointer], number
        self.turn = library.km_turn
        """km_turn(freezer*, control*, channel, number, first, count, limit_ns, polite, places*, place_count,
        elapsed_ns*) -> outcome."""
        self.turn.argtypes = [pointer, pointer, number, word, word, word, number, number, pointer, word, pointer]
        self.turn.restype = number
        self.poison = library.km_poison
        """km_poison(into, bytes, pattern)."""
        self.poison.argtypes, self.poison.restype = [pointer, word, word], None
        self._uniform = library.km_uniform
        self._uniform.argtypes, self._uniform.restype = [pointer, word, word, ctypes.c_float], None
        self.reclaim = library.km_reclaim
        """km_reclaim(at, bytes)."""
        self.reclaim.argtypes, self.reclaim.restype = [pointer, word], None
        self.find = library.km_find
        """km_find(in, bytes, pattern, width) -> index or -1."""
        self.find.argtypes, self.find.restype = [pointer, word, word, word], number
        self.flush = library.km_flush
        """km_flush(from, bytes)."""
        self.flush.argtypes, self.flush.restype = [pointer, word], None
        self.number = library.km_number
        """km_number(descriptor, key) -> number or -1."""
        self.number.argtypes, self.number.restype = [number, ctypes.c_char_p], number

    def uniform(self, into: NDArray[Any], spread: float, seed: int) -> None:
        """Fill a contiguous float32 array with values uniform in [-spread, spread); the 64-bit seed gives them."""
        self._uniform(into.ctypes.data, into.size, seed, spread)
