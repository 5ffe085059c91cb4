"""RMSNorm and its gradients in NumPy: a normalisation of the last axis that subtracts no mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import affine, as_float64, checked_eps


class RmsNormOutputs(NamedTuple):
    """The outputs of RMSNorm: ``y`` in the shape of x, ``rstd`` in that of x without its last axis."""

    y: np.ndarray
    rstd: np.ndarray


class ReferenceRmsNormGradients(NamedTuple):
    """The gradients of RMSNorm: ``dx`` in the shape of x, ``dgamma`` in that of gamma, (K,)."""

    dx: np.ndarray
    dgamma: np.ndarray


def rms_norm(x: ArrayLike, gamma: ArrayLike | None = None, *, eps: float = 1e-6) -> RmsNormOutputs:
    """Return y = x * rstd * gamma, and rstd = 1 / sqrt(mean(x^2) + eps), with the mean over the last axis; float64.

    Zhang and Sennrich, 2019, https://arxiv.org/abs/1910.07467. x: shape (..., K), K at least 1 unless x has no rows.
    gamma: shape (K,), or None for ones. Raises ArgumentError for a shape, a dtype or an eps that does not fit.
    """
    data = _rows(x)
    scale = affine(gamma, "gamma", data.shape[-1:], "one number for each element of a row")
    mean = np.square(data).sum(axis=-1) / max(data.shape[-1], 1)
    rstd = 1.0 / np.sqrt(mean + checked_eps(eps))
    y = data * rstd[..., None]
    return RmsNormOutputs(y if scale is None else y * scale, rstd)


def rms_norm_backward(
    dy: ArrayLike, x: ArrayLike, rstd: ArrayLike, gamma: ArrayLike | None = None
) -> ReferenceRmsNormGradients:
    """Return the gradients of a loss, given its gradient ``dy`` with respect to ``rms_norm(x, gamma).y``; float64.

    With h = x * rstd and the mean over the last axis::

        dx = rstd * (dy * gamma - h * mean(dy * gamma * h))        dgamma = sum of dy * h over all rows

    dy, x: shape (..., K). rstd: from ``rms_norm``, of x's shape without the last axis. gamma: (K,), or None for ones.
    Raises ArgumentError for shapes that do not fit, or a dtype that is not real.
    """
    data, upstream, scales = _rows(x), as_float64(dy, "dy"), as_float64(rstd, "rstd")
    for name, array, shape in (("dy", upstream, data.shape), ("rstd", scales, data.shape[:-1])):
        if array.shape != shape:
            raise ArgumentError(
                f"{name} has shape {array.shape}; {shape} is needed",
                where=f"argument {name}",
                hint="dy and x have one shape; rstd is that of rms_norm on the same x",
            )
    factor = affine(gamma, "gamma", data.shape[-1:], "one number for each element of a row")
    h = data * scales[..., None]
    weighted = upstream if factor is None else upstream * factor
    along = (weighted * h).sum(axis=-1, keepdims=True) / max(data.shape[-1], 1)
    dgamma = (upstream * h).reshape(-1, data.shape[-1]).sum(axis=0) if data.size else np.zeros(data.shape[-1])
    return ReferenceRmsNormGradients(scales[..., None] * (weighted - h * along), dgamma)


def _rows(x: ArrayLike) -> np.ndarray:
    data = as_float64(x, "x")
    if data.ndim < 1 or (data.shape[-1] == 0 and np.prod(data.shape[:-1]) > 0):
        raise ArgumentError(
            f"x has shape {data.shape}: a row without elements has no mean",
            where="argument x",
            hint="the last axis, of one element at least, is the one that is normalised",
        )
    return data
