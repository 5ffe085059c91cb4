"""RMSNorm of NumPy arrays through the host API, and its gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gn_tutorial.host.arrays import run
from gn_tutorial.host.stream import Stream

__all__ = ["RmsNormArrays", "RmsNormGradients", "rms_norm", "rms_norm_backward"]


class RmsNormArrays(NamedTuple):
    """What ``rms_norm`` writes. Valid when the stream has been synchronised."""

    out: np.ndarray
    rstd: np.ndarray


class RmsNormGradients(NamedTuple):
    """What ``rms_norm_backward`` writes. Valid when the stream has been synchronised."""

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
    """RMSNorm of x over the axes of gamma, which are the last of x, through both calls.

    x: 1 to 8 axes; float32, float16 or bfloat16. gamma: x's dtype, not empty. out: where to write the result, of x's
    shape and dtype and any strides; a contiguous array otherwise. rstd: float32, of x's shape without the axes of
    gamma. ``stream`` and errors as in ``group_norm``.
    """
    made = np.empty(x.shape, x.dtype) if out is None else out
    outer = max(x.ndim - gamma.ndim, 0)  # the C side refuses a gamma of more axes
    # The C side wants as many axes as x has; both describe the same memory.
    rstd = np.empty((*x.shape[:outer], *[1] * (x.ndim - outer)), np.float32)
    run("RmsNorm", (x, gamma), (float(eps),), (made, rstd), stream)
    return RmsNormArrays(made, rstd.reshape(x.shape[:outer]))


def rms_norm_backward(
    grad_out: np.ndarray, x: np.ndarray, rstd: np.ndarray, gamma: np.ndarray, *, stream: Stream | None = None
) -> RmsNormGradients:
    """The gradients of ``rms_norm`` through both calls.

    grad_out, x: one shape and dtype. rstd: what ``rms_norm`` returned. gamma: as there; its gradient is float32 for
    every dtype. ``stream`` and errors as in ``group_norm``.
    """
    made = RmsNormGradients(np.empty(x.shape, x.dtype), np.empty(gamma.shape, np.float32))
    run("RmsNormGrad", (grad_out, x, rstd, gamma), (), made, stream)
    return made
