"""RMSNorm in NumPy: GroupNorm without a mean, for the last axis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import affine, as_float64, checked_eps


class RmsNormOutputs(NamedTuple):
    """``y`` has the shape of x, ``rstd`` that of x without its last axis."""

    y: np.ndarray
    rstd: np.ndarray


def rms_norm(x: ArrayLike, gamma: ArrayLike | None = None, *, eps: float = 1e-6) -> RmsNormOutputs:
    """x * rstd * gamma with rstd = 1 / sqrt(mean(x^2) + eps), the mean over the last axis; float64.

    Zhang and Sennrich, 2019, https://arxiv.org/abs/1910.07467. x: shape (..., K), K at least 1 unless x is empty.
    gamma: shape (K,), or None for ones. Raises ArgumentError for a shape, a dtype or an eps that does not fit.
    """
    data = as_float64(x, "x")
    if data.ndim < 1 or (data.shape[-1] == 0 and np.prod(data.shape[:-1]) > 0):
        raise ArgumentError(
            f"x has shape {data.shape}: a row without elements has no mean",
            where="argument x",
            hint="the last axis, of one element at least, is the one that is normalised",
        )
    scale = affine(gamma, "gamma", data.shape[-1:], "one number for each element of a row")
    mean = np.square(data).sum(axis=-1) / max(data.shape[-1], 1)
    rstd = 1.0 / np.sqrt(mean + checked_eps(eps))
    y = data * rstd[..., None]
    return RmsNormOutputs(y if scale is None else y * scale, rstd)
