"""Recognises wrong elements that are all the reference times one factor, or plus one number.

::

    reference    1   2   3   4
    output      -1  -2  -3  -4     a sign        2 4 6 8     a factor       2 3 4 5     a number added

Such a mistake breaks no rule of the device, so only the numbers show it: operands the wrong way round, a mean that was
not divided, a constant that is missing.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence
from gn_tutorial.compare.tolerance import within


def factor(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if all wrong elements are the right ones times one factor: -1, a whole number, or another.

    The factor is the median over the large elements, where rounding matters least.
    """
    if not seen.finite:
        return ()
    (x, y), rtol, atol = seen.pairs, seen.rtol, seen.atol
    large = np.abs(y) > max(10 * atol, float(np.abs(y).max()) / 10)
    if large.sum() < FEWEST or np.ptp(y) == 0:
        return ()
    found = float(np.median(x[large] / y[large]))
    nearest = round(found) if abs(found) >= 1 else 1 / round(1 / found) if found else 0.0
    if nearest in (0, 1) or abs(found - nearest) > 1e-3 * abs(found):
        # Name another factor only if it is far enough from 1, and the elements are far enough apart.
        apart = abs(found - 1) >= 0.02 and np.ptp(y) >= 20 * (rtol * float(np.abs(y).max()) + atol)
        if not apart or not within(x, found * y, 4 * rtol, 4 * abs(found) * atol).all():
            return ()
        return (
            f"all {seen.count} wrong elements are {found:.3g} times the reference: one number for all of them is wrong,"
            " such as a sum, a mean or a root; look at how many elements, rows or blocks it takes in",
        )
    if not within(x, nearest * y, 4 * rtol, 4 * abs(nearest) * atol).all():
        return ()
    if nearest == -1:
        return (
            f"all {seen.count} wrong elements have the wrong sign: look for operands the wrong way round (a queue hands"
            " out first what was enqueued first), or for a tensor that was changed before it was read again",
        )
    times = f"{nearest:g} times" if abs(nearest) > 1 else f"1/{round(1 / nearest)} of"
    return (f"all {seen.count} wrong elements are {times} the reference: look for a factor or a division",)


def constant_offset(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if all wrong elements are off by the same number, and that is more than the tolerance."""
    if not seen.finite:
        return ()
    (x, y), rtol, atol = seen.pairs, seen.rtol, seen.atol
    shift = float(np.median(x - y))
    nearest = round(shift)
    slack = rtol * float(np.abs(y).max()) + atol
    more = "more" if shift > 0 else "less"
    # A small element may be the difference of two large numbers, and then has their error: allow the largest's error.
    if nearest != 0 and np.ptp(y) != 0 and within(x, y + nearest, 4 * rtol, 4 * min(slack, 0.02)).all():
        return (
            f"all {seen.count} wrong elements are {abs(nearest)} {more} than the reference: look for a constant that is"
            " added too often or is missing, or for how numbers are rounded (CAST_FLOOR down, CAST_CEIL up, CAST_RINT"
            " and CAST_ROUND to the nearest)",
        )
    # Name another number only if it is far enough from 0, and the elements are far enough apart.
    if min(abs(shift), float(np.ptp(y))) < 20 * slack or (np.abs(x - y - shift) > 4 * slack).any():
        return ()
    return (
        f"all {seen.count} wrong elements are {abs(shift):.3g} {more} than the reference: one number for all of them is"
        " wrong, such as a mean or a maximum; look at how many elements, rows or blocks it takes in",
    )
