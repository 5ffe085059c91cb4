"""Sums that were added up in half."""

from __future__ import annotations

import numpy as np
from compare_support import said_by

from gn_tutorial.compare.patterns import precision_loss


def hints(output: np.ndarray, reference: np.ndarray) -> tuple[str, ...]:
    return said_by(precision_loss.summed_in_half, output=output, reference=reference)


def test_counts_that_were_added_up_in_half() -> None:
    counts = np.array([[5731.0, 5702.0, 5689.0], [12.0, 5713.0, 5650.0]])
    (hint,) = hints(counts.astype(np.float16).astype(np.float32) + np.where(counts > 2048, 8, 0), counts)
    assert "all 5 wrong elements are whole numbers above 2048" in hint
    assert hints((counts + 0.5).astype(np.float32), counts) == ()
