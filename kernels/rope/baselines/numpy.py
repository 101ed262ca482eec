"""Rotary embedding with numpy; scratch is allocated once per shape."""

import numpy as np

_SCRATCH = {}


def run(x, cosine, sine, interleaved, y, tokens, heads, dim, half):
    scratch = _SCRATCH.get((tokens, heads, half))
    if scratch is None:
        scratch = _SCRATCH[tokens, heads, half] = np.empty((tokens, heads, half), dtype=np.float32)
    if int(interleaved):
        u, v, first, second = x[..., 0::2], x[..., 1::2], y[..., 0::2], y[..., 1::2]
    else:
        u, v, first, second = x[..., :half], x[..., half:], y[..., :half], y[..., half:]
    c, s = cosine[:, None, :], sine[:, None, :]
    np.multiply(u, c, out=first)
    np.multiply(v, s, out=scratch)
    np.subtract(first, scratch, out=first)
    np.multiply(u, s, out=second)
    np.multiply(v, c, out=scratch)
    np.add(second, scratch, out=second)
