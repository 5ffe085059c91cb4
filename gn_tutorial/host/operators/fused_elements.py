"""Add with ReLU, and SwiGLU, of NumPy arrays through the host API, and their gradients."""

from __future__ import annotations

import numpy as np

from gn_tutorial.host.arrays import run
from gn_tutorial.host.stream import Stream

__all__ = ["add_relu", "add_relu_backward", "swiglu", "swiglu_backward"]


def add_relu(
    x: np.ndarray, y: np.ndarray, *, stream: Stream | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return max(x + y, 0), computed through both calls.

    x: float32, float16 or bfloat16, 0 to 8 axes. y: of x's shape and dtype. out: the array for the result, of x's shape
    and dtype; by default a new contiguous one. ``stream`` and errors are as in ``group_norm``.
    """
    made = np.empty(x.shape, x.dtype) if out is None else out
    run("AddRelu", (x, y), (), (made,), stream)
    return made


def add_relu_backward(
    grad_out: np.ndarray, result: np.ndarray, *, stream: Stream | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return the gradient of ``add_relu``'s x, which is also the gradient of its y.

    result: the result of ``add_relu``. grad_out, out: of result's shape and dtype. ``stream`` and errors are as in
    ``add_relu``.
    """
    made = np.empty(result.shape, result.dtype) if out is None else out
    run("AddReluBackward", (grad_out, result), (), (made,), stream)
    return made


def swiglu(
    gate: np.ndarray, up: np.ndarray, *, stream: Stream | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return silu(gate) * up, computed through both calls. Arguments and errors are as in ``add_relu``."""
    made = np.empty(gate.shape, gate.dtype) if out is None else out
    run("SwiGlu", (gate, up), (), (made,), stream)
    return made


def swiglu_backward(
    grad_out: np.ndarray,
    gate: np.ndarray,
    up: np.ndarray,
    *,
    stream: Stream | None = None,
    out: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of ``swiglu``'s gate and up from the gradient of its result.

    grad_out, and both arrays of out: of gate's shape and dtype. ``stream`` and errors are as in ``add_relu``.
    """
    made = (np.empty(gate.shape, gate.dtype), np.empty(gate.shape, gate.dtype)) if out is None else out
    run("SwiGluBackward", (grad_out, gate, up), (), made, stream)
    return made
