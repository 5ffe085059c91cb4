"""What my_rms_norm is compared with: the same mathematics in NumPy, in float64."""

import numpy as np


def my_rms_norm(
    x: np.ndarray, gamma: np.ndarray | None = None, *, eps: float = 1e-6
) -> np.ndarray:
    """x: shape (..., K). gamma: shape (K,), or None for ones."""
    x = np.asarray(x, np.float64)
    y = x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps)
    return y if gamma is None else y * np.asarray(gamma, np.float64)
