"""numpy's own product."""

import numpy as np


def run(a, b, c, m, n, k):
    np.matmul(a, b, out=c)
