"""Plausible mistakes; each of them has to fail."""

import numpy as np

EPSILON = 1e-6


def epsilon_omitted(x, weight, rows, hidden):
    return x / np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=1, keepdims=True)) * weight


def weight_ignored(x, weight, rows, hidden):
    return x / np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=1, keepdims=True) + EPSILON)


def layer_norm(x, weight, rows, hidden):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred.astype(np.float64) ** 2, axis=1, keepdims=True) + EPSILON) * weight


def tail_of_sum_skipped(x, weight, rows, hidden):
    whole = max(1, hidden // 16 * 16)
    mean_square = np.sum(x[:, :whole].astype(np.float64) ** 2, axis=1, keepdims=True) / hidden
    return x / np.sqrt(mean_square + EPSILON) * weight


def first_row_statistics(x, weight, rows, hidden):
    return x / np.sqrt(np.mean(x[:1].astype(np.float64) ** 2) + EPSILON) * weight


def half_precision_sum(x, weight, rows, hidden):
    squares = (x.astype(np.float16).astype(np.float32)) ** 2
    return x / np.sqrt(squares.mean(axis=1, keepdims=True, dtype=np.float64) + EPSILON) * weight


def approximate_reciprocal_root(x, weight, rows, hidden):
    scale = 1.0 / np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=1, keepdims=True) + EPSILON)
    mantissa, exponent = np.frexp(scale)
    return x * np.ldexp(np.round(mantissa * 2**12) / 2**12, exponent) * weight
