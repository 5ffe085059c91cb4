"""02.1: a buffer for two inputs. 02.2: predict what the Unified Buffer holds. 02.3: a tiling function that fills it."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.errors import KernelFault
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import Tally

_N, _BLOCKS = 20001, 3  # as the exercise's text says
_BLOCK = 32


#: The three queues of kernels/add with sizes that arrive at run time: one compilation for every size that is tried.
_QUEUES = """\
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void three_queues(uint32_t buffers, uint32_t tile) {
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> x;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> y;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> z;
  pipe.InitBuffer(x, buffers, tile * sizeof(float));
  pipe.InitBuffer(y, buffers, tile * sizeof(float));
  pipe.InitBuffer(z, buffers, tile * sizeof(float));
}
"""


@functools.cache
def _tally() -> Tally:
    x = np.ones(_N, np.float32)
    return kernel("add/queue").run(x, x, out(_N), _N, blocks=_BLOCKS).tally


@functools.cache
def _largest_tile(buffers: int) -> int:
    """The largest tile, in whole 32-byte blocks of floats, with which the add kernel runs: found by trying."""
    fits, too_large = 1, 8192  # in blocks of 8 floats
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        fits, too_large = (middle, too_large) if _runs(middle * 8, buffers) else (fits, middle)
    return fits * 8


def _runs(tile: int, buffers: int) -> bool:
    try:
        kernel(source=_QUEUES).run(buffers, tile)
    except KernelFault as error:
        if any(one.id == "ub-overflow" for one in error.diagnostics):
            return False
        raise
    return True


UB_BUDGET = PredictChecker(
    (
        Prediction(
            "ub_bytes",
            "bytes of Unified Buffer that kernels/add reserves on one core",
            lambda: _tally().ub_high_water,
            {
                8192: "That is one buffer; the kernel has three",
                6144: "That is the number of floats; a float has 4 bytes",
                73728: "That is three cores together; each core has a Unified Buffer of its own",
            },
            rule="InitBuffer(queue, number, bytes) reserves number * bytes; add up the three lines, which every "
            "core runs",
        ),
        Prediction(
            "copies_in",
            f"copies from global memory, all {_BLOCKS} blocks together, for arrays of {_N} floats",
            lambda: _tally().mte2,
            {
                12: "That is one input; the kernel adds two arrays",
                10: "That is one input without shares; each block cuts its own share into tiles",
                20: "That is without shares; each block cuts its own share into tiles, and has its own tail",
                8: "That is one block; there are three",
            },
            rule="Divide among the blocks first, then divide each share by kTile, and round up; a tile takes one "
            "copy of x and one of y",
        ),
        Prediction(
            "largest_tile",
            "the largest kTile, in floats and a multiple of 8, for which the three buffers fit",
            lambda: _largest_tile(1),
            {
                49152: "That is the whole Unified Buffer for one buffer; the kernel has three",
                65536: "That is in bytes; kTile counts floats",
                24576: "That is two buffers; the kernel has three",
            },
            rule="Divide the bytes of the Unified Buffer by the number of buffers, and then by the bytes of a float",
        ),
        Prediction(
            "largest_tile_double",
            "the same with two buffers in each queue",
            lambda: _largest_tile(2),
            {
                16384: "That is with one buffer in each queue; now there are six buffers",
                12288: "That is four buffers; three queues with two buffers each are six",
            },
            rule="The same division; count the buffers of all three queues",
        ),
    )
)


def _tiling_cases(rng: np.random.Generator) -> list[TilingCase]:
    # (n, ubBytes, elementBytes, buffers). 1000 bytes are no multiple of anything; 4096 elements divide evenly.
    cases = [
        _tiling_case(13, 1024, 4, 1),
        _tiling_case(100, 192, 4, 3),
        _tiling_case(100, 1000, 4, 3),
        _tiling_case(4096, 2048, 2, 2),
        _tiling_case(0, 2048, 4, 2),
        _refused(100, 95, 4, 3, "95 bytes hold no 32-byte block for each of 3 buffers"),
        _refused(100, 1024, 4, 0, "there is no buffer"),
    ]
    for _ in range(3):
        n, ub = int(rng.integers(1000, 10**7)), int(rng.integers(4000, 196608))
        cases.append(_tiling_case(n, ub, int(rng.choice([1, 2, 4])), int(rng.integers(1, 9))))
    return cases


def _arguments(n: int, ub: int, element: int, buffers: int) -> tuple[str, dict[str, int]]:
    label = f"n = {n}, ubBytes = {ub}, elementBytes = {element}, buffers = {buffers}"
    return label, {"n": n, "ubBytes": ub, "elementBytes": element, "buffers": buffers}


def _tiling_case(n: int, ub: int, element: int, buffers: int) -> TilingCase:
    label, arguments = _arguments(n, ub, element, buffers)
    tile = ub // buffers // _BLOCK * _BLOCK // element
    tiles = -(-n // tile)
    tail = n - (tiles - 1) * tile if tiles else 0
    return TilingCase(
        label,
        arguments,
        {"tileElements": tile, "tiles": tiles, "tailElements": tail, "usedBytes": tile * element * buffers},
    )


def _refused(n: int, ub: int, element: int, buffers: int, why: str) -> TilingCase:
    label, arguments = _arguments(n, ub, element, buffers)
    return TilingCase(label, arguments, None, why)


def _which_slip(case: TilingCase, got: Mapping[str, int]) -> str | None:
    element, buffers, want = case.arguments["elementBytes"], case.arguments["buffers"], case.expected or {}
    tile = got["tileElements"]
    if tile * element == case.arguments["ubBytes"] // _BLOCK * _BLOCK and buffers > 1:
        return "the tile takes the whole Unified Buffer; every buffer needs its own share of it"
    taken, room = tile * element * buffers, case.arguments["ubBytes"]
    if taken > room:
        return f"{buffers} buffers of {tile} elements take {taken} bytes, but there are only {room}"
    if tile * element % _BLOCK:
        return f"a tile of {tile} elements has {tile * element} bytes, which is not a multiple of 32"
    if tile != want["tileElements"]:
        return f"a tile of {tile} elements fits, and a larger one would too: {want['tileElements']}"
    if got["tiles"] != want["tiles"] and got["tiles"] == case.arguments["n"] // tile:
        return f"tiles is {got['tiles']}: the tail is a tile too, though it is shorter"
    if got["tailElements"] == 0 and want["tailElements"] == tile:
        return f"tailElements is 0 where all tiles are full: the last tile then has {tile} elements"
    if case.arguments["n"] == 0 and got["tailElements"]:
        return f"tailElements is {got['tailElements']} for n = 0: there is no tile, so tailElements must be 0"
    if got["usedBytes"] == tile * element and buffers > 1:
        return f"usedBytes is {got['usedBytes']}: that is one buffer; all {buffers} together take {taken}"
    return None


UB_TILING = TilingChecker(
    struct="UbTilingData",
    function="MakeUbTiling",
    arguments=("n", "ubBytes", "elementBytes", "buffers"),
    cases=_tiling_cases,
    symptoms=(_which_slip,),
)


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
    """Where y begins before x ends, the last elements of a tile see y's first ones in place of x's last."""
    x, y, z = case.inputs["x"], case.inputs["y"], result["z"]
    first = int((z != x + y).argmax())
    if 0 < first < _PAIR_TILE and np.array_equal(z[first:_PAIR_TILE], (y[: x.size - first] + y[first:])[:_PAIR_TILE]):
        return f"z is wrong from z[{first}] on: the end of x was overwritten by the beginning of y before Add read it"
    return None


def _vector_adds(case: KernelCase, result: Result) -> str | None:
    if result.tally.vector == 0:
        return "the numbers are right, but the vector unit added nothing: use Add"
    return None


SHARED_BUFFER = KernelChecker(
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
