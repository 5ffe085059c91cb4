"""Outputs that are wrong in a regular way: the same part of each tile, or everything from some element on.

For numbers that the reference has nowhere (else ``misplaced``, ``resemblance`` or ``displaced`` finds them): here only
the places of the wrong elements say something.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import within

#: Fewer right elements in a row may be so by chance.
_FEWEST = 8
#: The most elements of an output; the part behind a right beginning that has to be wrong.
_ELEMENTS, _MOST = 1 << 22, 0.9


def recurring(actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """A sentence about where the wrong elements lie: in the same part of each tile, or behind a right beginning.

    actual, golden: arrays of one shape. A tile is known by the distance of two right parts. It has to be the same from
    each to the next, over all of the output, and so does their length, but for the last one. Nothing is said where all
    elements are wrong.
    """
    if actual.shape != golden.shape or actual.size > _ELEMENTS:
        return ()
    right = within(actual, golden, rtol, atol).reshape(-1)
    runs = _runs(right)
    if len(runs) == 0 or right.all():
        return ()
    starts, lengths = runs[:, 0], runs[:, 1] - runs[:, 0]
    distances = np.diff(starts)
    whole = lengths[:-1]
    all_over = len(runs) >= 2 and starts[0] < distances[0] and starts[-1] + 2 * distances[0] > right.size
    if all_over and np.ptp(distances) == 0 and np.ptp(whole) == 0 and lengths[-1] <= whole[0]:
        period, length, first = int(distances[0]), int(whole[0]), int(starts[0])
        where = f"the first {length}" if first == 0 else f"{length} (the first time from element {first} on)"
        return (
            f"of every {period} elements {where} are right, the others wrong: if that is a tile, look at what each"
            " instruction takes of it (count, mask, repeats) and at how it gets from one row to the next (repeat"
            " strides, gaps of the copies)",
        )
    begin = int(lengths[0]) if starts[0] == 0 else 0
    if begin and (~right[begin:]).mean() >= _MOST:
        return (
            f"elements 0 to {begin - 1} are right, nearly all from {begin} on are wrong: look at what is different from"
            " there on (another block, tile or row), and at the offsets that depend on it",
        )
    return ()


def _runs(right: np.ndarray) -> np.ndarray:
    """Starts and ends of the runs of right elements that are long enough."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], right, [False])).astype(np.int8))).reshape(-1, 2)
    return edges[edges[:, 1] - edges[:, 0] >= _FEWEST]
