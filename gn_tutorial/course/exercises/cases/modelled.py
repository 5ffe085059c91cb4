"""Predictions that the timing model answers. 02.4: where an addition's time goes. 03.4: what limits the scalar kernel.

Every number is modelled, for the default chip; the tolerances leave room for what a prediction on paper leaves out.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.profiler.profile import Profile, profile

_N, _ADD_BLOCKS = 1_000_000, 8  # as the exercises' texts say
_TILES = (256, 2048, 16384)
_PIPES = ("S", "MTE2", "V", "MTE3")
_LIMITS = {"scalar unit": "S", "vector unit": "V"}


@functools.cache
def _add(tile: int, buffers: int = 1) -> Profile:
    """kernels/add with another tile, and with so many buffers in each queue."""
    text = kernel("add/queue").source
    for old, new in (("kTile = 2048", f"kTile = {tile}"), ("Queue_, 1, kTile", f"Queue_, {buffers}, kTile")):
        assert old in text, old
        text = text.replace(old, new)
    x = np.ones(_N, np.float32)
    return profile(kernel(source=text), x, x, out(_N), _N, blocks=_ADD_BLOCKS)


def _limit(found: Profile) -> str:
    """The pipe of the binding limit; what no pipe is answerable for keeps its name."""
    return _LIMITS.get(found.binding.name, found.binding.name)


ADD_TIMES = PredictChecker(
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
            f"the pipe that limits the launch, with tiles of 16384: {', '.join(_PIPES)}",
            lambda: _limit(_add(16384)),
            {
                "V": "An Add takes 64 floats in a cycle, 256 bytes of each input; MTE2 brings 58",
                "S": "That is true of small tiles; 16384 floats need only twelve calls",
                "MTE3": "MTE3 has one array to move, and MTE2 has two",
            },
            choices=_PIPES,
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


@functools.cache
def _group_norm(spatial: int, blocks: int, chunk: int = 1024) -> Profile:
    """The scalar kernel on one sample of 32 channels in 32 groups, perhaps with another chunk."""
    original = kernel("group_norm/scalar")
    assert "kChunk = 1024" in original.source
    with tempfile.TemporaryDirectory(prefix="gnt-") as name:
        path = Path(name) / original.path.name
        path.write_text(original.source.replace("kChunk = 1024", f"kChunk = {chunk}"), encoding="utf-8")
        beside = [original.path.parent]
        changed = Kernel(original.name, path=path, op=original.op, spec=original.spec, include_dirs=beside)
        x = np.ones((1, 32, spatial), np.float32)
        return profile(changed, x, num_groups=32, blocks=blocks)


def _gain(one: Profile, other: Profile) -> float:
    """How many times as fast the other is."""
    return one.microseconds / other.microseconds


SCALAR_TIMES = PredictChecker(
    (
        Prediction(
            "limit",
            f"the pipe that the launch is nearest to: {', '.join(_PIPES)}",
            lambda: _limit(_group_norm(1024, 32)),
            {
                "MTE2": "It brings the group in three times, 58 bytes in a cycle: 212 cycles. Four accesses for each "
                "of 1024 elements take longer",
                "MTE3": "It takes 4096 bytes out, 43 in a cycle: about 100 cycles",
                "V": "It takes one root",
            },
            choices=_PIPES,
        ),
        Prediction(
            "scalar_us",
            "microseconds that S of a block is busy with a group of 1024 elements; 5 % more or less is right",
            lambda: _group_norm(1024, 32).busy[Pipe.S],
            {
                6.45: "That is one access for each element; there are three loops over i, with four accesses",
                19.3: "That is three accesses for each element; Normalise reads one and writes one",
                825.0: "That is all 32 groups; here each has a core of its own",
                46400.0: "These are cycles; a microsecond has 1800",
                46.4: "These are thousands of cycles; a microsecond has 1800",
            },
            within=0.05,
            rule="The accesses for an element, times the elements of a group, times 11.3 cycles; a microsecond "
            "has 1800",
        ),
        Prediction(
            "gain_31_cores",
            "how many times as fast 31 cores are as 16; 3 % more or less is right",
            lambda: _gain(_group_norm(1024, 16), _group_norm(1024, 31)),
            {
                1.94: "That is 31 / 16. Who has how many groups, and who is done last?",
                1.9375: "That is 31 / 16. Who has how many groups, and who is done last?",
                2.0: "So many times as fast is the work of 32 cores: then nobody has two groups",
                1.0: "So it is without the launch: 31 cores take longer to start than 16",
            },
            within=0.03,
            rule="The core with the most groups is done last; add the start of the launch to both times before "
            "you divide",
        ),
        Prediction(
            "gain_32_cores",
            "how many times as fast 32 cores are as 16; 5 % more or less is right",
            lambda: _gain(_group_norm(1024, 16), _group_norm(1024, 32)),
            {
                1.0: "With 32 cores each has one group, and with 16 each has two",
                2.0: "So it is without the launch: 32 cores take longer to start than 16",
            },
            within=0.05,
            rule="The core with the most groups is done last; add the start of the launch to both times before "
            "you divide",
        ),
        Prediction(
            "gain_large_chunk",
            "how many times as fast a kChunk of 4096 is, for groups of 4096 elements; 5 % more or less is right",
            lambda: _gain(_group_norm(4096, 32), _group_norm(4096, 32, 4096)),
            {
                4.0: "There are four times fewer copies. But how much of the time do copies take?",
                2.0: "There are fewer copies. But how much of the time do copies take?",
                0.25: "This is a quarter of the copies, and none of the accesses",
            },
            within=0.05,
            rule="Which part of the time do copies take, and which part accesses, whose number stays?",
        ),
    )
)
