"""Uniform inputs for timed calls: numpy's, unless a target has a faster way to make them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Uniform = Callable[[NDArray[Any], float, int], None]
"""Fills a float32 array with values uniform in [-spread, spread), from a 64-bit seed."""


def numpy_uniform(into: NDArray[Any], spread: float, seed: int) -> None:
    """Fill a float32 array with numpy's own generator."""
    np.random.Generator(np.random.SFC64(seed)).random(dtype=np.float32, out=into)
    into -= np.float32(0.5)
    into *= np.float32(2.0 * spread)
