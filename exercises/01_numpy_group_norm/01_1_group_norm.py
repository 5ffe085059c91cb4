"""01.1 GroupNorm in NumPy. Write the function; NumPy is all you need."""

import numpy as np


def group_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, num_groups: int, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalise each group of channels of each sample.

    x: shape (N, C, ...), with any number of spatial axes, or none. gamma, beta: shape
    (C,). Group 0 is the first C / num_groups channels, group 1 the next ones. Returns y
    of x's shape, and for each group the mean and rstd = 1 / sqrt(variance + eps), both
    of shape (N, num_groups). The variance is the mean of the squared differences from
    the mean.
    """
    raise NotImplementedError
