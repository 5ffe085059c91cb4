"""Small words about arrays that the checkers share."""

from __future__ import annotations

import numpy as np

#: A relative error below this is no wrong formula, but float32 (6e-8 an operation) in place of float64.
_NEAR = 1e-5


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


def mismatch(place: str, got: np.generic, want: np.generic) -> str:
    """``y[3] is 1; 2 is right``. Real numbers that nearly agree are shown with all their digits."""
    if isinstance(want, np.floating) and abs(float(got) - float(want)) <= _NEAR * abs(float(want)):
        return (
            f"{place} is {got}; {want} is right: the first digits agree, so look for arithmetic of too low a precision"
        )
    return f"{place} is {shown(got)}; {shown(want)} is right"


def spots(name: str, mask: np.ndarray) -> str:
    """Where a flat mask is true, in words: ``y[8] to y[12]``, or the first place of several stretches."""
    places = np.flatnonzero(mask)
    first, last = int(places[0]), int(places[-1])
    if first == last:
        return f"{name}[{first}]"
    return f"{name}[{first}] to {name}[{last}]" if last - first + 1 == places.size else f"first {name}[{first}]"
