"""02.1: a buffer for two inputs."""

from __future__ import annotations

import numpy as np

from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.operators.result import Result

_PAIR_TILE = 512  # kTile of the exercise's kernel


def _pair_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 13 and 5: a tail that is no whole 32-byte block. 16, 512 and 1024: right as the exercise stands.
    shapes = [(13, 1), (5, 1), (16, 1), (512, 1), (517, 1), (1024, 2), (2003, 3)]
    shapes += [(int(rng.integers(1000, 6000)), int(rng.integers(2, 9))) for _ in range(2)]
    return [_pair_case(rng, n, blocks) for n, blocks in shapes]


def _pair_case(rng: np.random.Generator, n: int, blocks: int) -> KernelCase:
    x = (rng.standard_normal(n) * 3 + 1).astype(np.float32)
    y = (rng.standard_normal(n) - 5).astype(np.float32)
    label = f"{n} floats on {blocks} block{'s' * (blocks > 1)}, tiles of {_PAIR_TILE}"
    return KernelCase(label, {"x": x, "y": y}, {"n": n}, {"z": x + y}, blocks)


def _overwritten(case: KernelCase, result: Result) -> str | None:
    """Recognise a y that begins before x ends: the last elements of a tile then add y's first ones, not x's last."""
    x, y, z = case.inputs["x"], case.inputs["y"], result["z"]
    first = int((z != x + y).argmax())
    if 0 < first < _PAIR_TILE and np.array_equal(z[first:_PAIR_TILE], (y[: x.size - first] + y[first:])[:_PAIR_TILE]):
        return f"z is wrong from z[{first}] on: the end of x was overwritten by the beginning of y before Add read it"
    return None


def _vector_adds(case: KernelCase, result: Result) -> str | None:
    if result.tally.vector == 0:
        return "the numbers are right, but the vector unit added nothing: use Add"
    return None


CHECK = KernelChecker(
    _pair_cases,
    rtol=0.0,
    atol=0.0,
    symptoms=(_overwritten,),
    demands=(_vector_adds,),
    faults={
        "ub-never-written": "CopyIn and Compute must agree on where y begins",
        "ub-misaligned": "an input does not begin at a multiple of 32 bytes",
        "ub-out-of-bounds": "y is outside the buffer; the index of a tensor counts elements",
        "gm-out-of-bounds": "a copy is too long, and goes past the end of an array",
        "gm-beyond-declared-size": "a copy is too long, and goes past the end of an array",
    },
)
