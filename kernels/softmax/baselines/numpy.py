"""Softmax with numpy; scratch is allocated once per shape."""

import numpy as np

_SCRATCH = {}


def run(x, y, rows, columns):
    scratch = _SCRATCH.get(rows)
    if scratch is None:
        scratch = _SCRATCH[rows] = np.empty((rows, 1), dtype=np.float32)
    np.max(x, axis=1, keepdims=True, out=scratch)
    np.subtract(x, scratch, out=y)
    np.exp(y, out=y)
    np.sum(y, axis=1, keepdims=True, out=scratch)
    np.divide(y, scratch, out=y)
