"""02.4: where an addition's time goes.

The numbers are modelled, for the default chip; the tolerances leave room for what a prediction on paper leaves out.
"""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.launch_facts import PIPES, limiting_pipe
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.profiler.profile import Profile, profile

_N, _ADD_BLOCKS = 1_000_000, 8  # as the exercises' texts say

_TILES = (256, 2048, 16384)


@functools.cache
def _add(tile: int, buffers: int = 1) -> Profile:
    """kernels/add with another tile, and with so many buffers in each queue."""
    text = kernel("add/queue").source
    for old, new in (("kTile = 2048", f"kTile = {tile}"), ("Queue_, 1, kTile", f"Queue_, {buffers}, kTile")):
        assert old in text, old
        text = text.replace(old, new)
    x = np.ones(_N, np.float32)
    return profile(kernel(source=text), x, x, out(_N), _N, blocks=_ADD_BLOCKS)


CHECK = PredictChecker(
    (
        Prediction(
            "bytes_moved",
            f"bytes copied into and out of the Unified Buffers, all {_ADD_BLOCKS} blocks together",
            lambda: _add(16384).tally.bytes_in + _add(16384).tally.bytes_out,
            {
                8_000_000: "That is what comes in; z goes out",
                4_000_000: "That is one array; two come in, and one goes out",
                3_000_000: "That is the number of elements; a float has 4 bytes",
                1_500_000: "That is one block; there are eight",
            },
            rule="Elements times the bytes of a float, for each array that is copied in or out",
        ),
        Prediction(
            "fastest_tile",
            f"which of the tiles {', '.join(map(str, _TILES))} gives the shortest modelled time",
            lambda: min(_TILES, key=lambda tile: _add(tile).microseconds),
            {
                256: "A small tile arrives soon, but each one costs its calls and its starts, and there are 64 times "
                "as many tiles as with the largest size",
                2048: "There is room for a larger one, with fewer calls and fewer starts",
            },
            rule="The answer is 256, 2048 or 16384",
        ),
        Prediction(
            "scalar_us",
            "microseconds that S of one block needs for its queue calls, with tiles of 256; within 10 % is right",
            lambda: _add(256).busy[Pipe.S],
            {
                13.6: "That is one call for each tile; count the calls in CopyIn, Compute and CopyOut",
                54.3: "That is CopyIn alone; Compute and CopyOut call their queues too",
                81.5: "That is six calls for each tile; there are three queues with four calls each",
                1304.0: "That is all eight blocks; their cores work in parallel",
                293.4: "These are thousands of cycles; a microsecond has 1800",
            },
            within=0.1,
            rule="The tiles of one block, times the calls for a tile, times 50 cycles; a microsecond has 1800",
        ),
        Prediction(
            "copy_in_us",
            "microseconds that MTE2 of one block is busy, with tiles of 16384; within 5 % is right",
            lambda: _add(16384).busy[Pipe.MTE2],
            {
                4.79: "That is x alone; y comes in as well",
                14.37: "That includes z; MTE3 copies it out",
                76.6: "That is all eight blocks; each has an MTE2 of its own",
                5.37: "That is how fast the memory could deliver; but a core takes no more than 58 bytes in a cycle, "
                "and there are only eight cores",
            },
            within=0.05,
            rule="The bytes of x and y of one block, divided by the 58 bytes of a cycle; a microsecond has 1800 cycles",
        ),
        Prediction(
            "limit",
            f"the pipe that limits the launch, with tiles of 16384: {', '.join(PIPES)}",
            lambda: limiting_pipe(_add(16384)),
            {
                "V": "An Add takes 64 floats in a cycle, 256 bytes of each input; MTE2 brings 58",
                "S": "That is true of small tiles; 16384 floats need only twelve calls",
                "MTE3": "MTE3 has one array to move, and MTE2 has two",
            },
            choices=PIPES,
        ),
        Prediction(
            "two_buffers_us",
            "modelled microseconds of the launch with tiles of 8192 and two buffers per queue; within 10 % is right",
            lambda: _add(8192, 2).microseconds,
            {
                8.24: "That is half the time; two buffers make no pipe faster, they only let the pipes overlap",
                16.47: "That is the time with one buffer; with two, MTE2 fetches the next tile while the others work",
                9.66: "That is MTE2 alone; the launch itself takes 1.6 us, and V and MTE3 must finish the last tile",
                21.3: "That is one pipe after the other; with two buffers they overlap",
            },
            within=0.1,
            rule="Add the start of the launch, the busiest pipe without a pause, and the work of the others on the "
            "last tile",
        ),
    )
)
