"""Poison: a secret pattern in every output before a call; what still holds it afterwards was never written."""

import numpy as np

from kernelmill.targets.cpu.native_library import MeasureLibrary

_SIGN_FREE = {
    2: 0x7FC1_7FC1_7FC1_7FC1,
    4: 0x7FC0_0001_7FC0_0001,
    8: 0x7FF8_0000_0000_0001,
}
"""Quiet NaNs of float32/bfloat16, float64; the free payload bits are filled with secret ones."""
_FREE_BITS = {2: 0x003E_003E_003E_003E, 4: 0x003F_FFFE_003F_FFFE, 8: 0x0003_FFFF_FFFF_FFFE}


def pattern_for(secret: int, dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """Return (64-bit pattern, width in bytes at which it is looked for).

    Floating point outputs hold NaNs with a secret payload, found element by element. Any bits are a legitimate
    integer, so integers are looked for eight bytes at a time, where chance hits do not happen.

    Args:
        secret: 64 random bits.
        dtype: Element type of the output.
    """
    width = dtype.itemsize
    if dtype.kind == "f" and width in _SIGN_FREE:
        repeat = {2: 0x0001_0001_0001_0001, 4: 0x0000_0001_0000_0001, 8: 1}[width]
        chosen = (secret & ((1 << (8 * width)) - 1)) * repeat
        return _SIGN_FREE[width] | (chosen & _FREE_BITS[width]), width
    return secret | 1, 8


def poison(library: MeasureLibrary, address: int, size: int, secret: int, dtype: np.dtype[np.generic]) -> None:
    """Fill one output with poison."""
    library.poison(address, size, pattern_for(secret, dtype)[0])


def first_unfinished(
    library: MeasureLibrary, address: int, size: int, secret: int, dtype: np.dtype[np.generic]
) -> int | None:
    """Return the byte offset of the first place that was never written, or None."""
    pattern, width = pattern_for(secret, dtype)
    index = library.find(address, size, pattern, width)
    return None if index < 0 else int(index) * width
