"""Recognises a running sum that starts again in each tile, for example because it is declared inside the loop.

::

    terms       1 1 1 1 | 1 1 1 1 | 1 1 1 1
    reference   1 2 3 4 | 5 6 7 8 | 9 . . .
    output      1 2 3 4 | 1 2 3 4 | 1 2 3 4
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence

#: What an element lacks and the sum before its tile may differ by this many tolerances.
_NEAR = 4.0


def running_sum_restart(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if a running sum starts again in each tile, without the last sum of the tile before.

    Rows are along the last axis. A tile is taken to be as long as the right beginning of the first wrong row.
    """
    if seen.output.ndim == 0:
        return ()
    length = seen.output.shape[-1]
    ours, truth, bad = (one.reshape(-1, length) for one in (seen.ours, seen.truth, seen.wrong))
    wrong = np.flatnonzero(bad.any(axis=1))
    if not np.isfinite(ours[wrong]).all() or not np.isfinite(truth).all():
        return ()
    tile = int(bad[wrong[0]].argmax())
    if tile < FEWEST or 2 * tile > length:
        return ()
    lacks = truth[wrong] - ours[wrong]
    starts = np.arange(tile, length, tile)
    carried = np.repeat(truth[wrong][:, starts - 1], np.diff([*starts, length]), axis=1)
    slack = _NEAR * (seen.atol + seen.rtol * np.abs(truth[wrong]).max())
    if (np.abs(lacks[:, tile:] - carried) > slack).any() or (np.abs(lacks[:, :tile]) > slack).any():
        return ()
    if np.abs(carried).max() <= 10 * slack:
        return ()
    return (
        f"each {tile} elements lack what the reference has just before them: a running sum starts anew with each tile."
        " Declare it before the loop over the tiles, and set it there only",
    )
