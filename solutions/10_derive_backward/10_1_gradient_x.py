"""10.1, solved: a = dy * gamma, less its mean and its part along xhat, times rstd."""

import numpy as np


def gradient_x(
    dy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    num_groups: int,
) -> np.ndarray:
    """Return dx."""
    batch, channels = x.shape[:2]
    along_channels = (channels,) + (1,) * (x.ndim - 2)
    a = (dy * gamma.reshape(along_channels)).reshape(batch, num_groups, -1)
    r = rstd[:, :, None]
    xhat = (x.reshape(batch, num_groups, -1) - mean[:, :, None]) * r
    mean_a = a.mean(axis=2, keepdims=True)
    along_xhat = (a * xhat).mean(axis=2, keepdims=True)
    dx = r * (a - mean_a - xhat * along_xhat)
    return dx.reshape(x.shape)
