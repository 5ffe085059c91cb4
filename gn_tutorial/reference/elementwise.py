"""References of the kernels that copy elements or compute element by element: ``copy``, ``add``, ``silu`` and so on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import as_float64


def copy(x: ArrayLike) -> np.ndarray:
    """Return a copy of ``x``, bit for bit: same shape and dtype, C-contiguous."""
    return np.array(x, order="C", copy=True)


def transpose(x: ArrayLike) -> np.ndarray:
    """Return ``x``, of shape (r, k), transposed to (k, r), bit for bit. Raises ArgumentError unless it has two axes."""
    data = np.asarray(x)
    if data.ndim != 2:
        raise ArgumentError(f"x has shape {data.shape}", where="argument x", hint="an array with two axes")
    return copy(data.T)


def add(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return the element-wise sum of two arrays of one shape and one dtype.

    Floating-point sums are float64. A float64 sum of two float32 numbers, rounded to float32, is correctly rounded,
    because float64 has more than twice the digits. Integers keep their dtype and wrap around.
    Raises ArgumentError if the shapes or dtypes differ, because the kernel does not broadcast, or if the dtype is not
    real.
    """
    left, right = _pair(x, y)
    if left.dtype.kind in "iu":
        return left + right
    return as_float64(left, "x") + as_float64(right, "y")


def multiply(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return the element-wise product as float64, exact for two float32 numbers. Raises as ``add`` does."""
    left, right = _pair(x, y)
    return as_float64(left, "x") * as_float64(right, "y")


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.asarray(x), np.asarray(y)
    if left.shape != right.shape or left.dtype != right.dtype:
        raise ArgumentError(
            f"x is {left.dtype} of shape {left.shape}, y is {right.dtype} of shape {right.shape}",
            where="arguments x, y",
            hint="two arrays of one shape and one dtype: nothing is broadcast",
        )
    return left, right


def relu(x: ArrayLike) -> np.ndarray:
    """Return max(x, 0) as float64; NaN stays NaN. Raises ArgumentError for a dtype that is not real."""
    return np.maximum(as_float64(x, "x"), 0.0)


def silu(x: ArrayLike) -> np.ndarray:
    """Return x * sigmoid(x) as float64: Elfwing, Uchibe and Doya, 2018, https://arxiv.org/abs/1702.03118.

    -inf gives NaN, as in PyTorch, because x / (1 + e^-x) is -inf / inf there.
    Raises ArgumentError for a dtype that is not real.
    """
    data = as_float64(x, "x")
    with np.errstate(over="ignore", invalid="ignore"):
        return data / (1.0 + np.exp(-data))
