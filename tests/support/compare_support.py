"""What single patterns say of an output, without those that are asked before them."""

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
    """The sentences of the first of these patterns, in the registry's order, that recognises the output.

    known: of ``KnownLaunch``. A right output and one of another shape have nothing that a pattern is asked about.
    """
    asked = [one for one in PATTERNS[Reader.LAUNCH] if one in patterns]
    assert len(asked) == len(patterns)
    row = compare("y", output, reference, Tolerance(rtol, atol, "of the test"), KnownLaunch(**known))
    if not row.wrong or row.note:
        return ()
    return next((said for one in asked if (said := one(row.evidence))), ())
