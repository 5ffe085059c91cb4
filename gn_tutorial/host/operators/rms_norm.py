"""RMSNorm of a NumPy array, or of the sum of two, through the host API, and the gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gn_tutorial.host.arrays import run
from gn_tutorial.host.stream import Stream

__all__ = [
    "AddRmsNormArrays",
    "RmsNormArrays",
    "RmsNormGradients",
    "add_rms_norm",
    "add_rms_norm_backward",
    "rms_norm",
    "rms_norm_backward",
]


class RmsNormArrays(NamedTuple):
    """Results of ``rms_norm``, valid once the stream is synchronised."""

    out: np.ndarray
    rstd: np.ndarray


class AddRmsNormArrays(NamedTuple):
    """Results of ``add_rms_norm``, valid once the stream is synchronised."""

    out: np.ndarray
    sum: np.ndarray
    rstd: np.ndarray


class RmsNormGradients(NamedTuple):
    """Results of the backward functions, valid once the stream is synchronised."""

    grad_input: np.ndarray
    grad_gamma: np.ndarray


def rms_norm(
    x: np.ndarray,
    gamma: np.ndarray,
    *,
    eps: float = 1e-6,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> RmsNormArrays:
    """Return RMSNorm of x, and rstd, computed through both calls.

    The axes of gamma, which are the last ones of x, are normalised. x: 1 to 8 axes; float32, float16 or bfloat16.
    gamma: x's dtype, not empty. out: receives the result, of x's shape and dtype and any strides; by default a new
    contiguous array. rstd: float32, of x's shape without the axes of gamma. ``stream`` and errors are as in
    ``group_norm``.
    """
    made = np.empty(x.shape, x.dtype) if out is None else out
    rstd, outer = _rstd(x, gamma)
    run("RmsNorm", (x, gamma), (float(eps),), (made, rstd), stream)
    return RmsNormArrays(made, rstd.reshape(outer))


def add_rms_norm(
    x1: np.ndarray,
    x2: np.ndarray,
    gamma: np.ndarray,
    *,
    eps: float = 1e-6,
    stream: Stream | None = None,
    out: tuple[np.ndarray, np.ndarray] | None = None,
) -> AddRmsNormArrays:
    """Return ``rms_norm`` of the sum of x1 and x2, the sum itself, and rstd, computed through both calls.

    x1, x2: one shape and dtype, to which the sum is rounded. out: receives the result and the sum. The other arguments
    and errors are as in ``rms_norm``.
    """
    made, total = (np.empty(x1.shape, x1.dtype), np.empty(x1.shape, x1.dtype)) if out is None else out
    rstd, outer = _rstd(x1, gamma)
    run("AddRmsNorm", (x1, x2, gamma), (float(eps),), (made, rstd, total), stream)
    return AddRmsNormArrays(made, total, rstd.reshape(outer))


def _rstd(x: np.ndarray, gamma: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return an array for rstd with as many axes as x, which the C side requires, and rstd's shape for the caller."""
    outer = max(x.ndim - gamma.ndim, 0)  # the C side refuses a gamma of more axes
    return np.empty((*x.shape[:outer], *[1] * (x.ndim - outer)), np.float32), x.shape[:outer]


def rms_norm_backward(
    grad_out: np.ndarray, x: np.ndarray, rstd: np.ndarray, gamma: np.ndarray, *, stream: Stream | None = None
) -> RmsNormGradients:
    """Return the gradients of ``rms_norm``'s x and gamma, computed through both calls.

    grad_out, x: one shape and dtype. rstd: from ``rms_norm``. gamma: as in ``rms_norm``; its gradient is always
    float32. ``stream`` and errors are as in ``group_norm``.
    """
    made = RmsNormGradients(np.empty(x.shape, x.dtype), np.empty(gamma.shape, np.float32))
    run("RmsNormGrad", (grad_out, x, rstd, gamma), (), made, stream)
    return made


def add_rms_norm_backward(
    grad_out: np.ndarray,
    grad_sum: np.ndarray,
    total: np.ndarray,
    rstd: np.ndarray,
    gamma: np.ndarray,
    *,
    stream: Stream | None = None,
) -> RmsNormGradients:
    """Return the gradients of ``add_rms_norm``, computed through both calls; ``grad_input`` is for x1 and for x2.

    grad_out, grad_sum: the gradients of the result and of the sum, both of total's shape and dtype. total, rstd: the
    sum and rstd that ``add_rms_norm`` returned. The other arguments and errors are as in ``rms_norm_backward``.
    """
    made = RmsNormGradients(np.empty(total.shape, total.dtype), np.empty(gamma.shape, np.float32))
    run("AddRmsNormGrad", (grad_out, grad_sum, total, rstd, gamma), (), made, stream)
    return made
