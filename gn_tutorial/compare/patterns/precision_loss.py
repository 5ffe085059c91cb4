"""Recognises wrong elements that are nearly right, because a type or a constant on the way holds too few digits.

::

    reference   4097   4099   6003        2.71828
    output      4096   4100   6004        2.7168
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import OutputEvidence

#: Half holds every whole number up to this one.
_WHOLE_HALF = 2048
#: If most wrong elements have a smaller relative error, the formula is right, but digits were lost.
_NEAR = 0.05


def summed_in_half(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if the wrong elements are whole numbers, too large for half, that are off by a little."""
    ours, truth, wrong = seen.ours, seen.truth, seen.wrong
    x, y = seen.pairs
    if seen.count < 2 or not (truth == np.rint(truth)).all() or not (ours == np.rint(ours)).all():
        return ()
    if (np.abs(y) <= _WHOLE_HALF).any() or (np.abs(x - y) > np.abs(y) / 100).any():
        return ()
    if not (truth[~wrong] == ours[~wrong]).all() or (x != x.astype(np.float16)).any():
        return ()
    return (
        f"all {seen.count} wrong elements are whole numbers above {_WHOLE_HALF} that are off by less than a hundredth:"
        " half holds no more of them one by one; Cast to float before they are added up",
    )


def few_digits(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a remark for a report if most wrong elements have the first digits of the right ones."""
    found, right = seen.pairs
    if not np.isfinite(right).all() or np.median(np.abs(found - right) <= _NEAR * np.abs(right)) != 1.0:
        return ()
    return ("the first digits agree, so a type or a constant on the way holds too few of them",)
