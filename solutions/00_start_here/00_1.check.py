"""00.1: the copy that forgets its tail."""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.operators.result import Result
from gn_tutorial.translation.texts import translated

_TILE = 256  # kTile of the exercise's kernel


def _cases(rng: np.random.Generator) -> list[KernelCase]:
    # 13 and 269: a tail that is no whole 32-byte block. 512 on 1: no tail at all. Then tails in every block's share.
    shapes = [(13, 1), (269, 1), (512, 1), (1000, 2), (4001, 4)]
    shapes += [(int(rng.integers(2000, 9000)), int(rng.integers(2, 9))) for _ in range(2)]
    return [_case(rng, n, blocks) for n, blocks in shapes]


def _case(rng: np.random.Generator, n: int, blocks: int) -> KernelCase:
    x = (rng.standard_normal(n) * 3 + 1).astype(np.float32)
    several = translated("{n} floats on {blocks} blocks, tiles of {tile}")
    label = several if blocks > 1 else translated("{n} floats on {blocks} block, tiles of {tile}")
    return KernelCase(label.format(n=n, blocks=blocks, tile=_TILE), {"x": x}, {"n": n}, {"y": x}, blocks)


def _shares(n: int, blocks: int) -> list[tuple[int, int]]:
    share = ((n + 7) // 8 + blocks - 1) // blocks * 8
    return [(min(block * share, n), min((block + 1) * share, n)) for block in range(blocks)]


def _tails(case: KernelCase, result: Result) -> str | None:
    """Return whose tail was forgotten, if the unwritten elements are a tail."""
    holes = unwritten(result["y"])
    if not holes.any():
        return None
    for block, (begin, end) in enumerate(_shares(holes.size, case.blocks)):
        inside = np.flatnonzero(holes[begin:end])
        if not inside.size:
            continue
        first, tail = begin + int(inside[0]), (end - begin) % _TILE
        stretch = translated("y[{first}] to y[{last}] were never written").format(first=first, last=end - 1)
        if inside.size == tail and first == end - tail:
            of_all = translated("the last piece of a share")
            piece = translated("the last piece of block {block}'s share").format(block=block) if block else of_all
            words = translated(": {piece}, which is shorter than a tile, is not copied").format(piece=piece)
            others = "" if case.blocks == 1 or holes[-1] else translated("; only the last block copies its own")
            return stretch + words + others
        if tail and inside.size < 8 and first + inside.size == end:
            words = translated(": the tail is cut to whole 32-byte blocks, and {count} elements are left over")
            return stretch + words.format(count=inside.size)
    return None


def _through_the_buffer(case: KernelCase, result: Result) -> str | None:
    if result.tally.bytes_in < case.inputs["x"].nbytes:
        return translated(
            "the numbers are right, but not all of them came through the Unified Buffer: CopyIn and CopyOut do the work"
        )
    return None


CHECK = KernelChecker(
    _cases,
    rtol=0.0,
    atol=0.0,
    symptoms=(_tails,),
    demands=(_through_the_buffer,),
    faults={
        "ub-out-of-bounds": "a piece is longer than its buffer, which has room for kTile elements",
        "gm-out-of-bounds": "the last tile is copied as if it were full, beyond the end of the array",
        "gm-beyond-declared-size": "the last tile is copied as if it were full, beyond the end of the array",
    },
)
