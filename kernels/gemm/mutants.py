"""Plausible mistakes; each of them has to fail."""

import numpy as np


def last_term_dropped(a, b, m, n, k):
    if k == 1:
        return np.zeros((m, n))
    return a[:, :-1].astype(np.float64) @ b[:-1]


def inner_tail_skipped(a, b, m, n, k):
    whole = k // 16 * 16
    return a[:, :whole].astype(np.float64) @ b[:whole]


def half_precision_inputs(a, b, m, n, k):
    return a.astype(np.float16).astype(np.float64) @ b.astype(np.float16).astype(np.float64)


def bfloat16_inputs(a, b, m, n, k):
    def rounded(values):
        bits = np.ascontiguousarray(values).view(np.uint32)
        return ((bits + np.uint32(0x8000)) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)

    return rounded(a) @ rounded(b)


def transposed_left(a, b, m, n, k):
    return np.resize(a.T, (m, k)).astype(np.float64) @ b


def symmetric_part_only(a, b, m, n, k):
    return np.abs(a.astype(np.float64)) @ b


def edge_columns_skipped(a, b, m, n, k):
    result = a.astype(np.float64) @ b
    result[:, n // 16 * 16 :] = 0.0
    return result


def edge_rows_skipped(a, b, m, n, k):
    result = a.astype(np.float64) @ b
    result[m // 4 * 4 :] = 0.0
    return result


def first_block_only(a, b, m, n, k):
    kept = min(k, 128)
    return a[:, :kept].astype(np.float64) @ b[:kept]
