"""Softmax along rows in float64."""

import numpy as np


def run(x, rows, columns):
    weights = np.exp(x - np.max(x, axis=1, keepdims=True))
    return weights / np.sum(weights, axis=1, keepdims=True)


def magnitude(x, rows, columns):
    """|y| (1 + |x - max|): rounding x - max by one unit moves the exponential by |x - max| units."""
    distance = np.abs(x - np.max(x, axis=1, keepdims=True))
    return run(x, rows, columns) * (1.0 + np.where(np.isfinite(distance), distance, 0.0))
