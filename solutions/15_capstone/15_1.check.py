"""15.1: y = x * x and the sum of all squares, on any number of blocks; what a kernel from the web leaves out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gn_tutorial.compare.elements import mismatch
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.operators.result import Result

#: Elements and blocks: the case of the notebook, whole tiles, fewer elements than blocks, one block.
_SIZES = ((1000, 8), (1024, 8), (5, 8), (33, 1), (4099, 7))


def _cases(rng: np.random.Generator) -> Sequence[KernelCase]:
    return [_case(rng, n, blocks) for n, blocks in _SIZES]


def _case(rng: np.random.Generator, n: int, blocks: int) -> KernelCase:
    x = (rng.standard_normal(n) + 0.5).astype(np.float32)
    squares = np.square(x.astype(np.float64))
    return KernelCase(
        label=f"{n} elements on {blocks} blocks",
        inputs={"x": x, "total": np.zeros(1, np.float32)},
        numbers={"totalLength": n},
        expected={"y": squares.astype(np.float32), "total": squares.sum(keepdims=True).astype(np.float32)},
        blocks=blocks,
    )


def _shared(case: KernelCase, result: Result) -> str | None:
    """Eight blocks that copy as often as one share the work; a single one makes a copy for each tile of all."""
    if case.blocks == 1 or result.trace is None:
        return None
    copies = [sum(event.op == "Mul" for event in events) for events in result.trace.blocks.values()]
    if max(copies) < sum(copies) or sum(copies) < case.blocks:
        return None
    return f"one block of {case.blocks} does everything: the others stand idle"


def _old_lanes(case: KernelCase, result: Result) -> str | None:
    """All squares are right, and their sum is a little too large: more lanes were added than the last tile has."""
    found, right = float(result["total"][0]), float(case.expected["total"][0])
    if not right < found < 2 * right or not np.allclose(result["y"], case.expected["y"], rtol=1e-5, atol=1e-6):
        return None
    return (
        f"{mismatch('total[0]', found, right)}. y is right, so the sum has too much: the last tile of a block has "
        "fewer than 32 elements, and Add takes its other lanes too, with the squares of an earlier tile"
    )


CHECK = KernelChecker(
    cases=_cases,
    rtol=1e-5,
    atol=1e-6,
    symptoms=(_old_lanes,),
    demands=(_shared,),
    faults={
        "race-blocks total": "two blocks read and write total, and none waits for the other: a sum between may be lost"
    },
    traced=True,
)
