"""Recognises wrong elements that are nearly right, because a type or a constant on the way holds too few digits.

::

    reference   2.71828   0.36788
    output      2.7168    0.3677
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import OutputEvidence

#: If most wrong elements have a smaller relative error, the formula is right, but digits were lost.
_NEAR = 0.05


def few_digits(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a remark for a report if most wrong elements have the first digits of the right ones."""
    found, right = seen.pairs
    if not np.isfinite(right).all() or np.median(np.abs(found - right) <= _NEAR * np.abs(right)) != 1.0:
        return ()
    return ("the first digits agree, so a type or a constant on the way holds too few of them",)
