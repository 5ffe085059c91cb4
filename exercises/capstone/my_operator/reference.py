"""What my_operator is compared with: the same mathematics in NumPy, in float64."""

import numpy as np


def my_operator(x: np.ndarray) -> np.ndarray:
    """YOUR TURN: what is right. x: shape (..., K)."""
    return 2.0 * np.asarray(x, np.float64)
