"""References of fused operators: the second operator's reference applied to the first one's result, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import affine, as_float64
from gn_tutorial.reference.elementwise import add, multiply, relu, silu
from gn_tutorial.reference.gelu import gelu, gelu_backward
from gn_tutorial.reference.group_norm import GroupNormOutputs, group_norm, group_norm_nhwc
from gn_tutorial.reference.group_norm_backward import ReferenceGroupNormGradients, group_norm_backward
from gn_tutorial.reference.linear import ReferenceLinearGradients, linear, linear_backward
from gn_tutorial.reference.rms_norm import ReferenceRmsNormGradients, rms_norm, rms_norm_backward


def group_norm_silu(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> GroupNormOutputs:
    """Return the outputs of ``group_norm``, with SiLU applied to y. Arguments and errors: as ``group_norm``."""
    found = group_norm(x, gamma, beta, num_groups=num_groups, eps=eps)
    return found._replace(y=silu(found.y))


def group_norm_silu_nhwc(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> GroupNormOutputs:
    """Return ``group_norm_silu`` of x in the layout ``(N, *spatial, C)``; y has this layout too."""
    found = group_norm_nhwc(x, gamma, beta, num_groups=num_groups, eps=eps)
    return found._replace(y=silu(found.y))


def silu_backward(dy: ArrayLike, x: ArrayLike) -> np.ndarray:
    """Return the gradient of x, which is dy silu'(x), given the gradient dy of ``silu(x)``; float64.

    silu'(x) = s + x s (1 - s) with s = 1 / (1 + e^-x). 1 - s is computed as 1 / (1 + e^x), so that no digits are lost
    where s is close to 1. dy, x: one shape. Raises ArgumentError if the shapes differ, or for a dtype that is not real.
    """
    upstream, data = _like_forward(dy, "dy", x, "x")
    return upstream * _silu_slope(data)


def _silu_slope(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        s, rest = 1.0 / (1.0 + np.exp(-x)), 1.0 / (1.0 + np.exp(x))
    return s + x * s * rest


def group_norm_silu_backward(
    dy: ArrayLike,
    x: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
) -> ReferenceGroupNormGradients:
    """Return the gradients of ``group_norm_silu``, given the gradient dy of its y, and its mean and rstd; float64.

    The result is ``group_norm_backward`` with dy silu'(u) as dy, where u = (x - mean) * rstd * gamma + beta. The given
    mean is used unchanged. beta: shape (C,), or None for 0. Other arguments and errors: as ``group_norm_backward``.
    """
    group_norm_backward(dy, x, mean, rstd, gamma, num_groups=num_groups, output_mask=output_mask)  # checks arguments
    data = as_float64(x, "x")
    channels = (1, data.shape[1], *[1] * (data.ndim - 2))
    repeat = channels[1] // num_groups
    centre, scale = (
        np.repeat(as_float64(one, name), repeat, axis=1).reshape(data.shape[0], *channels[1:])
        for one, name in ((mean, "mean"), (rstd, "rstd"))
    )
    u = (data - centre) * scale
    for one, name, apply in ((gamma, "gamma", np.multiply), (beta, "beta", np.add)):
        numbers = affine(one, name, (channels[1],), "one number a channel")
        u = u if numbers is None else apply(u, numbers.reshape(channels))
    through = silu_backward(dy, u)
    return group_norm_backward(through, x, mean, rstd, gamma, num_groups=num_groups, output_mask=output_mask)


def add_relu(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return max(x + y, 0) as float64. Arguments and errors: as ``add``."""
    return relu(add(x, y))


def add_relu_backward(dz: ArrayLike, z: ArrayLike) -> np.ndarray:
    """Return the gradient of x, which is also the gradient of y: dz where z is above 0, else 0; float64.

    z: the result of ``add_relu(x, y)``. dz: the gradient of z, of the same shape. Raises ArgumentError if the shapes
    differ, or for a dtype that is not real.
    """
    upstream, result = _like_forward(dz, "dz", z, "z")
    return np.where(result > 0, upstream, 0.0)


def swiglu(gate: ArrayLike, up: ArrayLike) -> np.ndarray:
    """Return silu(gate) * up as float64: Shazeer, 2020, https://arxiv.org/abs/2002.05202. Raises as ``add`` does."""
    multiply(gate, up)  # raises if shapes or dtypes differ
    return silu(gate) * as_float64(up, "up")


class ReferenceSwigluGradients(NamedTuple):
    """The gradients that ``swiglu_backward`` returns, each of the shape of dz, in float64."""

    dgate: np.ndarray
    dup: np.ndarray


def swiglu_backward(dz: ArrayLike, gate: ArrayLike, up: ArrayLike) -> ReferenceSwigluGradients:
    """Return the gradients of gate and of up, given dz, the gradient of ``swiglu(gate, up)``; float64.

    dgate is dz up silu'(gate), with silu' as in ``silu_backward``; dup is dz silu(gate). dz, gate, up: one shape.
    Raises ArgumentError if the shapes differ, or for a dtype that is not real.
    """
    upstream, data = _like_forward(dz, "dz", gate, "gate")
    _, other = _like_forward(dz, "dz", up, "up")
    with np.errstate(over="ignore", under="ignore"):
        s = 1.0 / (1.0 + np.exp(-data))
    return ReferenceSwigluGradients(upstream * other * _silu_slope(data), upstream * data * s)


class AddRmsNormOutputs(NamedTuple):
    """The outputs of ``add_rms_norm``: ``y`` and ``sum`` in x's shape, ``rstd`` in x's shape without its last axis."""

    y: np.ndarray
    sum: np.ndarray
    rstd: np.ndarray


def add_rms_norm(
    x: ArrayLike, residual: ArrayLike, gamma: ArrayLike | None = None, *, eps: float = 1e-6
) -> AddRmsNormOutputs:
    """Return sum = x + residual, rounded to x's dtype, and y and rstd, the ``rms_norm`` of that sum; all float64.

    x, residual: one shape (..., K) and dtype. gamma, eps: as ``rms_norm``. Errors: as ``rms_norm`` and ``add``.
    """
    total = add(x, residual).astype(np.asarray(x).dtype).astype(np.float64)
    y, rstd = rms_norm(total, gamma, eps=eps)
    return AddRmsNormOutputs(y, total, rstd)


def add_rms_norm_backward(
    dy: ArrayLike, dsum: ArrayLike, x: ArrayLike, rstd: ArrayLike, gamma: ArrayLike | None = None
) -> ReferenceRmsNormGradients:
    """Return the gradients of ``add_rms_norm``: ``dx``, the same for x and for residual, and ``dgamma``; float64.

    dy, dsum: the gradients of its results y and sum. x, rstd: its results sum and rstd. Errors: as
    ``rms_norm_backward``; dsum is checked like dy.
    """
    more, _ = _like_forward(dsum, "dsum", x, "x")
    dx, dgamma = rms_norm_backward(dy, x, rstd, gamma)
    return ReferenceRmsNormGradients(dx + more, dgamma)


class LinearGeluOutputs(NamedTuple):
    """The outputs of ``linear_gelu``, both of shape (..., O); None for an output that was not requested."""

    y: np.ndarray | None
    preactivation: np.ndarray | None


def linear_gelu(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    approximate: str = "none",
    *,
    output_mask: Sequence[bool] = (True, True),
) -> LinearGeluOutputs:
    """Return y = ``gelu`` of ``linear(x, weight, bias)``, and that linear result as the pre-activation; float64.

    ``gelu`` takes the linear result unrounded. output_mask: whether to return y and the pre-activation; another length
    raises ValueError. Other arguments and errors: as ``linear`` and ``gelu``.
    """
    preactivation = linear(x, weight, bias)
    made = gelu(preactivation, approximate), preactivation
    return LinearGeluOutputs(*(one if wanted else None for one, wanted in zip(made, output_mask, strict=True)))


def linear_gelu_backward(
    dy: ArrayLike,
    preactivation: ArrayLike,
    x: ArrayLike,
    weight: ArrayLike,
    approximate: str = "none",
    *,
    output_mask: Sequence[bool] = (True, True, True),
) -> ReferenceLinearGradients:
    """Return the gradients of ``linear_gelu``: ``linear_backward`` of ``gelu_backward(dy, preactivation)``; float64.

    preactivation: as ``linear_gelu`` returned it. output_mask: which of dx, dweight and dbias to compute. Errors: as
    ``gelu_backward`` and ``linear_backward``.
    """
    through = gelu_backward(*_like_forward(dy, "dy", preactivation, "preactivation"), approximate)
    return linear_backward(through, x, weight, output_mask=output_mask)


def _like_forward(gradient: ArrayLike, its_name: str, of: ArrayLike, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ``gradient`` and the array ``of`` to which it belongs, as float64.

    Raises ArgumentError if the shapes differ, or for a dtype that is not real.
    """
    upstream, data = as_float64(gradient, its_name), as_float64(of, name)
    if upstream.shape != data.shape:
        raise ArgumentError(
            f"{its_name} has shape {upstream.shape}, {name} has shape {data.shape}",
            where=f"arguments {its_name}, {name}",
            hint="a gradient has the shape of what it belongs to",
        )
    return upstream, data
