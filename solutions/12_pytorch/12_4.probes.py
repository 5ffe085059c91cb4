"""Probes of 12.4: whether an attempt's inputs are valid, and whether a wrong kernel passes with them.

Their text runs in the attempt's process. A kernel is the text of a function ``backward`` (``gradient_mistakes``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 1000  # numbers at most, because people read a sample
EPS = 1e-5


def fits(attempt: Any, seed: int, tolerance: float, right: str) -> str | None:
    """Check the shapes that inputs returns, and that a right kernel in float32 passes with them."""
    made = attempt.inputs(np.random.default_rng(seed))
    if not isinstance(made, tuple) or len(made) != 4:
        return "inputs returns four things: dy, x, gamma, num_groups"
    dy, x, gamma, groups = made
    if not all(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in made[:3]):
        return "dy, x and gamma are arrays of floats"
    if x.ndim < 2 or dy.shape != x.shape or not 0 < x.size <= MOST:
        return f"x has shape {x.shape} and dy {dy.shape}; one shape (N, C, ...) of at most {MOST} numbers is asked for"
    channels = x.shape[1]
    if gamma.shape != (channels,):
        return f"gamma has shape {gamma.shape}; it is ({channels},), one number for each channel"
    if not isinstance(groups, (int, np.integer)) or groups < 1 or channels % groups:
        return f"num_groups is {groups}; it has to divide the {channels} channels"
    if not all(np.isfinite(one).all() for one in made[:3]):
        return "an input is not finite"
    if not _alike(_run(right, made, np.float32), _run(right, made, float), tolerance):
        return "a right kernel is refused, for float32 has too few digits for these numbers: take smaller ones"
    return None


def catches(attempt: Any, seed: int, tolerance: float, right: str, wrong: str, what: str, asks: str) -> str | None:
    """Check that the wrong kernel's gradients differ from the right ones by more than the tolerance."""
    made = attempt.inputs(np.random.default_rng(seed))
    if _alike(_run(wrong, made, float), _run(right, made, float), tolerance):
        return f"a kernel that {what} passes with these inputs: {asks}"
    return None


def _run(text: str, made: Any, dtype: Any) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    dy, x, gamma = (np.asarray(one, dtype) for one in made[:3])
    groups = int(made[3])
    rows = x.astype(float).reshape(x.shape[0], groups, -1)
    mean, rstd = rows.mean(2).astype(dtype), (1 / np.sqrt(rows.var(2) + EPS)).astype(dtype)
    return names["backward"](dy, x, gamma, mean, rstd, groups)


def _alike(some: Any, others: Any, tolerance: float) -> bool:
    return all(np.allclose(one, other, rtol=tolerance, atol=tolerance) for one, other in zip(some, others, strict=True))
