"""What my_layer_norm is compared with: the same mathematics in NumPy, in float64."""

import numpy as np


def my_layer_norm(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    eps: float = 1e-5,
) -> np.ndarray:
    """x: shape (..., K). gamma, beta: shape (K,), or None for ones and zeros."""
    x = np.asarray(x, np.float64)
    off = x - x.mean(axis=-1, keepdims=True)
    y = off / np.sqrt(np.square(off).mean(axis=-1, keepdims=True) + eps)
    y = y if gamma is None else y * np.asarray(gamma, np.float64)
    return y if beta is None else y + np.asarray(beta, np.float64)
