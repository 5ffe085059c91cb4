"""GELU of NumPy arrays through the host API, and its gradient: the smallest operator of this kind."""

from __future__ import annotations

import numpy as np

from gn_tutorial.host.arrays import run
from gn_tutorial.host.stream import Stream

__all__ = ["gelu", "gelu_backward"]


def gelu(x: np.ndarray, *, stream: Stream | None = None, out: np.ndarray | None = None) -> np.ndarray:
    """GELU of every element of x, in its tanh form, through both calls.

    x: float32, float16 or bfloat16, 0 to 8 axes. out: where to write the result, of x's shape and dtype and any
    strides; a contiguous array otherwise. ``stream`` and errors as in ``group_norm``.
    """
    made = np.empty(x.shape, x.dtype) if out is None else out
    run("Gelu", (x,), (), (made,), stream)
    return made


def gelu_backward(
    grad_out: np.ndarray, x: np.ndarray, *, stream: Stream | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """The gradient of ``gelu``'s x from that of its result. grad_out and out: as x. Errors as there."""
    made = np.empty(x.shape, x.dtype) if out is None else out
    run("GeluBackward", (grad_out, x), (), (made,), stream)
    return made
