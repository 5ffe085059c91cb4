"""Linear of NumPy arrays through the host API, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gn_tutorial.host.arrays import masked, run
from gn_tutorial.host.stream import Stream

__all__ = ["LinearGradients", "linear", "linear_backward"]


class LinearGradients(NamedTuple):
    """What ``linear_backward`` writes; None for what was not asked for. Valid after the stream is synchronised."""

    grad_input: np.ndarray | None
    grad_weight: np.ndarray | None
    grad_bias: np.ndarray | None


def linear(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """``x @ weight.T + bias`` for the last axis of x, through both calls; sums are float32.

    x: (..., K) of 1 to 8 axes; float32, float16 or bfloat16. weight: (O, K), bias: (O,) or None for zeros, both of x's
    dtype. out: where to write the result, (..., O) of x's dtype and any strides. ``stream`` and errors as in
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
    """The gradients of ``linear``'s x, weight and bias from that of its result.

    grad_out: (..., O), dtype as x. output_mask: whether the gradients of x, weight and bias are wanted. Errors as
    there.
    """
    made, mask = masked(output_mask, (x.shape, weight.shape, weight.shape[:1]), x.dtype)
    run("LinearBackward", (grad_out, x, weight), mask, made, stream)
    return LinearGradients(*made)
