"""RMSNorm with numpy; scratch is allocated once per shape."""

import numpy as np

_SCRATCH = {}


def run(x, weight, y, rows, hidden):
    scratch = _SCRATCH.get(rows)
    if scratch is None:
        scratch = _SCRATCH[rows] = np.empty((rows, 1), dtype=np.float32)
    scale = scratch[:, 0]
    np.einsum("ij,ij->i", x, x, out=scale)
    scale /= hidden
    scale += np.float32(1e-6)
    np.sqrt(scale, out=scale)
    np.divide(x, scratch, out=y)
    np.multiply(y, weight, out=y)
