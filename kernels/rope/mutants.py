"""Plausible mistakes; each of them has to fail."""

import numpy as np


def _rotate(x, cosine, sine, interleaved, sign=1.0):
    x = x.astype(np.float64)
    if interleaved:
        u, v = x[..., 0::2], x[..., 1::2]
    else:
        u, v = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    c, s = cosine[:, None, :], sign * sine[:, None, :]
    first, second = u * c - v * s, u * s + v * c
    if interleaved:
        return np.stack([first, second], axis=-1).reshape(x.shape)
    return np.concatenate([first, second], axis=-1)


def always_half_layout(x, cosine, sine, interleaved, tokens, heads, dim, half):
    return _rotate(x, cosine, sine, 0)


def always_interleaved(x, cosine, sine, interleaved, tokens, heads, dim, half):
    return _rotate(x, cosine, sine, 1)


def rotated_the_other_way(x, cosine, sine, interleaved, tokens, heads, dim, half):
    return _rotate(x, cosine, sine, int(interleaved), sign=-1.0)


def first_token_for_all(x, cosine, sine, interleaved, tokens, heads, dim, half):
    return _rotate(
        x, np.broadcast_to(cosine[:1], cosine.shape), np.broadcast_to(sine[:1], sine.shape), int(interleaved)
    )


def first_head_only(x, cosine, sine, interleaved, tokens, heads, dim, half):
    result = x.astype(np.float64)
    result[:, :1] = _rotate(x[:, :1], cosine, sine, int(interleaved))
    return result


def half_precision_tables(x, cosine, sine, interleaved, tokens, heads, dim, half):
    return _rotate(x, cosine.astype(np.float16), sine.astype(np.float16), int(interleaved))
