"""The shape of one input or output of a call."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TensorSpec:
    """Name, shape and dtype of one input or output. A scalar has the shape ()."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    alignment: int = 64
    """Alignment of the first element in bytes, as problem.toml promises."""

    @property
    def size_bytes(self) -> int:
        """Size of the whole tensor in bytes."""
        elements = 1
        for length in self.shape:
            elements *= length
        return elements * self.dtype.itemsize
