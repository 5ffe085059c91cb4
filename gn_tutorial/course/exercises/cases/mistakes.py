"""Backward passes of GroupNorm, the right one and wrong ones: what gradient tests are tested with.

Each wrong one is the right text with one place edited. Several have been published: a gradient handed on unchanged, dy
summed where dy * gamma belongs, gamma pulled out of the means, dgamma from dy * gamma.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

_RIGHT = """
import numpy as np

def backward(dy, x, gamma, mean, rstd, num_groups):
    n, c = x.shape[:2]
    split = (n, num_groups, c // num_groups, -1)
    dy, gamma = dy.reshape(split), gamma.reshape(1, num_groups, -1, 1)
    r = rstd.reshape(n, num_groups, 1, 1)
    xhat = (x.reshape(split) - mean.reshape(n, num_groups, 1, 1)) * r
    a = dy * gamma
    inside = (2, 3)
    e_a = a.mean(axis=inside, keepdims=True)
    e_ax = (a * xhat).mean(axis=inside, keepdims=True)
    dx = r * (a - e_a - xhat * e_ax)
    dgamma = (dy * xhat).sum(axis=(0, 3)).ravel()
    dbeta = dy.sum(axis=(0, 3)).ravel()
    return dx.reshape(x.shape), dgamma, dbeta
"""

_DX = "dx = r * (a - e_a - xhat * e_ax)"
#: Name -> the place of the right text, and what stands there instead.
_EDITS: Mapping[str, tuple[str, str]] = {
    "right": (_DX, _DX),
    "hands dy on": (_DX, "dx = dy"),
    "zero": (_DX, "dx = 0 * dy"),
    "first position": ("a = dy * gamma", "a = dy[..., :1] * gamma + 0 * dy"),
    "constants": (_DX, "dx = r * a"),
    "dy summed": (
        _DX,
        "dx = r * (a - dy.mean(axis=inside, keepdims=True) - xhat * (dy * xhat).mean(axis=inside, keepdims=True))",
    ),
    "gamma pulled out": (
        _DX,
        "dx = dy - dy.mean(axis=inside, keepdims=True) - xhat * (dy * xhat).mean(axis=inside, keepdims=True)\n"
        "    dx = r * gamma * dx",
    ),
    "dgamma from dy * gamma": ("dgamma = (dy * xhat)", "dgamma = (a * xhat)"),
    "dbeta from dy * gamma": ("dbeta = dy.sum", "dbeta = a.sum"),
    "one sample": ("dgamma = (dy * xhat)", "dgamma = (dy * xhat)[:1]"),
    "whole sample": ("inside = (2, 3)", "inside = (1, 2, 3)"),
    "one position": ("dbeta = dy.sum", "dbeta = dy[..., :1].sum"),
    "one per cent": (_DX, "dx = 1.01 * r * (a - e_a - xhat * e_ax)"),
    "last channel": ("return dx", "dgamma[-1] *= 1.02\n    return dx"),
}


def text(name: str = "right", factor: float = 1.0) -> str:
    """The text of a function ``backward(dy, x, gamma, mean, rstd, num_groups)`` with that mistake.

    It returns dx, dgamma, dbeta. factor: what dx is multiplied by besides. Raises KeyError for an unknown name.
    """
    old, new = _EDITS[name]
    assert _RIGHT.count(old) == 1, name
    return _RIGHT.replace(old, new).replace("return dx.reshape(x.shape)", f"return {factor!r} * dx.reshape(x.shape)")


@functools.cache
def function(name: str) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The function that ``text`` defines; it returns dx, dgamma, dbeta."""
    names: dict[str, Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    exec(text(name), names)
    return names["backward"]


#: The five functions of exercise 10.4, under the letters of its question; what each of them does wrong.
_SUSPECTS: Mapping[str, str] = {
    "A": "gamma pulled out",
    "B": "dgamma from dy * gamma",
    "C": "right",
    "D": "constants",
    "E": "dy summed",
}


def suspect(letter: str) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The backward pass A, B, C, D or E of exercise 10.4; called and returning as ``text`` says."""
    return function(_SUSPECTS[letter])
