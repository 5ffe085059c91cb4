"""10.2 The gradients of gamma and beta. Write the function; NumPy is all you need."""

import numpy as np


def gradient_gamma_beta(
    dy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    num_groups: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return dgamma and dbeta, both of shape (C,).

    dy: the gradient of the loss with respect to y = (x - mean) * rstd * gamma + beta.
    dy, x: shape (N, C, ...), with any number of spatial axes, or none; N may be 0.
    gamma: shape (C,). mean, rstd: shape (N, num_groups), saved by the forward pass. You
    need not use every argument.
    """
    raise NotImplementedError
