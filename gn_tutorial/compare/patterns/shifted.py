"""Recognises wrong stretches of an output that the reference has too, but some elements further on or before.

::

    reference   0 1 2 3 4 5 6 7 8 9          0 1 2 3 | 4 5 6 7 | 8 9 a b
    output      0 1 2 5 6 7 8 9 . .          0 1 2 3 | 3 4 5 6 | 6 7 8 9
                an offset that is off by 2   a gap between rows that is 1 too short

A stretch may begin anywhere, for example if an offset was counted in bytes. ``block_swap`` recognises whole blocks in
the place of others.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence, stretches
from gn_tutorial.compare.tolerance import within

#: At least this share of the wrong elements must be found in the reference. Some may come from outside of the array.
_MOST = 0.75
#: At most _PARTS parts are searched. A part that may begin at more than _PLACES places counts as not found.
_PARTS, _PLACES = 64, 512


def shifted(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if the reference has the wrong stretches at other places. It says how far away these are.

    Most wrong elements must be found. All parts must be equally far away, or their distances must grow by one number.
    """
    if not np.isfinite(seen.truth).all():
        return ()
    order = np.argsort(seen.truth)
    # A wrong offset may read past one end, where the memory is poison: leave that out.
    wrong = seen.wrong & np.isfinite(seen.ours)
    found: list[tuple[int, int]] = []
    placed = 0
    runs = stretches(wrong)
    for start, stop in runs[runs[:, 1] - runs[:, 0] >= FEWEST][:_PARTS].tolist():
        while stop - start >= FEWEST and len(found) < _PARTS:
            match = _longest(seen, seen.ours[start:stop], start, order)
            if match is None:
                break
            away, length = match
            found.append((start, away))
            placed += length
            start += length
    enough = len(found) == _PARTS or placed >= _MOST * int(wrong.sum())
    return _said(found) if found and enough else ()


def _longest(seen: OutputEvidence, run: np.ndarray, start: int, order: np.ndarray) -> tuple[int, int] | None:
    """Return the longest match of a run's beginning in the reference: (elements further on, length), or None."""
    head, truth = run[:FEWEST], seen.truth
    slack = seen.atol + seen.rtol * abs(head[0])
    low, high = np.searchsorted(truth, [head[0] - 2 * slack, head[0] + 2 * slack], sorter=order)
    if high - low > _PLACES or np.ptp(head) <= 4 * slack:
        return None
    best: tuple[int, int] | None = None
    for place in sorted((int(one) for one in order[low:high]), key=lambda one: abs(one - start)):
        there = truth[place : place + len(run)]
        alike = within(run[: len(there)], there, seen.rtol, seen.atol)
        length = len(alike) if alike.all() else int(np.argmin(alike))
        if length >= FEWEST and (best is None or length > best[1]):
            best = place - start, length
    return best


def _said(found: list[tuple[int, int]]) -> tuple[str, ...]:
    aways = [away for _, away in found]
    first, away = found[0]
    if away == 0:
        return ()
    if all(one == away for one in aways):
        return (
            f"the wrong elements, from {first} on, hold what the reference has {abs(away)} elements"
            f" {'further on' if away > 0 else 'before'}: look at the offset that is read from, or stored to",
        )
    steps = {b - a for a, b in pairwise(aways)}
    if len(found) < 3 or len(steps) != 1:
        return ()
    (step,) = steps
    return (
        f"row by row, from element {first} on, they hold what the reference has {abs(step)} elements more"
        f" {'further on' if step > 0 else 'before'}: look at the stride or the gap between rows, and at its unit",
    )
