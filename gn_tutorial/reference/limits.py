"""The two limits of GroupNorm: LayerNorm (one group) and InstanceNorm (every channel is a group).

Neither calls ``group_norm``. Both compute their statistics with other code (``numpy.var`` over axes instead of a
reshape), so that a mistake in one of the three makes the tests that compare them fail.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from gn_tutorial.reference.arguments import affine, batch_of_channels, checked_eps
from gn_tutorial.reference.group_norm import GroupNormOutputs


def layer_norm(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    eps: float = 1e-5,
    dtype: DTypeLike = np.float64,
) -> GroupNormOutputs:
    """Normalise each sample over all its axes: Ba, Kiros and Hinton, 2016, https://arxiv.org/abs/1607.06450.

    x: shape ``(N, C, *spatial)``. gamma, beta: shape ``(C, *spatial)``, one number for each element, as in PyTorch's
    LayerNorm over ``x.shape[1:]``; GroupNorm has one for each channel. Returns y of x's shape, and mean and rstd of
    shape (N,), computed in float64 and converted to ``dtype``.
    Raises ArgumentError for a shape, a dtype or an ``eps`` that does not fit.
    """
    data = batch_of_channels(x)
    eps = checked_eps(eps)
    scale = affine(gamma, "gamma", data.shape[1:], "one number an element of a sample")
    shift = affine(beta, "beta", data.shape[1:], "one number an element of a sample")
    y, mean, rstd = _normalised(data, tuple(range(1, data.ndim)), eps)
    y = y if scale is None else y * scale
    y = y if shift is None else y + shift
    flat = data.shape[:1]
    return GroupNormOutputs(y.astype(dtype), mean.reshape(flat).astype(dtype), rstd.reshape(flat).astype(dtype))


def instance_norm(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    eps: float = 1e-5,
    dtype: DTypeLike = np.float64,
) -> GroupNormOutputs:
    """Normalise each channel of each sample alone: Ulyanov, Vedaldi and Lempitsky, 2016, https://arxiv.org/abs/1607.08022.

    x: shape ``(N, C, *spatial)``. Without spatial axes each channel is one number, so y is beta (or 0). gamma, beta:
    shape (C,). Returns y of x's shape, and mean and rstd of shape (N, C), computed in float64, converted to ``dtype``.
    Raises ArgumentError for a shape, a dtype or an ``eps`` that does not fit.
    """
    data = batch_of_channels(x)
    eps = checked_eps(eps)
    scale = affine(gamma, "gamma", data.shape[1:2], "one number a channel")
    shift = affine(beta, "beta", data.shape[1:2], "one number a channel")
    y, mean, rstd = _normalised(data, tuple(range(2, data.ndim)), eps)
    channels_last = np.moveaxis(y, 1, -1)
    channels_last = channels_last if scale is None else channels_last * scale
    channels_last = channels_last if shift is None else channels_last + shift
    y, flat = np.moveaxis(channels_last, -1, 1), data.shape[:2]
    return GroupNormOutputs(
        np.ascontiguousarray(y).astype(dtype), mean.reshape(flat).astype(dtype), rstd.reshape(flat).astype(dtype)
    )


def _normalised(data: np.ndarray, axes: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = data.mean(axis=axes, keepdims=True)
    rstd = (data.var(axis=axes, keepdims=True) + eps) ** -0.5
    return (data - mean) * rstd, mean, rstd
