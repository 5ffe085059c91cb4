"""Linear, y = x W^T + b, and its gradients in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference.arguments import as_float64


class ReferenceLinearGradients(NamedTuple):
    """The gradients: ``dx`` shaped like x, ``dweight`` like weight, ``dbias`` of shape (O,); None if not requested."""

    dx: np.ndarray | None
    dweight: np.ndarray | None
    dbias: np.ndarray | None


def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None) -> np.ndarray:
    """Return ``x @ weight.T + bias`` as float64.

    x: shape (..., K). weight: (O, K). bias: (O,), or None for zeros. Returns shape (..., O). If K = 0, every row of the
    result is the bias or zeros. Raises ArgumentError for shapes that do not fit, or a dtype that is not real.
    """
    data, matrix = _operands(x, weight)
    y = data @ matrix.T
    if bias is not None:
        y = y + _fits(as_float64(bias, "bias"), "bias", matrix.shape[:1], "one number for each row of weight")
    return y


def linear_backward(
    dy: ArrayLike, x: ArrayLike, weight: ArrayLike, *, output_mask: Sequence[bool] = (True, True, True)
) -> ReferenceLinearGradients:
    """Return the gradients of a loss, given its gradient ``dy`` with respect to ``linear(x, weight, bias)``; float64.

    With all axes of dy and x but the last merged into one axis of rows::

        dx = dy @ weight        dweight = dy.T @ x        dbias = sum of dy over the rows

    dy: shape (..., O). x: (..., K). weight: (O, K). output_mask: which of dx, dweight and dbias to compute. Without
    rows, dweight and dbias are zeros. Raises ArgumentError for a shape, a dtype or a mask that does not fit.
    """
    data, matrix = _operands(x, weight)
    shape = (*data.shape[:-1], len(matrix))
    upstream = _fits(as_float64(dy, "dy"), "dy", shape, "the shape of linear(x, weight)")
    asked = list(output_mask) if isinstance(output_mask, Sequence) else []
    if len(asked) != 3 or not all(isinstance(one, bool | np.bool_) for one in asked):
        raise ArgumentError(
            f"output_mask is {output_mask!r}; three booleans are needed",
            where="argument output_mask",
            hint="they say whether dx, dweight and dbias are computed, in this order",
        )
    count = int(np.prod(data.shape[:-1]))
    rows, by_row = data.reshape(count, data.shape[-1]), upstream.reshape(count, len(matrix))
    return ReferenceLinearGradients(
        upstream @ matrix if asked[0] else None,
        by_row.T @ rows if asked[1] else None,
        by_row.sum(axis=0) if asked[2] else None,
    )


def _operands(x: ArrayLike, weight: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    data, matrix = as_float64(x, "x"), as_float64(weight, "weight")
    if data.ndim < 1 or matrix.ndim != 2 or data.shape[-1] != matrix.shape[1]:
        raise ArgumentError(
            f"x has shape {data.shape}, weight has shape {matrix.shape}",
            where="arguments x, weight",
            hint="x is (..., K) and weight (O, K): a row of weight for each element of the result's last axis",
        )
    return data, matrix


def _fits(array: np.ndarray, name: str, shape: tuple[int, ...], meaning: str) -> np.ndarray:
    if array.shape != shape:
        raise ArgumentError(f"{name} has shape {array.shape}; {shape} is needed, {meaning}", where=f"argument {name}")
    return array
