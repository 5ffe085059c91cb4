"""Small words about arrays that the checkers share."""

from __future__ import annotations

import numpy as np


def first_wrong(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> int:
    """Flat index of the first element outside ``atol + rtol * |want|``, or -1. NaN and infinity are never within."""
    ours, truth = got.reshape(-1).astype(np.float64), want.reshape(-1).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        bad = ~(np.isfinite(ours) & (np.abs(ours - truth) <= atol + rtol * np.abs(truth)))
    return int(bad.argmax()) if bad.any() else -1


def constant(array: np.ndarray) -> bool:
    """Whether several elements are all the same."""
    return array.size > 1 and bool((array.reshape(-1) == array.reshape(-1)[0]).all())


def shown(value: object) -> str:
    """A number with seven digits; a whole number in full."""
    return f"{value:.7g}" if isinstance(value, (float, np.floating)) else str(value)


def spots(name: str, mask: np.ndarray) -> str:
    """Where a flat mask is true, in words: ``y[8] to y[12]``, or the first place of several stretches."""
    places = np.flatnonzero(mask)
    first, last = int(places[0]), int(places[-1])
    if first == last:
        return f"{name}[{first}]"
    return f"{name}[{first}] to {name}[{last}]" if last - first + 1 == places.size else f"first {name}[{first}]"
