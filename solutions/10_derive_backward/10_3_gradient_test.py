"""10.3, solved: several channels in a group, gammas and dy without symmetry, all three
gradients, five digits.
"""

from collections.abc import Callable

import numpy as np


def numerical_gradient(
    loss: Callable[[np.ndarray], float], at: np.ndarray, h: float = 1e-5
) -> np.ndarray:
    """Return the gradient of loss at `at`, by central differences: two calls of loss
    for each element.
    """
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[place] = h
        gradient[place] = (loss(at + step) - loss(at - step)) / (2 * h)
    return gradient


def passes(forward: Callable, backward: Callable) -> bool:
    """Return whether the gradients of backward are those of forward."""
    rng = np.random.default_rng(9)
    num_groups = 2
    shape = (3, 4, 5)
    x = rng.standard_normal(shape) + np.arange(4).reshape(4, 1)
    gamma, beta = np.array([0.5, 2.0, -1.0, 3.0]), np.array([1.0, -2.0, 0.5, 4.0])

    _, mean, rstd = forward(x, gamma, beta, num_groups)
    dy = rng.standard_normal(shape) + 0.5
    got = backward(dy, x, gamma, mean, rstd, num_groups)
    expected = (
        numerical_gradient(
            lambda at: (dy * forward(at, gamma, beta, num_groups)[0]).sum(), x
        ),
        numerical_gradient(
            lambda at: (dy * forward(x, at, beta, num_groups)[0]).sum(), gamma
        ),
        numerical_gradient(
            lambda at: (dy * forward(x, gamma, at, num_groups)[0]).sum(), beta
        ),
    )
    return all(
        np.allclose(one, want, rtol=1e-5, atol=1e-6)
        for one, want in zip(got, expected, strict=True)
    )
