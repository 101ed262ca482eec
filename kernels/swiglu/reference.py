"""y = a * sigmoid(a) * b, in float64."""

import numpy as np


def run(a, b, rows, ffn):
    return a / (1.0 + np.exp(-a)) * b


def magnitude(a, b, rows, ffn):
    """|y| (1 + max(-a, 0)): the exponential of -a moves by |a| units when a is rounded by one.

    The last term allows sigmoid(a) an absolute error of about 1e-37, where its exponential leaves the range of float32.
    """
    return np.abs(run(a, b, rows, ffn)) * (1.0 + np.maximum(-a, 0.0)) + np.abs(a * b) * 1e-30
