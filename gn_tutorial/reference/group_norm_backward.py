"""The gradients of GroupNorm in NumPy, from the mean and rstd of its forward pass. Notebook 10 derives them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import affine, as_float64, batch_of_channels, checked_groups


class ReferenceGroupNormGradients(NamedTuple):
    """The gradients: ``dx`` in the shape of x, ``dgamma`` and ``dbeta`` of shape (C,); None if not requested."""

    dx: np.ndarray | None
    dgamma: np.ndarray | None
    dbeta: np.ndarray | None


def group_norm_backward(
    dy: ArrayLike,
    x: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    gamma: ArrayLike | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
    dtype: DTypeLike = np.float64,
) -> ReferenceGroupNormGradients:
    """Return the gradients of a loss, given its gradient ``dy`` with respect to GroupNorm's output y.

    For one group of one sample, with E the mean over its elements and a = dy * gamma[channel]::

        xhat = (x - mean) * rstd
        dx = rstd * (a - E[a] - xhat * E[a * xhat])

    For one channel, with the sum over all samples and positions::

        dgamma = sum(dy * xhat)
        dbeta = sum(dy)

    dy, x: shape ``(N, C, *spatial)``, any rank of 2 or more, any real dtype. gamma: shape (C,), or None for 1; dgamma
    is then the gradient of a gamma of ones. num_groups: G, a divisor of C. mean, rstd: shape (N, G), from the forward
    pass. They are used unchanged, so that the effect of their rounding shows in the result. output_mask: which of
    dx, dgamma and dbeta to compute. For an empty batch (N = 0) dx is empty, and dgamma and dbeta are zeros.
    Returns the gradients, computed in float64 and converted to ``dtype``.
    Raises ArgumentError for a shape, a dtype, a ``num_groups`` or an ``output_mask`` that does not fit.
    """
    data = batch_of_channels(x)
    batch, channels = data.shape[:2]
    groups = checked_groups(num_groups, channels)
    wants_dx, wants_dgamma, wants_dbeta = _checked_mask(output_mask)
    upstream = _shaped(dy, "dy", data.shape, "the shape of x")
    means = _shaped(mean, "mean", (batch, groups), "one number for each group of each sample")
    rstds = _shaped(rstd, "rstd", (batch, groups), "one number for each group of each sample")
    scale = affine(gamma, "gamma", (channels,), "one number a channel")

    # The spatial axes are merged into one. The axes are then: sample, group, channel of the group, position.
    size = channels // groups
    split = (batch, groups, size, math.prod(data.shape[2:]))
    upstream = upstream.reshape(split)
    per_group = (batch, groups, 1, 1)
    xhat = (data.reshape(split) - means.reshape(per_group)) * rstds.reshape(per_group)

    dx = dgamma = dbeta = None
    if wants_dx:
        # The channels of a group have different gammas, so dy is multiplied by gamma before the means are taken.
        a = upstream if scale is None else upstream * scale.reshape(1, groups, size, 1)
        along_xhat = (a * xhat).mean(axis=(2, 3), keepdims=True)
        dx = rstds.reshape(per_group) * (a - a.mean(axis=(2, 3), keepdims=True) - xhat * along_xhat)
        dx = dx.reshape(data.shape).astype(dtype, copy=False)
    if wants_dgamma:
        dgamma = (upstream * xhat).sum(axis=(0, 3)).reshape(channels).astype(dtype, copy=False)
    if wants_dbeta:
        dbeta = upstream.sum(axis=(0, 3)).reshape(channels).astype(dtype, copy=False)
    return ReferenceGroupNormGradients(dx, dgamma, dbeta)


def group_norm_backward_nhwc(
    dy: ArrayLike,
    x: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    gamma: ArrayLike | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
) -> ReferenceGroupNormGradients:
    """Return ``group_norm_backward`` of x and dy in the layout ``(N, *spatial, C)``, which dx has too; float64."""
    first = (np.moveaxis(np.asarray(one), -1, 1) for one in (dy, x))
    found = group_norm_backward(*first, mean, rstd, gamma, num_groups=num_groups, output_mask=output_mask)
    return found if found.dx is None else found._replace(dx=np.ascontiguousarray(np.moveaxis(found.dx, 1, -1)))


def _shaped(value: ArrayLike, name: str, shape: tuple[int, ...], meaning: str) -> np.ndarray:
    array = as_float64(value, name)
    if array.shape != shape:
        raise ArgumentError(
            f"{name} has shape {array.shape}; {shape} is needed, {meaning}",
            where=f"argument {name}",
            hint="dy and x have one shape; mean and rstd are those of group_norm on the same x and num_groups",
        )
    return array


def _checked_mask(mask: Sequence[bool]) -> tuple[bool, bool, bool]:
    try:
        asked = tuple(mask)
    except TypeError:
        asked = ()
    if len(asked) != 3 or not all(isinstance(one, bool | np.bool_) for one in asked):
        raise ArgumentError(
            f"output_mask is {mask!r}; three booleans are needed",
            where="argument output_mask",
            hint="they say whether dx, dgamma and dbeta are computed, in this order",
        )
    return bool(asked[0]), bool(asked[1]), bool(asked[2])
