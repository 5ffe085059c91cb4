"""Wrong outputs that are right for another block: what a wrong offset looks like beside a reference."""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import constant, within

#: A part of fewer elements may agree with another by chance.
_FEWEST = 8
#: Blocks that are named.
_NAMED = 3


def misplaced(actual: np.ndarray, golden: np.ndarray, blocks: int, rtol: float, atol: float) -> tuple[str, ...]:
    """Sentences about blocks whose part of an output holds what the reference has in another block's part.

    actual, golden: arrays of one shape. blocks: of the launch. The parts are even, in the order of the blocks, and
    the last may be shorter, as most tilings have it; a part is named only if all of it is within tolerance of another
    part of the reference, which is no constant, and not of its own. So nothing is said where the work is divided
    otherwise.
    """
    size = actual.size
    share = -(-size // blocks) if blocks > 1 else 0
    if actual.shape != golden.shape or share < _FEWEST:
        return ()
    ours, truth = actual.reshape(-1), golden.reshape(-1)
    found: list[str] = []
    for block in range(blocks):
        part = ours[block * share : (block + 1) * share]
        if part.size < _FEWEST or within(part, truth[block * share :][: part.size], rtol, atol).all():
            continue
        for other in range(blocks):
            right = truth[other * share :][: part.size]
            if other == block or right.size != part.size or not _agree(part, right, rtol, atol):
                continue
            holds = f"block {block}'s part (from element {block * share}) holds what belongs in block {other}'s"
            reads = f"block {block} reads what block {other} should"
            found.append(f"{holds}: {reads}, or block {other} stores where block {block} should")
            break
    more = len(found) - _NAMED
    return (*found[:_NAMED], *((f"and so do {more} blocks more",) if more > 0 else ()))


def _agree(part: np.ndarray, right: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether the part is the other one, which is no constant. The first elements are looked at first."""
    if not within(part[:_FEWEST], right[:_FEWEST], rtol, atol).all():
        return False
    if constant(right, rtol, atol):
        return False
    return bool(within(part, right, rtol, atol).all())
