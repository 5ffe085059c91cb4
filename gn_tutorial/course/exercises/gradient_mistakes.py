"""A right and several wrong backward passes of GroupNorm, and input data. Only some of the data tell the passes apart.

Notebooks 10 and 12 and the checks of 10.3, 10.4 and 12.4 use them.

A wrong pass is the right text with one edit. Several of these mistakes were published: dy returned as dx, sums of dy
instead of dy * gamma, gamma pulled out of the means, dgamma from dy * gamma.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gn_tutorial import reference

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
#: Name -> the part of the right text that is replaced, and its replacement.
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
    """Return the text of a function ``backward(dy, x, gamma, mean, rstd, num_groups)`` with the mistake ``name``.

    The function returns dx, dgamma, dbeta. factor: multiplies dx in addition. Raises KeyError for an unknown name.
    """
    old, new = _EDITS[name]
    assert _RIGHT.count(old) == 1, name
    return _RIGHT.replace(old, new).replace("return dx.reshape(x.shape)", f"return {factor!r} * dx.reshape(x.shape)")


@functools.cache
def function(name: str) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the function that ``text(name)`` defines. Its results are dx, dgamma, dbeta."""
    names: dict[str, Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    exec(text(name), names)
    return names["backward"]


#: Letter of a function in exercise 10.4 -> the mistake that it makes.
_SUSPECTS: Mapping[str, str] = {
    "A": "gamma pulled out",
    "B": "dgamma from dy * gamma",
    "C": "right",
    "D": "constants",
    "E": "dy summed",
}


def suspect(letter: str) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the backward pass A, B, C, D or E of exercise 10.4. Its arguments and results are those of ``text``."""
    return function(_SUSPECTS[letter])


#: Names of experiments. A name says which of gamma, the number of groups G and dy has a special value; the others have
#: no symmetry. There are 4 channels (C).
EXPERIMENTS = ("general", "gamma 1", "G = C", "dy 1")


def experiment(name: str) -> dict[str, np.ndarray | int]:
    """Return dy, x, gamma, mean, rstd and num_groups, by name, of one of ``EXPERIMENTS``; x has the shape (2, 4, 5)."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 4, 5)) + np.arange(4).reshape(4, 1)
    dy = rng.standard_normal(x.shape) + 0.5
    gamma = np.array([0.5, 2.0, -1.0, 3.0])
    groups = 4 if name == "G = C" else 2
    gamma = np.ones(4) if name == "gamma 1" else gamma
    dy = np.ones(x.shape) if name == "dy 1" else dy
    saved = reference.group_norm(x, gamma, num_groups=groups)
    return {"dy": dy, "x": x, "gamma": gamma, "mean": saved.mean, "rstd": saved.rstd, "num_groups": groups}


#: The relative and the absolute tolerance of a test like that of the published sample.
TOLERANCE = 1e-3

#: Mistake (a name for ``text``) -> what a kernel with it does, and a question about inputs with which such a kernel
#: passes a test. The first seven mistakes pass with the inputs of the published sample.
WRONG: Mapping[str, tuple[str, str]] = {
    "zero": ("writes zeros into dx", "how large is dx for them?"),
    "one per cent": (
        "makes dx one per cent too large",
        "a hundredth of dx must be more than the tolerance: how large is dx?",
    ),
    "dy summed": ("takes the means of dx of dy instead of dy * gamma", "which gammas hide that?"),
    "gamma pulled out": (
        "has gamma in front of the means instead of inside",
        "where is gamma the same all over a group?",
    ),
    "whole sample": ("takes the means over the whole sample instead of the group", "how many groups are there?"),
    "dgamma from dy * gamma": ("sums dgamma from dy * gamma", "which gammas hide that?"),
    "dbeta from dy * gamma": ("sums dbeta from dy * gamma", "which gammas hide that?"),
    "constants": ("treats mean and rstd as constants", "for which dy are the means of dy * gamma 0?"),
    "hands dy on": ("returns dy as dx", "when is dx equal to dy?"),
    "first position": (
        "uses the first dy of a channel for all its positions",
        "does dy differ from position to position?",
    ),
    "one sample": ("sums dgamma over the first sample only", "how many samples are there?"),
    "one position": ("sums dbeta over the first position only", "how many positions are there?"),
    "last channel": ("makes the last dgamma two per cent too large", "how large is dgamma?"),
}


def published_sample() -> dict[str, Any]:
    """Return dy, x, gamma, mean, rstd, num_groups of the published sample: dy = x = 1 to 24, gamma = 1, one group."""
    x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    saved = reference.group_norm(x, num_groups=1)
    return {
        "dy": x.copy(),
        "x": x,
        "gamma": np.ones(3, np.float32),
        "mean": saved.mean.astype(np.float32),
        "rstd": saved.rstd.astype(np.float32),
        "num_groups": 1,
    }


def accepted_with(given: Mapping[str, Any]) -> dict[str, bool]:
    """Return mistake, in the words of ``WRONG`` -> whether a test with these inputs and ``TOLERANCE`` accepts it."""
    wide = {name: one.astype(float) if isinstance(one, np.ndarray) else one for name, one in given.items()}
    right = function("right")(**wide)
    return {what: _alike(function(name)(**wide), right) for name, (what, _) in WRONG.items()}


def _alike(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    return all(np.allclose(*pair, rtol=TOLERANCE, atol=TOLERANCE) for pair in zip(some, others, strict=True))
