"""Recognises wrong elements that are zero, NaN, infinite, or one number everywhere.

::

    reference   0.3  1.7  -2.1  0.8
    output      0    0     0    0       nan nan nan nan       0.3 inf -2.1 0.8       0.5 0.5 0.5 0.5
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.elements import constant, shown
from gn_tutorial.compare.evidence import FEWEST, OutputEvidence
from gn_tutorial.translation.texts import translated


def zeros_or_nan(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if all wrong elements are 0, or all NaN.

    If the whole output is 0, the sentence guesses why, unless a warning of the launch may already say it.
    """
    if seen.count > 1 and not seen.ours.any():
        said = f"all {seen.count} wrong elements are 0, and so is all of the output"
        guess = "a factor is 0 (1 / n is 0 if n is a whole number), or another tensor was stored than the one computed"
        return (said if seen.launch.warned else f"{said}: {guess}",)
    if seen.count < FEWEST or not np.isfinite(seen.truth).all():
        return ()
    found = seen.pairs[0]
    if np.isnan(found).all():
        return (f"all {seen.count} wrong elements are NaN",) if seen.count < seen.wrong.size else ()
    return (f"all {seen.count} wrong elements are 0",) if not found.any() else ()


def overflow_or_constant(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a remark for a report if wrong elements are NaN or infinite, or if all elements are the same number."""
    found, right = seen.pairs
    if (np.isnan(found) & np.isfinite(right)).any():
        return ("NaN is what infinity minus infinity, or over infinity, leaves",)
    if (np.isinf(found) & np.isfinite(right)).any():
        return ("a number on the way is beyond the largest of its type",)
    if constant(seen.ours) and not constant(seen.truth):
        return ("every element is the same, so it does not depend on the input",)
    return ()


def same_everywhere(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence for an exercise if all elements of the output are one number, unlike those of the reference."""
    if not constant(seen.output) or constant(seen.reference):
        return ()
    words = translated("every element of {name} is {value}: it does not depend on the input")
    return (words.format(name=seen.name, value=shown(seen.output.reshape(-1)[0])),)
