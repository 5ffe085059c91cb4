"""Describes elements of arrays in words and tells whether arrays agree, mostly for the checkers of exercises."""

from __future__ import annotations

import numpy as np

#: A smaller relative error comes from computing in float32 (6e-8 an operation), not from a wrong formula.
_NEAR = 1e-5


def constant(array: np.ndarray) -> bool:
    """Whether the array has several elements, all the same."""
    return array.size > 1 and bool((array.reshape(-1) == array.reshape(-1)[0]).all())


def same(got: np.ndarray, other: np.ndarray) -> bool:
    """Whether two float64 arrays have one shape and agree. Checkers compare a result with that of a known mistake."""
    return got.shape == other.shape and bool(np.allclose(got, other, rtol=1e-6, atol=1e-8))


def shown(value: object) -> str:
    """Return a number as text: with seven digits, or in full if it is a whole number."""
    return f"{value:.7g}" if isinstance(value, (float, np.floating)) else str(value)


def mismatch(place: str, got: np.generic, want: np.generic, largest: float = 0.0) -> str:
    """Return ``y[3] is 1; 2 is right``. Real numbers that nearly agree are shown with all their digits.

    largest: the largest right number of the array. An error that is tiny beside it counts as nearly right too, because
    a small number may be the difference of two large ones.
    """
    off = abs(float(got) - float(want)) if isinstance(want, np.floating) else np.inf
    if off <= _NEAR * max(abs(float(want)), largest):
        why = "the first digits agree" if off <= _NEAR * abs(float(want)) else f"other elements are up to {largest:.2g}"
        return f"{place} is {got}; {want} is right: {why}, so look for arithmetic of too low a precision"
    return f"{place} is {shown(got)}; {shown(want)} is right"


def spots(name: str, mask: np.ndarray) -> str:
    """Return the places where a flat mask is true: ``y[8] to y[12]``, or ``first y[8]`` if there are gaps."""
    places = np.flatnonzero(mask)
    first, last = int(places[0]), int(places[-1])
    if first == last:
        return f"{name}[{first}]"
    return f"{name}[{first}] to {name}[{last}]" if last - first + 1 == places.size else f"first {name}[{first}]"
