"""Each pair (u, v) becomes (u cos - v sin, u sin + v cos), in float64."""

import numpy as np


def _pairs(values, interleaved):
    if interleaved:
        return values[..., 0::2], values[..., 1::2]
    middle = values.shape[-1] // 2
    return values[..., :middle], values[..., middle:]


def _joined(first, second, interleaved):
    if interleaved:
        return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)
    return np.concatenate([first, second], axis=-1)


def run(x, cosine, sine, interleaved, tokens, heads, dim, half):
    u, v = _pairs(x, int(interleaved))
    c, s = cosine[:, None, :], sine[:, None, :]
    return _joined(u * c - v * s, u * s + v * c, int(interleaved))


def magnitude(x, cosine, sine, interleaved, tokens, heads, dim, half):
    """The sum of the absolute terms."""
    u, v = _pairs(np.abs(x), int(interleaved))
    c, s = np.abs(cosine)[:, None, :], np.abs(sine)[:, None, :]
    return _joined(u * c + v * s, u * s + v * c, int(interleaved))
