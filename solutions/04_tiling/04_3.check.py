"""04.3: what the tiled kernel counts."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.runtime.launch_types import Tally

_SHAPE, _GROUPS = (2, 6, 90, 100), 2  # as the exercise's text says


@functools.cache
def _tally() -> Tally:
    return kernel("group_norm/tiled")(np.ones(_SHAPE, np.float32), num_groups=_GROUPS).tally


def _tile() -> int:
    return int(kernel("group_norm/tiled").tiling(np.ones(_SHAPE, np.float32), num_groups=_GROUPS)["tileElements"])


CHECK = PredictChecker(
    (
        Prediction(
            "tile_elements",
            "elements of a tile, as the host function decides",
            _tile,
            {
                16320: "That many would fit, but the host function leaves room for the buffers of later kernels",
                16376: "That many would fit, but not in whole repeats; and the host function leaves room for the "
                "buffers of later kernels",
                24576: "That is in bytes; a float has four of them",
                27008: "That is the whole group; it is larger than the host function's largest tile",
                27000: "That is the whole group; it is larger than the host function's largest tile",
                9000: "That is a channel; the first two passes ignore channels",
            },
            rule="The host function takes the smaller of two numbers: its largest tile, and the group rounded up to "
            "whole repeats of 64",
        ),
        Prediction(
            "copies_in",
            "copies from global memory into the Unified Buffer",
            lambda: _tally().mte2,
            {
                16: "That is one group; there are four",
                20: "That is one pass over each group; there are three",
                32: "That is one sample; there are two",
                40: "That is two passes; the third one reads x again, channel by channel",
                60: "That is three passes over the group as a whole; in the third no tile leaves its channel",
                72: "Only the third pass goes channel by channel; the other two read the group as a whole",
                56: "The tail of a group is a tile too",
                52: "The tail of a channel is a tile too",
                44: "The tails are missing: of a group, and of a channel",
                48: "That is the third pass for one channel of each group; a group has three",
                24: "That is the third pass; the mean and the squares each take one before it",
            },
            rule="Two passes cut the group into tiles, the third one each channel; a tail is a tile too; there are "
            "four groups",
        ),
        Prediction(
            "copies_out",
            "copies from the Unified Buffer to global memory",
            lambda: _tally().mte3,
            {
                24: "That is y; mean and rstd are copied out as well",
                28: "y goes out channel by channel, two tiles for each",
                20: "y goes out channel by channel, and mean and rstd are copied out as well",
                8: "That is one group; there are four",
                16: "That is one sample; there are two",
                12: "That is y without the tails of its channels; mean and rstd are copied out as well",
                26: "Each group writes its mean and rstd; there are four groups",
                64: "Only the last pass writes",
            },
            rule="The third pass writes y, one copy for each tile of a channel; each group writes its mean and rstd",
        ),
        Prediction(
            "bytes_in",
            "bytes that the copies bring into the Unified Buffer",
            lambda: _tally().bytes_in,
            {
                432000: "The kernel goes over each group three times: that is x once",
                864000: "That is two passes; there are three",
                324000: "That is one group, or all of them in floats; there are four, and a float has 4 bytes",
                648000: "That is one sample; there are two",
                108000: "That is x once, in floats; it is read three times, and a float has 4 bytes",
                1296048: "The scalar unit reads gamma and beta, without a copy",
                1572864: "That assumes that each copy brings a full tile; a tail is shorter",
            },
            rule="The bytes of x, times the passes over it: a tail brings only its own bytes",
        ),
        Prediction(
            "vector_instructions",
            "vector instructions of the whole launch",
            lambda: _tally().vector,
            {
                39: "That is one group; there are four",
                152: "That is without the roots; each group has one",
                64: "That is one per tile; the second and the third pass have three per tile",
                144: "The third pass goes channel by channel, so it has more tiles than the others",
                78: "That is one sample; there are two",
                68: "That is one per tile, and the roots; the second and the third pass have three per tile",
                196: "The first pass has one per tile: it only adds up",
                38: "That is one group, without its root; there are four",
                153: "The roots are one for each group",
            },
            rule="For each of the three passes, multiply its instructions per tile by its tiles; then add the root of "
            "each group",
        ),
        Prediction(
            "scalar_accesses",
            "GetValue and SetValue of the whole launch",
            lambda: _tally().scalar,
            {
                20: "That is one group; there are four",
                40: "A sum is read once for each tile, in both passes; or did you count one sample?",
                56: "That is without gamma and beta; each channel has two accesses",
                72: "That is without the root, or without mean and rstd: each of the two takes two accesses per group",
                64: "That counts gamma and beta once per group; the kernel reads them for each channel. Or the root, "
                "mean and rstd are missing: the root takes two accesses per group, and mean and rstd together two",
                76: "The root takes two accesses: its argument is written, and the result is read",
                60: "Two passes have sums, and a sum is read for each of their tiles",
                432000: "No element goes through the scalar unit any more",
            },
            rule="S reads a sum for each tile of two passes; add the root, mean and rstd of each group, and gamma "
            "and beta of its channels",
        ),
    )
)
