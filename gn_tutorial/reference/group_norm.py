"""GroupNorm in NumPy: Wu and He, "Group Normalization", 2018, https://arxiv.org/abs/1803.08494."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from gn_tutorial.reference.arguments import affine, batch_of_channels, checked_eps, checked_groups


class GroupNormOutputs(NamedTuple):
    """The outputs of GroupNorm: ``y`` in the shape of x; ``mean`` and ``rstd`` of each group, for the backward pass."""

    y: np.ndarray
    mean: np.ndarray
    rstd: np.ndarray


def group_norm(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    dtype: DTypeLike = np.float64,
) -> GroupNormOutputs:
    """Normalise each group of channels to mean 0 and variance 1, then scale and shift each channel.

    With m and v the mean and the biased variance (divided by the count, not by count - 1) of one group of one sample::

        rstd = 1 / sqrt(v + eps)
        y = (x - m) * rstd * gamma[channel] + beta[channel]

    x: shape ``(N, C, *spatial)``, any rank of 2 or more, any real dtype. gamma, beta: shape (C,), or None for 1 and 0.
    num_groups: G, a divisor of C; channels 0 .. C/G - 1 form group 0, and so on.
    Returns y of x's shape, and mean and rstd of shape (N, G), computed in float64 and converted to ``dtype``.
    Raises ArgumentError for a shape, a dtype, a ``num_groups`` or an ``eps`` that does not fit.
    """
    data = batch_of_channels(x)
    eps = checked_eps(eps)
    batch, channels = data.shape[:2]
    groups = checked_groups(num_groups, channels)
    scale = affine(gamma, "gamma", (channels,), "one number a channel")
    shift = affine(beta, "beta", (channels,), "one number a channel")

    grouped = data.reshape(batch, groups, math.prod(data.shape[1:]) // groups)
    mean = grouped.mean(axis=2, keepdims=True)
    centred = grouped - mean
    # The first mean is rounded. The mean of the differences corrects that rounding. Without the correction, data around
    # 1e12 with a spread of 1e-3 loses most digits of its variance.
    leftover = centred.mean(axis=2, keepdims=True)
    centred -= leftover
    mean += leftover
    rstd = 1.0 / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + eps)

    centred *= rstd
    y = centred.reshape(data.shape)
    per_channel = (channels,) + (1,) * (data.ndim - 2)
    if scale is not None:
        y *= scale.reshape(per_channel)
    if shift is not None:
        y += shift.reshape(per_channel)
    return GroupNormOutputs(y.astype(dtype, copy=False), mean[:, :, 0].astype(dtype), rstd[:, :, 0].astype(dtype))


def group_norm_nhwc(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> GroupNormOutputs:
    """Return ``group_norm`` of x in the layout ``(N, *spatial, C)``, by transposing; y has this layout too. float64."""
    found = group_norm(np.moveaxis(np.asarray(x), -1, 1), gamma, beta, num_groups=num_groups, eps=eps)
    return found._replace(y=np.ascontiguousarray(np.moveaxis(found.y, 1, -1)))
