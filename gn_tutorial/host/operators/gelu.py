"""GELU of NumPy arrays through the host API, and its gradient: the smallest operator here."""

from __future__ import annotations

import numpy as np

from gn_tutorial.errors import ArgumentError
from gn_tutorial.host.arrays import run
from gn_tutorial.host.stream import Stream

__all__ = ["gelu", "gelu_backward"]

#: The values of ``approximate``. The index of each is its number in GeluV2.
FORMS = ("none", "tanh")


def gelu(
    x: np.ndarray, approximate: str = "none", *, stream: Stream | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return GELU of every element of x, computed through both calls.

    x: float32, float16 or bfloat16, 0 to 8 axes. approximate: "none" for GELU as it is defined, with erf, or "tanh";
    another word raises ArgumentError. out: receives the result, of x's shape and dtype and any strides; by default a
    new contiguous array. ``stream`` and errors are as in ``group_norm``.
    """
    number = form_number("gelu", approximate)
    made = np.empty(x.shape, x.dtype) if out is None else out
    run("GeluV2", (x,), (number,), (made,), stream)
    return made


def gelu_backward(
    grad_out: np.ndarray,
    x: np.ndarray,
    approximate: str = "none",
    *,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the gradient of ``gelu``'s x. grad_out, out: of x's shape and dtype.

    The other arguments and errors are as in ``gelu``.
    """
    made = np.empty(x.shape, x.dtype) if out is None else out
    run("GeluBackwardV2", (grad_out, x), (str(approximate).encode(),), (made,), stream)
    return made


def form_number(function: str, approximate: str) -> int:
    """Return the index of ``approximate`` in FORMS. Raises ArgumentError, which names ``function``, for other words."""
    if approximate not in FORMS:
        hint = f"one of {', '.join(map(repr, FORMS))}"
        raise ArgumentError(f"'approximate' is {approximate!r}", where=f"gnt.host.{function}", hint=hint)
    return FORMS.index(approximate)
