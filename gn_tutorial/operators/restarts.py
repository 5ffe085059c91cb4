"""Wrong outputs of a running sum that starts anew in each tile: what a sum declared inside the loop looks like."""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import within

#: Fewer elements may agree by chance; the most elements of an output; how near differences of sums must be.
_FEWEST, _ELEMENTS, _NEAR = 8, 1 << 22, 4.0


def restarts(actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """A sentence about tiles of a running sum, all but the first of which lack what the one before them ends with.

    actual, golden: arrays of one shape, with rows along the last axis; the tiles are as long as the right beginning of
    the first wrong row.
    """
    if actual.shape != golden.shape or actual.ndim == 0 or not 0 < actual.size <= _ELEMENTS:
        return ()
    ours, truth = (one.astype(np.float64).reshape(-1, one.shape[-1]) for one in (actual, golden))
    right = within(ours, truth, rtol, atol)
    wrong = np.flatnonzero(~right.all(axis=1))
    if not len(wrong) or not np.isfinite(ours[wrong]).all() or not np.isfinite(truth).all():
        return ()
    tile = int((~right[wrong[0]]).argmax())
    length = ours.shape[1]
    if tile < _FEWEST or 2 * tile > length:
        return ()
    lacks = truth[wrong] - ours[wrong]
    starts = np.arange(tile, length, tile)
    carried = np.repeat(truth[wrong][:, starts - 1], np.diff([*starts, length]), axis=1)
    slack = _NEAR * (atol + rtol * np.abs(truth[wrong]).max())
    if (np.abs(lacks[:, tile:] - carried) > slack).any() or (np.abs(lacks[:, :tile]) > slack).any():
        return ()
    if np.abs(carried).max() <= 10 * slack:
        return ()
    return (
        f"each {tile} elements lack what the reference has just before them: a running sum starts anew with each tile."
        " Declare it before the loop over the tiles, and set it there only",
    )
