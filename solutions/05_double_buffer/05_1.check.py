"""05.1: two buffers that are used at the same time.

The timeline of the same launch shows what the numbers do not: which pipes worked at the same time. It is modelled for
the default chip, which the texts name.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import profile_of

from .overlap import MANY_TILES, both_busy, has_full_barrier

_ROW_TILE = 4096  # kTile of the kernel

#: The part of MTE2's time in which V must work too. The order of step 3 gives 0.6; pipes that take turns give 0.
_HIDDEN = 0.4


def _row_cases(rng: np.random.Generator) -> list[KernelCase]:
    shapes = [(1, 100, 1), (1, 4096, 1), (1, 4101, 1), (3, 9001, 2), (2, 10 * _ROW_TILE + 1003, 1)]
    shapes += [(int(rng.integers(2, 7)), int(rng.integers(100, 30000)), int(rng.integers(1, 5))) for _ in range(2)]
    return [_row_case(rng, *shape) for shape in shapes]


def _row_case(rng: np.random.Generator, rows: int, length: int, blocks: int) -> KernelCase:
    scale = rng.uniform(0.5, 2.0, (rows, 1)) * np.linspace(0.5, 1.5, length)
    x = (rng.standard_normal((rows, length)) * scale).astype(np.float32)
    sums = (x.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)
    label = f"{rows} row{'s' * (rows > 1)} of {length} floats on {blocks} block{'s' * (blocks > 1)}"
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"sums": sums}, blocks)


def _read_once(case: KernelCase, result: Result) -> str | None:
    x, came = case.inputs["x"].nbytes, result.tally.bytes_in
    if came == x:
        return None
    if came < x:
        return f"the sums are right, but only {came} of {x} bytes of x came through the Unified Buffer"
    return f"the sums are right, but {came} bytes came in, and x has only {x}: copy every element in once"


def _overlaps(case: KernelCase, result: Result) -> str | None:
    if case.inputs["x"].shape[1] < MANY_TILES * _ROW_TILE:
        return None
    found = profile_of(result)
    busy, beside = found.busy[Pipe.MTE2], both_busy(found, Pipe.MTE2, Pipe.V)
    if beside >= _HIDDEN * busy:
        return None
    tile = max(event.lanes for event in found.trace.blocks[0] if event.kind is Kind.VECTOR)
    if tile < _ROW_TILE:
        return (
            f"the sums are right, in tiles of {tile} floats. Their copies are too short to say anything about the "
            f"order of the calls: leave kTile at {_ROW_TILE}"
        )
    turns = f"MTE2 works for {busy:.2f} us (modelled), {beside:.2f} us of them together with V"
    if has_full_barrier(found):
        return f"right, but slow: {turns}; PipeBarrier<PIPE_ALL> makes every pipe wait for all others"
    places = {event.operands[0].at for event in found.trace.blocks[0] if event.kind is Kind.ALLOC}
    if len(places) < 2:
        return f"the sums are right, but the pipes take turns: {turns}. With one buffer the next tile has no place"
    if not beside:
        return (
            f"the sums are right, but the pipes take turns: {turns}. There are {len(places)} buffers, but the copy of "
            "the next tile is sent only after S has waited for the sum of this one"
        )
    return f"the sums are right, but too little overlaps: {turns}; {_HIDDEN:.0%} must overlap"


_ENQUE = (
    "V may use a tile that has not arrived: EnQue sets its flag after what was sent before it, so the copy comes first"
)

CHECK = KernelChecker(
    _row_cases,
    rtol=2e-5,
    atol=0.0,
    demands=(_read_once, _overlaps),
    faults={
        "queue-no-free-buffer": "AllocTensor waits for ever: more tensors are in use than there are buffers, or one is "
        "never freed",
        "queue-empty": "DeQue finds no tile: each DeQue needs a CopyIn of its own before it",
        "queue-depth": "two filled tiles would wait in the queue, but TQue<..., 1> has room for one: take the tile "
        "that has arrived, then request the next",
        "race-read-after-write": _ENQUE,
        "race-write-after-write": _ENQUE,
        "ub-use-after-free": "FreeTensor belongs after the last instruction that uses the tile",
        "gm-out-of-bounds": "a copy goes past the end of x: is there a next tile, and how long is it",
        "gm-beyond-declared-size": "a copy goes past the end of x: is there a next tile, and how long is it",
    },
    auto_sync=True,
    traced=True,
)
