"""Plausible mistakes; each of them has to fail."""

import numpy as np


def maximum_not_subtracted(x, rows, columns):
    weights = np.exp(x)
    return weights / np.sum(weights, axis=1, keepdims=True, dtype=np.float32)


def not_normalised(x, rows, columns):
    return np.exp(x.astype(np.float64) - np.max(x, axis=1, keepdims=True))


def maximum_of_the_whole(x, rows, columns):
    weights = np.exp(x - np.max(x))
    return weights / np.sum(weights, axis=1, keepdims=True, dtype=np.float32)


def tail_of_sum_skipped(x, rows, columns):
    weights = np.exp(x.astype(np.float64) - np.max(x, axis=1, keepdims=True))
    return weights / np.sum(weights[:, : max(1, columns // 16 * 16)], axis=1, keepdims=True)


def tail_of_maximum_skipped(x, rows, columns):
    whole = max(1, columns // 16 * 16)
    weights = np.exp(x - np.max(x[:, :whole], axis=1, keepdims=True))
    return weights / np.sum(weights, axis=1, keepdims=True, dtype=np.float32)


def base_two(x, rows, columns):
    weights = np.exp2(x.astype(np.float64) - np.max(x, axis=1, keepdims=True))
    return weights / np.sum(weights, axis=1, keepdims=True)


def crude_exponential(x, rows, columns):
    """A polynomial of degree 2 for 2^f on [0, 1)."""
    scaled = (x.astype(np.float64) - np.max(x, axis=1, keepdims=True)) * 1.4426950408889634
    scaled = np.maximum(scaled, -1000.0)
    whole = np.floor(scaled)
    part = scaled - whole
    weights = np.ldexp(1.0 + part * (0.6565 + part * 0.3435), whole.astype(np.int64))
    return weights / np.sum(weights, axis=1, keepdims=True)


def half_precision_scores(x, rows, columns):
    rough = x.astype(np.float16).astype(np.float64)
    weights = np.exp(rough - np.max(rough, axis=1, keepdims=True))
    return weights / np.sum(weights, axis=1, keepdims=True)


def mask_ignored(x, rows, columns):
    finite = np.where(np.isfinite(x), x, 0.0).astype(np.float64)
    weights = np.exp(finite - np.max(finite, axis=1, keepdims=True))
    return weights / np.sum(weights, axis=1, keepdims=True)
