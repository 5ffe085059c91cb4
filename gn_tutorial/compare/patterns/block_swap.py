"""Recognises blocks of an output that hold what belongs in another block.

::

    reference   [ block 0 ][ block 1 ][ block 2 ][ block 3 ]
    output      [ block 1 ][ block 0 ][ block 2 ][ block 3 ]
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence
from gn_tutorial.compare.tolerance import nearly_constant, within

#: The most blocks that are named.
_NAMED = 3


def blocks(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence for each block whose part of the output holds what belongs in another block's part.

    Most tilings give equal parts to the blocks, in their order, and a shorter one to the last. This is assumed here; if
    the kernel divides the work otherwise, no part is named. A part is named only if it has wrong elements, and if all
    of it is within tolerance of another block's part of the reference. That part must not be constant.
    """
    many = seen.launch.blocks
    share = -(-seen.output.size // many) if many > 1 else 0
    if share < FEWEST:
        return ()
    # Not `seen.ours`, a float64 copy of the whole output: here one part at a time is enough.
    ours, truth = seen.output.reshape(-1), seen.reference.reshape(-1)
    found: list[str] = []
    for block in range(many):
        part = ours[block * share : (block + 1) * share]
        if part.size < FEWEST or not seen.wrong[block * share : (block + 1) * share].any():
            continue
        for other in range(many):
            right = truth[other * share :][: part.size]
            if other == block or right.size != part.size or not _agree(part, right, seen.rtol, seen.atol):
                continue
            holds = f"block {block}'s part (from element {block * share}) holds what belongs in block {other}'s"
            reads = f"block {block} reads what block {other} should"
            found.append(f"{holds}: {reads}, or block {other} stores where block {block} should")
            break
    more = len(found) - _NAMED
    return (*found[:_NAMED], *((f"and so do {more} blocks more",) if more > 0 else ()))


def _agree(part: np.ndarray, right: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether the part equals the right one, which must not be constant. The first elements decide most cases."""
    if not within(part[:FEWEST], right[:FEWEST], rtol, atol).all():
        return False
    return not nearly_constant(right, rtol, atol) and bool(within(part, right, rtol, atol).all())
