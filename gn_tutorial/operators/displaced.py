"""Wrong outputs that are right some elements further on: what a wrong offset or pitch looks like beside a reference.

Whole parts and rows in the place of others are ``misplaced`` and ``resemblance``; here a run of wrong elements may
begin anywhere, as where an offset counts bytes, or a gap between rows is a little too long.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gn_tutorial.operators.comparison import within

#: Fewer elements in a row may agree with others by chance.
_FEWEST = 8
#: The part of the wrong elements that is found: some may come from where no reference is.
_MOST = 0.75
#: Parts that are looked at, places that are tried for each of them, and the most elements of an output.
_PARTS, _PLACES, _ELEMENTS = 64, 512, 1 << 22


def displaced(actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """A sentence about how far from its place each run of wrong elements is found in the reference.

    actual, golden: arrays of one shape. It is said only where most of them are found, as far away each, or a constant
    number further from one run to the next.
    """
    if actual.shape != golden.shape or actual.size > _ELEMENTS or not np.isfinite(golden).all():
        return ()
    ours, truth = actual.reshape(-1).astype(np.float64), golden.reshape(-1).astype(np.float64)
    order = np.argsort(truth)
    # An offset that is wrong at one end brings in what nobody wrote.
    wrong = ~within(actual, golden, rtol, atol).reshape(-1) & np.isfinite(ours)
    found: list[tuple[int, int]] = []
    placed = 0
    for start, stop in _runs(wrong):
        while stop - start >= _FEWEST and len(found) < _PARTS:
            match = _longest(ours[start:stop], start, truth, order, rtol, atol)
            if match is None:
                break
            away, length = match
            found.append((start, away))
            placed += length
            start += length
    enough = len(found) == _PARTS or placed >= _MOST * int(wrong.sum())
    return _said(found) if found and enough else ()


def _runs(wrong: np.ndarray) -> list[tuple[int, int]]:
    """Where enough elements are wrong one after the other: starts and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], wrong, [False])).astype(np.int8)))
    runs = edges.reshape(-1, 2)
    return [(int(start), int(stop)) for start, stop in runs[runs[:, 1] - runs[:, 0] >= _FEWEST][:_PARTS]]


def _longest(
    run: np.ndarray, start: int, truth: np.ndarray, order: np.ndarray, rtol: float, atol: float
) -> tuple[int, int] | None:
    """How many elements further on the reference has the first ones of a run, and how many of them; None if nowhere."""
    head = run[:_FEWEST]
    slack = atol + rtol * abs(head[0])
    low, high = np.searchsorted(truth, [head[0] - 2 * slack, head[0] + 2 * slack], sorter=order)
    if high - low > _PLACES or np.ptp(head) <= 4 * slack:
        return None
    best: tuple[int, int] | None = None
    for place in sorted((int(one) for one in order[low:high]), key=lambda one: abs(one - start)):
        there = truth[place : place + len(run)]
        alike = within(run[: len(there)], there, rtol, atol)
        length = len(alike) if alike.all() else int(np.argmin(alike))
        if length >= _FEWEST and (best is None or length > best[1]):
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
