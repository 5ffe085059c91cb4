"""An attempt's arrays beside the right ones: the first wrong element, and sentences that say where it is."""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import within

#: A relative error below this is no wrong formula, but float32 (6e-8 an operation) in place of float64.
_NEAR = 1e-5


def first_wrong(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> int:
    """Flat index of the first element that is not ``comparison.within`` tolerance, or -1."""
    bad = ~within(got.reshape(-1), want.reshape(-1), rtol, atol)
    return int(bad.argmax()) if bad.any() else -1


def same(got: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays of float64 have one shape and agree: whether a known mistake gives just these numbers."""
    return got.shape == other.shape and bool(np.allclose(got, other, rtol=1e-6, atol=1e-8))


def constant(array: np.ndarray) -> bool:
    """Whether several elements are all the same."""
    return array.size > 1 and bool((array.reshape(-1) == array.reshape(-1)[0]).all())


def shown(value: object) -> str:
    """A number with seven digits; a whole number in full."""
    return f"{value:.7g}" if isinstance(value, (float, np.floating)) else str(value)


def mismatch(place: str, got: np.generic, want: np.generic, largest: float = 0.0) -> str:
    """``y[3] is 1; 2 is right``. Real numbers that nearly agree are shown with all their digits.

    largest: of the array's right numbers, by size. A small one among them may be the difference of two large ones.
    """
    off = abs(float(got) - float(want)) if isinstance(want, np.floating) else np.inf
    if off <= _NEAR * max(abs(float(want)), largest):
        why = "the first digits agree" if off <= _NEAR * abs(float(want)) else f"other elements are up to {largest:.2g}"
        return f"{place} is {got}; {want} is right: {why}, so look for arithmetic of too low a precision"
    return f"{place} is {shown(got)}; {shown(want)} is right"


def spots(name: str, mask: np.ndarray) -> str:
    """Where a flat mask is true, as text: ``y[8] to y[12]``, or the first place of several stretches."""
    places = np.flatnonzero(mask)
    first, last = int(places[0]), int(places[-1])
    if first == last:
        return f"{name}[{first}]"
    return f"{name}[{first}] to {name}[{last}]" if last - first + 1 == places.size else f"first {name}[{first}]"
