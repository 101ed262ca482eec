"""Plausible mistakes; each of them has to fail."""

import numpy as np


def _wide(a):
    return a.astype(np.float64)


def gate_without_input(a, b, rows, ffn):
    return b / (1.0 + np.exp(-_wide(a)))


def arguments_swapped(a, b, rows, ffn):
    return _wide(b) / (1.0 + np.exp(-_wide(b))) * a


def relu_instead(a, b, rows, ffn):
    return np.maximum(_wide(a), 0.0) * b


def gelu_instead(a, b, rows, ffn):
    wide = _wide(a)
    return 0.5 * wide * (1.0 + np.tanh(0.7978845608 * (wide + 0.044715 * wide**3))) * b


def hard_sigmoid(a, b, rows, ffn):
    return _wide(a) * np.clip(_wide(a) / 6.0 + 0.5, 0.0, 1.0) * b


def exponential_clamped_early(a, b, rows, ffn):
    return _wide(a) / (1.0 + np.exp(np.clip(-_wide(a), -20.0, 20.0))) * b


def crude_exponential(a, b, rows, ffn):
    scaled = np.clip(-_wide(a) * 1.4426950408889634, -1000.0, 1000.0)
    whole = np.floor(scaled)
    part = scaled - whole
    return _wide(a) / (1.0 + np.ldexp(1.0 + part * (0.6565 + part * 0.3435), whole.astype(np.int64))) * b


def approximate_reciprocal(a, b, rows, ffn):
    gate = 1.0 / (1.0 + np.exp(-_wide(a)))
    mantissa, exponent = np.frexp(gate)
    return a * np.ldexp(np.round(mantissa * 2**12) / 2**12, exponent) * b


def half_precision_gate(a, b, rows, ffn):
    gate = (1.0 / (1.0 + np.exp(-_wide(a)))).astype(np.float16).astype(np.float64)
    return a * gate * b


def tail_skipped(a, b, rows, ffn):
    result = _wide(a) / (1.0 + np.exp(-_wide(a))) * b
    result[:, max(1, ffn // 16 * 16) :] = 0.0
    return result
