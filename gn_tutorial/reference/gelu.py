"""References of GELU and its gradient, in the exact form (erf) and in the tanh form.

Hendrycks and Gimpel, 2016, https://arxiv.org/abs/1606.08415. Each formula is written so that no digits are lost for
negative x. The published formulas lose them in 1 + erf and 1 + tanh, because erf and tanh are nearly -1 there. GELU of
-inf is NaN, and so is the gradient for infinite x, as in PyTorch, whose formulas compute infinity times 0 there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import as_float64

#: The tanh form: u = _ROOT * (x + _CUBIC * x^3).
_ROOT = np.sqrt(2.0 / np.pi)
_CUBIC = 0.044715
_erfc = np.frompyfunc(math.erfc, 1, 1)


def gelu(x: ArrayLike, approximate: str = "none") -> np.ndarray:
    """Return x * Phi(x) with Phi(x) = (1 + erf(x / sqrt(2))) / 2, as float64, in the shape of ``x``.

    approximate="tanh": x/2 * (1 + tanh(u)) with u = sqrt(2/pi) * (x + 0.044715 x^3), computed as x / (1 + e^-2u).
    Raises ArgumentError for a dtype that is not real, or another ``approximate``.
    """
    data = as_float64(x, "x")
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if _is_tanh(approximate):
            return data / (1.0 + np.exp(-2.0 * _ROOT * data * (1.0 + _CUBIC * data**2)))
        return data * _below(data)


def gelu_backward(dy: ArrayLike, x: ArrayLike, approximate: str = "none") -> np.ndarray:
    """Return the gradient of a loss with respect to x, from its gradient ``dy`` with respect to ``gelu(x)``; float64.

    dy, x: one shape. The derivative of ``gelu`` is Phi(x) + x phi(x) with phi(x) = e^(-x^2 / 2) / sqrt(2 pi).
    approximate="tanh": with u as in ``gelu`` and t = tanh(u), the derivative is (1 + t)/2 + x/2 * (1 - t^2) * u'. Its
    terms are computed from e^-2|u|: (1 - t^2) / 4 is e^-2|u| / (1 + e^-2|u|)^2.
    Raises ArgumentError if the shapes differ, for a dtype that is not real, or for another ``approximate``.
    """
    upstream, data = as_float64(dy, "dy"), as_float64(x, "x")
    if upstream.shape != data.shape:
        raise ArgumentError(
            f"dy has shape {upstream.shape}, x has shape {data.shape}",
            where="arguments dy, x",
            hint="dy is the gradient of gelu(x), which has the shape of x",
        )
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if not _is_tanh(approximate):
            return upstream * (_below(data) + data * np.exp(-0.5 * data**2) / np.sqrt(2.0 * np.pi))
        u = _ROOT * data * (1.0 + _CUBIC * data**2)
        shrunk = np.exp(-2.0 * np.abs(u))
        half = np.where(u < 0, shrunk, 1.0) / (1.0 + shrunk)
        slope = _ROOT * (1.0 + 3.0 * _CUBIC * data**2)
        # Multiply x by e^-2|u| first: the product is already 0 where u' is infinite.
        product = data * shrunk
        rest = np.where(product == 0, 0.0, 2.0 * product * slope) / (1.0 + shrunk) ** 2
        return upstream * (half + np.where(np.isinf(data), np.nan, rest))


def _below(x: np.ndarray) -> np.ndarray:
    """Return Phi(x), the share of the standard normal distribution below x.

    The formula erfc(-x / sqrt(2)) / 2 loses no digits where Phi(x) is near 0.
    """
    return 0.5 * np.asarray(_erfc(-x / np.sqrt(2.0)), np.float64)


def _is_tanh(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise ArgumentError(
            f"approximate is {approximate!r}", where="argument approximate", hint='"none", or "tanh" for that form'
        )
    return approximate == "tanh"
