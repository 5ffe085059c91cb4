"""References of the kernels that move or map elements: ``copy``, ``add``, ``relu``, ``silu``, ``gelu`` and so on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import as_float64


def copy(x: ArrayLike) -> np.ndarray:
    """The elements of ``x``, bit for bit, in an array of its own: same shape and dtype, C-contiguous."""
    return np.array(x, order="C", copy=True)


def transpose(x: ArrayLike) -> np.ndarray:
    """The elements of ``x``, of shape (r, k), bit for bit in an array of shape (k, r). Raises ArgumentError."""
    data = np.asarray(x)
    if data.ndim != 2:
        raise ArgumentError(f"x has shape {data.shape}", where="argument x", hint="an array with two axes")
    return copy(data.T)


def add(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """The element-wise sum of two arrays of one shape and one dtype.

    Floating-point sums come back as float64: the sum of two float32 numbers, rounded from there to float32, is the
    correctly rounded one, because float64 has more than twice the digits. Integers keep their dtype and wrap round.
    Raises ArgumentError when the shapes or dtypes differ; the kernel does not broadcast.
    """
    left, right = _pair(x, y)
    if left.dtype.kind in "iu":
        return left + right
    return as_float64(left, "x") + as_float64(right, "y")


def multiply(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """The element-wise product as float64, which holds that of two float32 numbers exactly. Errors: as ``add``."""
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
    """max(x, 0) as float64, in the shape of ``x``; NaN stays NaN. Raises ArgumentError for a dtype that is not real."""
    return np.maximum(as_float64(x, "x"), 0.0)


def silu(x: ArrayLike) -> np.ndarray:
    """x * sigmoid(x) as float64, in the shape of ``x``: Elfwing, Uchibe and Doya, 2018, https://arxiv.org/abs/1702.03118.

    -inf gives NaN, as in PyTorch, because x / (1 + e^-x) is -inf / inf there.
    Raises ArgumentError for a dtype that is not real.
    """
    data = as_float64(x, "x")
    with np.errstate(over="ignore", invalid="ignore"):
        return data / (1.0 + np.exp(-data))


#: GELU's tanh form: u = _ROOT * (x + _CUBIC * x^3). Hendrycks and Gimpel, 2016, https://arxiv.org/abs/1606.08415.
_ROOT = np.sqrt(2.0 / np.pi)
_CUBIC = 0.044715


def gelu(x: ArrayLike) -> np.ndarray:
    """x/2 * (1 + tanh(u)) with u = sqrt(2/pi) * (x + 0.044715 x^3), as float64, in the shape of ``x``.

    Taken as x / (1 + e^-2u), which is the same number: 1 + tanh(u) has no digits left where tanh(u) is close to -1.
    -inf gives NaN, as in PyTorch. Raises ArgumentError for a dtype that is not real.
    """
    data = as_float64(x, "x")
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return data / (1.0 + np.exp(-2.0 * _ROOT * data * (1.0 + _CUBIC * data**2)))


def gelu_backward(dy: ArrayLike, x: ArrayLike) -> np.ndarray:
    """The gradient of a loss with respect to x, given its gradient ``dy`` with respect to ``gelu(x)``; float64.

    dy, x: one shape. With t = tanh(u) the derivative is (1 + t)/2 + x/2 * (1 - t^2) * u', whose terms are taken from
    e^-2|u|: (1 - t^2) / 4 is e^-2|u| / (1 + e^-2|u|)^2. NaN where x is infinite, as in PyTorch.
    Raises ArgumentError for two shapes, or a dtype that is not real.
    """
    upstream, data = as_float64(dy, "dy"), as_float64(x, "x")
    if upstream.shape != data.shape:
        raise ArgumentError(
            f"dy has shape {upstream.shape}, x has shape {data.shape}",
            where="arguments dy, x",
            hint="dy is the gradient of gelu(x), which has the shape of x",
        )
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        u = _ROOT * data * (1.0 + _CUBIC * data**2)
        shrunk = np.exp(-2.0 * np.abs(u))
        half = np.where(u < 0, shrunk, 1.0) / (1.0 + shrunk)
        slope = _ROOT * (1.0 + 3.0 * _CUBIC * data**2)
        # x * e^-2|u| first: where u' is infinite, it is 0 long since.
        product = data * shrunk
        rest = np.where(product == 0, 0.0, 2.0 * product * slope) / (1.0 + shrunk) ** 2
        return upstream * (half + np.where(np.isinf(data), np.nan, rest))
