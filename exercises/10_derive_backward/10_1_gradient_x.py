"""10.1 The gradient of x. Write the function; NumPy is all you need."""

import numpy as np


def gradient_x(
    dy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    num_groups: int,
) -> np.ndarray:
    """Return dx, the gradient of the loss with respect to x.

    dy: the gradient of the loss with respect to y = (x - mean) * rstd * gamma + beta.
    dy, x, dx: shape (N, C, ...), with any number of spatial axes, or none. gamma: shape
    (C,). mean, rstd: shape (N, num_groups), saved by the forward pass.
    """
    raise NotImplementedError
