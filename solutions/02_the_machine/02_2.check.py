"""02.2: predict what the Unified Buffer holds."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.errors import KernelFault
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.runtime.launch_types import Tally

_N, _BLOCKS = 20001, 3  # as the exercise's text says

#: The three queues of kernels/add. Their sizes arrive at run time, so that one compilation serves all sizes.
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
    """The largest tile, in whole 32-byte blocks of floats, with which the add kernel runs; tries them."""
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


CHECK = PredictChecker(
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
