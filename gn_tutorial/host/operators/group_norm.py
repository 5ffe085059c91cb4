"""GroupNorm of NumPy arrays through the host API, alone and followed by SiLU, and the gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gn_tutorial.host.arrays import masked, run
from gn_tutorial.host.c_library import whole_number
from gn_tutorial.host.stream import Stream

__all__ = [
    "GroupNormArrays",
    "GroupNormGradients",
    "group_norm",
    "group_norm_backward",
    "group_norm_silu",
    "group_norm_silu_backward",
]


class GroupNormGradients(NamedTuple):
    """Gradients from the backward functions; None for an unwanted one. Valid once the stream is synchronised."""

    grad_input: np.ndarray | None
    grad_gamma: np.ndarray | None
    grad_beta: np.ndarray | None


class GroupNormArrays(NamedTuple):
    """Results of the forward functions, valid once the stream is synchronised."""

    out: np.ndarray
    mean: np.ndarray
    rstd: np.ndarray


def group_norm(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
    statistics_of_x: bool = False,
) -> GroupNormArrays:
    """Return GroupNorm of x, of shape (N, C, ...), and its mean and rstd, computed through both calls.

    gamma, beta: of shape (C,) and x's dtype, or None for ones and zeros. out: receives the result, of x's shape and
    dtype and any strides; by default a new contiguous array. mean and rstd: shape (N, num_groups); float32, or rounded
    to x's dtype with ``statistics_of_x``, as in aclnnGroupNorm on Atlas A2. With a ``stream`` the function returns
    before the kernel runs, and the arrays are valid after ``stream.synchronize()``. Without one, it waits.
    Raises Refused for arguments that do not fit; ArgumentError if num_groups is no whole number of 64 bits; KernelFault
    as ``Stream.synchronize`` does.
    """
    made = _forward_arrays(x, num_groups, out, statistics_of_x)
    run("GroupNorm", (x, gamma, beta), (*_sizes(x), num_groups, float(eps)), made, stream)
    return made


def group_norm_silu(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
    statistics_of_x: bool = False,
) -> GroupNormArrays:
    """Return SiLU of GroupNorm of x, and mean and rstd, computed in one kernel.

    Arguments and errors are as in ``group_norm``.
    """
    made = _forward_arrays(x, num_groups, out, statistics_of_x)
    run("GroupNormSilu", (x, gamma, beta), (num_groups, float(eps)), made, stream)
    return made


def group_norm_backward(
    grad_out: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    gamma: np.ndarray | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
) -> GroupNormGradients:
    """Return the gradients of ``group_norm``'s x, gamma and beta, computed through both calls.

    grad_out, x: shape (N, C, ...), one dtype. mean, rstd: from ``group_norm``, float32 or x's dtype. gamma:
    shape (C,), None for ones. output_mask: whether the gradients of x, gamma and beta are wanted. ``stream`` and errors
    are as in ``group_norm``.
    """
    sizes = _sizes(x)
    made, mask = masked(output_mask, (x.shape, sizes[1:2], sizes[1:2]), x.dtype)
    numbers = (*sizes, whole_number("num_groups", num_groups), *mask)
    run("GroupNormBackward", (grad_out, x, mean, rstd, gamma), numbers, made, stream)
    return GroupNormGradients(*made)


def group_norm_silu_backward(
    grad_out: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
) -> GroupNormGradients:
    """Return the gradients of ``group_norm_silu``'s x, gamma and beta, computed in one kernel.

    beta: shape (C,), None for zeros. The other arguments and errors are as in ``group_norm_backward``.
    """
    sizes = _sizes(x)
    made, mask = masked(output_mask, (x.shape, sizes[1:2], sizes[1:2]), x.dtype)
    numbers = (*sizes, whole_number("num_groups", num_groups), *mask)
    run("GroupNormSiluBackward", (grad_out, x, mean, rstd, gamma, beta), numbers, made, stream)
    return GroupNormGradients(*made)


def _forward_arrays(x: np.ndarray, num_groups: int, out: np.ndarray | None, statistics_of_x: bool) -> GroupNormArrays:
    """Return ``out``, or a new array, and new arrays for mean and rstd. Raises ArgumentError for a wrong num_groups."""
    (n, channels, _), groups = _sizes(x), whole_number("num_groups", num_groups)
    statistics = (n, groups) if 0 < groups <= channels else (0, 0)  # the C side refuses other numbers of groups
    y = np.empty(x.shape, x.dtype) if out is None else out
    dtype = x.dtype if statistics_of_x else np.dtype(np.float32)
    return GroupNormArrays(y, np.empty(statistics, dtype), np.empty(statistics, dtype))


def _sizes(x: np.ndarray) -> tuple[int, int, int]:
    """Return N, C and HxW; zeros, which the C side refuses, for an array with too few axes."""
    return (*x.shape[:2], math.prod(x.shape[2:])) if x.ndim >= 2 else (0, 0, 0)
