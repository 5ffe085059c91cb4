"""Asks single patterns about an output, without the patterns that come before them in the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gn_tutorial.compare.comparison import compare
from gn_tutorial.compare.evidence import KnownLaunch, OutputEvidence
from gn_tutorial.compare.patterns import PATTERNS, Reader
from gn_tutorial.compare.tolerance import Tolerance

RTOL, ATOL = 1e-5, 1e-6


def said_by(
    *patterns: Callable[[OutputEvidence], tuple[str, ...]],
    output: np.ndarray,
    reference: np.ndarray,
    rtol: float = RTOL,
    atol: float = ATOL,
    **known: Any,
) -> tuple[str, ...]:
    """Return the sentences of the first of these patterns, in the registry's order, that recognises the output.

    known: fields of ``KnownLaunch``. No pattern is asked about a right output, or about one of another shape.
    """
    asked = [one for one in PATTERNS[Reader.LAUNCH] if one in patterns]
    assert len(asked) == len(patterns)
    row = compare("y", output, reference, Tolerance(rtol, atol, "of the test"), KnownLaunch(**known))
    if not row.wrong or row.note:
        return ()
    return next((said for one in asked if (said := one(row.evidence))), ())
