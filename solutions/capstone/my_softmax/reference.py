"""What my_softmax is compared with: the same mathematics in NumPy, in float64."""

import numpy as np


def my_softmax(x):
    """x: shape (..., K). The largest element of a row becomes 0, so that no exp overflows."""
    x = np.asarray(x, np.float64)
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
