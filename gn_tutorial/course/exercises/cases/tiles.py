"""04.1: rows with gaps through DataCopyPad. 04.2: a tiling function for groups. 04.3: what the tiled kernel counts."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.course.exercises.cases.group_tile_messages import which_count, which_tile
from gn_tutorial.course.exercises.cases.row_messages import ROW_FAULTS, ROW_SYMPTOMS, sizes
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import Tally

_FLOAT = 4


def _row_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 13: a tail, and a gap longer than a block. 16: no gap. Then other gaps, more tiles than one, several cores; at the
    # end gaps of 66640 bytes, 1104 more than 16 bits can count.
    shapes = [(3, 13, 25, 1), (4, 16, 16, 1), (5, 24, 31, 1), (70, 37, 41, 1), (200, 45, 59, 3), (4, 19, 16679, 1)]
    for _ in range(2):
        length = int(rng.integers(9, 300))
        shapes.append((int(rng.integers(20, 150)), length, length + int(rng.integers(1, 40)), int(rng.integers(2, 6))))
    return [_row_case(rng, *shape) for shape in shapes]


def _row_case(rng: np.random.Generator, rows: int, length: int, pitch: int, cores: int) -> KernelCase:
    size = (rows - 1) * pitch + length
    x = (rng.standard_normal(size) + 3 + np.arange(size) % 7).astype(np.float32)
    factor = float(rng.integers(2, 6)) / 2
    y = np.stack([x[row * pitch : row * pitch + length] for row in range(rows)]) * np.float32(factor)
    label = f"{rows} rows of {length} floats, pitch {pitch}, on {cores} core{'s' * (cores > 1)}"
    numbers = {"rows": rows, "length": length, "pitch": pitch, "factor": factor}
    return KernelCase(label, {"x": x}, numbers, {"y": y.reshape(-1)}, cores)


def _one_instruction(case: KernelCase, result: Result) -> str | None:
    rows, length, _, _, most = sizes(case)
    tiles, tally = -(-rows // most), result.tally
    if tally.bytes_in < rows * length * _FLOAT or tally.vector == 0:
        return "the numbers are right, but not all of them went through DataCopyPad and Muls, which do the work here"
    if tally.mte2 > tiles or tally.mte3 > tiles:
        return (
            f"the numbers are right, with {tally.mte2} copies in and {tally.mte3} out for {tiles} "
            f"tile{'s' * (tiles > 1)}: one instruction takes all rows of a tile, blockCount says how many"
        )
    return None


ROWS_WITH_GAPS = KernelChecker(
    _row_cases,
    rtol=0.0,
    atol=0.0,
    symptoms=ROW_SYMPTOMS,
    demands=(_one_instruction,),
    faults=ROW_FAULTS,
)


def _tile_cases(rng: np.random.Generator) -> list[TilingCase]:
    # (channels, spatial, ubBytes, buffers, otherBytes). The first tells each count from the others. 2 * 35, 3 * 21:
    # less than a tile. 73728: three times 6144 floats, without the 96 bytes. 4 * 1024: tiles that are all full.
    cases = [
        _tile_case(3, 3300, 6000, 3, 96),
        _tile_case(2, 35, 196608, 3, 96),
        _tile_case(3, 21, 196608, 3, 96),
        _tile_case(2, 4096, 73728, 3, 96),
        _tile_case(4, 1024, 12384, 3, 96),
        _tile_case(1, 100, 65536, 2, 64),
        _tile_case(5, 90, 65536, 2, 0),
        _refused(2, 35, 860, 3, 96, "764 bytes are left, and three buffers of 64 floats take 768"),
        _refused(2, 35, 196608, 0, 96, "there is no buffer"),
        _refused(0, 35, 196608, 3, 96, "there is no channel"),
    ]
    for _ in range(4):
        ub, other = int(rng.integers(8000, 196608)), int(rng.integers(0, 40)) * 32
        cases.append(
            _tile_case(int(rng.integers(1, 40)), int(rng.integers(1, 60000)), ub, int(rng.integers(1, 8)), other)
        )
    return cases


def _arguments(channels: int, spatial: int, ub: int, buffers: int, other: int) -> tuple[str, dict[str, int]]:
    label = f"channels = {channels}, spatial = {spatial}, ubBytes = {ub}, buffers = {buffers}, otherBytes = {other}"
    names = ("channels", "spatial", "ubBytes", "buffers", "otherBytes")
    return label, dict(zip(names, (channels, spatial, ub, buffers, other), strict=True))


def _tile_case(channels: int, spatial: int, ub: int, buffers: int, other: int) -> TilingCase:
    label, arguments = _arguments(channels, spatial, ub, buffers, other)
    group = channels * spatial
    tile = min((ub - other) // buffers // _FLOAT // 64 * 64, -(-group // 64) * 64)
    tiles, of_channel = -(-group // tile), -(-spatial // tile)
    expected = {
        "tileElements": tile,
        "groupTiles": tiles,
        "tailElements": group - (tiles - 1) * tile,
        "channelTiles": of_channel,
        "copiesIn": 2 * tiles + channels * of_channel,
        "usedBytes": buffers * tile * _FLOAT + other,
    }
    return TilingCase(label, arguments, expected, "" if other else "otherBytes may be 0")


def _refused(channels: int, spatial: int, ub: int, buffers: int, other: int, why: str) -> TilingCase:
    label, arguments = _arguments(channels, spatial, ub, buffers, other)
    return TilingCase(label, arguments, None, why)


GROUP_TILES = TilingChecker(
    struct="GroupTilesData",
    function="MakeGroupTiles",
    arguments=("channels", "spatial", "ubBytes", "buffers", "otherBytes"),
    cases=_tile_cases,
    symptoms=(which_tile, which_count),
)


_SHAPE, _GROUPS = (2, 6, 90, 100), 2  # as the exercise's text says


@functools.cache
def _tally() -> Tally:
    return kernel("group_norm/tiled")(np.ones(_SHAPE, np.float32), num_groups=_GROUPS).tally


def _tile() -> int:
    return int(kernel("group_norm/tiled").tiling(np.ones(_SHAPE, np.float32), num_groups=_GROUPS)["tileElements"])


TILE_COUNTS = PredictChecker(
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
