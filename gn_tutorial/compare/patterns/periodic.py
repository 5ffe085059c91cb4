"""Recognises elements that are wrong at the same places of every tile, or from some element on.

::

    right  ======........======........======........      of every 14 elements the first 6
    right  ==================........................      all up to an element, hardly one from there on

This pattern looks only at the places of the wrong elements, not at their numbers.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence, stretches

#: If only the beginning is right, at least this share of the elements behind it must be wrong.
_MOST = 0.9


def tiles(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if the wrong elements lie in the same part of each tile, or behind a right beginning.

    The distance between the starts of two right parts is the length of a tile. All over the output the right parts must
    be equally far apart and equally long; only the last may be shorter.
    """
    right = ~seen.wrong
    runs = stretches(right)
    runs = runs[runs[:, 1] - runs[:, 0] >= FEWEST]
    if not len(runs):
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
