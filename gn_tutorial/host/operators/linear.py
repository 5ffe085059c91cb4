"""Linear of NumPy arrays through the host API, alone and with GELU, and the gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gn_tutorial.host.arrays import masked, run
from gn_tutorial.host.operators.gelu import form_number
from gn_tutorial.host.stream import Stream

__all__ = ["LinearGeluResults", "LinearGradients", "linear", "linear_backward", "linear_gelu", "linear_gelu_backward"]


class LinearGradients(NamedTuple):
    """Gradients from the backward functions; None for an unwanted one. Valid once the stream is synchronised."""

    grad_input: np.ndarray | None
    grad_weight: np.ndarray | None
    grad_bias: np.ndarray | None


class LinearGeluResults(NamedTuple):
    """Results of ``linear_gelu``, valid once the stream is synchronised. With ``keep=False`` preactivation is None."""

    out: np.ndarray
    preactivation: np.ndarray | None


def linear(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return ``x @ weight.T + bias``, computed through both calls. Sums are computed in float32.

    x: (..., K) of 1 to 8 axes; float32, float16 or bfloat16. weight: (O, K), bias: (O,) or None for zeros, both of x's
    dtype. out: receives the result, (..., O) of x's dtype and any strides. ``stream`` and errors are as in
    ``group_norm``.
    """
    made = np.empty((*x.shape[:-1], *weight.shape[:1]), x.dtype) if out is None else out
    run("Linear", (x, weight, bias), (), (made,), stream)
    return made


def linear_backward(
    grad_out: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray,
    *,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
) -> LinearGradients:
    """Return the gradients of ``linear``'s x, weight and bias from the gradient of its result.

    grad_out: (..., O), dtype as x. output_mask: whether to compute the gradients of x, weight and bias. ``stream``
    and errors are as in ``linear``.
    """
    made, mask = masked(output_mask, (x.shape, weight.shape, weight.shape[:1]), x.dtype)
    run("LinearBackward", (grad_out, x, weight), mask, made, stream)
    return LinearGradients(*made)


def linear_gelu(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    approximate: str = "none",
    *,
    keep: bool = True,
    stream: Stream | None = None,
    out: tuple[np.ndarray, np.ndarray] | None = None,
) -> LinearGeluResults:
    """Return GELU of ``linear(x, weight, bias)``, in one launch, and the linear result, called the pre-activation.

    approximate: as in ``gelu``. keep: whether to write the pre-activation, which the gradients need. out: receives both
    results, whatever ``keep`` says. The other arguments and errors are as in ``linear``.
    """
    number, shape = form_number("linear_gelu", approximate), (*x.shape[:-1], *weight.shape[:1])
    made = (np.empty(shape, x.dtype), np.empty(shape, x.dtype) if keep else None) if out is None else out
    run("LinearGelu", (x, weight, bias), (number,), made, stream)
    return LinearGeluResults(*made)


def linear_gelu_backward(
    grad_out: np.ndarray,
    preactivation: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray,
    approximate: str = "none",
    *,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
) -> LinearGradients:
    """Return the gradients of ``linear_gelu``'s x, weight and bias from the gradient of its first result.

    preactivation: the second result of ``linear_gelu``. grad_out, preactivation: (..., O), dtype as x. approximate: as
    in ``gelu``. The other arguments and errors are as in ``linear_backward``.
    """
    number = form_number("linear_gelu_backward", approximate)
    made, mask = masked(output_mask, (x.shape, weight.shape, weight.shape[:1]), x.dtype)
    run("LinearGeluBackward", (grad_out, preactivation, x, weight), (number, *mask), made, stream)
    return LinearGradients(*made)
