"""What wrong numbers look like, in words: which kind of mistake makes them."""

from __future__ import annotations

import numpy as np

from gn_tutorial.course.exercises.compare import constant, shown

#: Where half of the wrong elements are nearer than this, relative, no formula is wrong, but digits were lost.
_NEAR = 0.05


def described(name: str, ours: np.ndarray, wanted: np.ndarray, wrong: np.ndarray) -> str:
    """A sentence: the first wrong element, how many are wrong, and what that looks like. All three arrays are flat."""
    at = int(wrong.argmax())
    first = f"{name}[{at}] is {shown(float(ours[at]))}; {shown(float(wanted[at]))} is right"
    words = _likely(ours.astype(np.float64), wanted, wrong)
    return f"{first}; {int(wrong.sum())} of {wrong.size} are wrong" + (f": {words}" if words else "")


def _likely(ours: np.ndarray, wanted: np.ndarray, wrong: np.ndarray) -> str:
    found, right = ours[wrong], wanted[wrong]
    finite = np.isfinite(right)
    if (np.isnan(found) & finite).any():
        return "NaN is what infinity minus infinity, or over infinity, leaves"
    if (np.isinf(found) & finite).any():
        return "a number on the way is beyond the largest of its type"
    if constant(ours) and not constant(wanted):
        return "every element is the same, so it does not depend on the input"
    if finite.all() and np.median(np.abs(found - right) <= _NEAR * np.abs(right)) == 1.0:
        return "the first digits agree, so a type or a constant on the way holds too few of them"
    return ""
