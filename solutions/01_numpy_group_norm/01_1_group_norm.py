"""01.1, solved: a reshape gets hold of the groups, and gamma and beta are shaped to lie
along the channels.
"""

import numpy as np


def group_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, num_groups: int, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return y, mean and rstd."""
    batch, channels = x.shape[:2]
    groups = x.reshape(batch, num_groups, -1)
    mean = groups.mean(axis=2)
    centred = groups - mean[:, :, None]
    variance = (centred * centred).mean(axis=2)
    rstd = 1 / np.sqrt(variance + eps)
    y = (centred * rstd[:, :, None]).reshape(x.shape)
    along_channels = (channels,) + (1,) * (x.ndim - 2)
    y = y * gamma.reshape(along_channels) + beta.reshape(along_channels)
    return y, mean, rstd
