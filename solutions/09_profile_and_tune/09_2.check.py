"""09.2: a host function that chooses the tile by shape. All times are modelled."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.profiler.bench.autotune import REFUSED, Candidate, Tuning, tune
from gn_tutorial.profiler.bench.grid import BenchCase
from gn_tutorial.timing.machine import load_machine

# 09.2. Two groups are enough: each core works as it would with more, and the check stays short.
_KERNEL, _ROOM = "group_norm/double_buffered", 196_608

_BUFFERS, _OTHER_BYTES, _FLOAT, _STEP = 5, 96, 4, 64

#: The part by which a chosen tile may be slower than the best one that was tried.
_WITHIN = 0.03


def _largest(ub_bytes: int) -> int:
    return (ub_bytes - _OTHER_BYTES) // (_BUFFERS * _FLOAT * _STEP) * _STEP


@functools.cache
def _tuning(channels: int, spatial: int, values: tuple[int, ...]) -> Tuning:
    op, spec = find_kernel(_KERNEL)
    case = BenchCase((1, 2 * channels, spatial), {"num_groups": 2})
    return tune(op, spec, case, load_machine(), field="tileElements", values=values)


@functools.cache
def _best(channels: int, spatial: int) -> Candidate:
    """Return the fastest of the tiles that `gnt tune` would try, and of equal parts of a channel or a group."""
    largest = _largest(_ROOM)
    fewest = -(-channels * spatial // largest)
    counts = {*range(1, 7), *range(fewest, fewest + 3)}
    parts = {-(-size // part) for size in (spatial, channels * spatial) for part in counts}
    values = {-(-part // _STEP) * _STEP for part in parts} | {512, 1024, 2048, 3072, 4096, 6144, 8192, largest}
    found = _tuning(channels, spatial, tuple(sorted(value for value in values if value <= largest))).best
    assert found is not None
    return found


def _tile_cases(rng: np.random.Generator) -> list[TilingCase]:
    refused = "five buffers of 64 floats and 96 bytes more do not fit"
    cases = [
        _tile_case(1, 900, _BUFFERS * _FLOAT * _STEP * 3 + _OTHER_BYTES),
        # The buffers of 1280 floats would fit, if it were not for the 96 bytes.
        _tile_case(3, 5000, _BUFFERS * _FLOAT * _STEP * 20 + 50),
        _tile_case(2, 7, _ROOM),
        TilingCase("channelsPerGroup = 4, spatial = 100, ubBytes = 1375", _given(4, 100, 1375), None, refused),
    ]
    # The last one: channels that just do not fit, of which equal parts make more pieces than equal parts of the group.
    shapes = [(8, 9216), (6, 2401), (1, 8192), (1, 1000), (1, 20000), (1, int(rng.integers(8300, 9700)))]
    shapes += [(int(rng.integers(5, 8)), int(rng.integers(9800, 10600)))]
    return cases + [_tile_case(channels, spatial, _ROOM) for channels, spatial in shapes]


def _given(channels: int, spatial: int, room: int) -> dict[str, int]:
    return {"channelsPerGroup": channels, "spatial": spatial, "ubBytes": room}


def _tile_case(channels: int, spatial: int, room: int) -> TilingCase:
    label = f"channelsPerGroup = {channels}, spatial = {spatial}, ubBytes = {room}"
    return TilingCase(label, _given(channels, spatial, room), {})


def _fits(case: TilingCase, got: Mapping[str, int]) -> str | None:
    tile, room = got["tileElements"], case.arguments["ubBytes"]
    if tile == 0:
        return "tileElements is 0: a tile has 64 elements or more"
    if tile % _STEP:
        return f"a tile of {tile} elements is not a multiple of 64"
    taken = _BUFFERS * _FLOAT * tile + _OTHER_BYTES
    if taken > room:
        bare = " Without the 96 bytes it would fit." if taken - _OTHER_BYTES <= room else ""
        return f"five buffers of {tile} floats and 96 bytes more take {taken} bytes, and there are {room}.{bare}"
    return None


def _fast(case: TilingCase, got: Mapping[str, int]) -> str | None:
    tile, (channels, spatial, room) = got["tileElements"], case.arguments.values()
    # No modelled chip has another Unified Buffer, and for a few elements the tile makes no difference.
    if room != _ROOM or channels * spatial < _STEP:
        return None
    best = _best(channels, spatial)
    mine = next(one for one in _tuning(channels, spatial, (tile,)).candidates if one.value == tile)
    if mine.status == REFUSED or mine.modelled_us is None or best.modelled_us is None:
        return f"the twin refuses a tile of {tile}: {mine.note}"
    slower = mine.modelled_us / best.modelled_us - 1.0
    if slower <= _WITHIN:
        return None
    said = f"a tile of {tile} takes {mine.modelled_us:.2f} us, modelled, {slower:.0%} more than one of {best.value}"
    return f"{said}: {_why(tile, best.value, channels, spatial)}"


def _pieces(tile: int, channels: int, spatial: int) -> tuple[int, int]:
    """Return a group's copies of x: in the two passes over the group, and in the pass channel by channel."""
    return 2 * -(-channels * spatial // tile), channels * -(-spatial // tile)


def _why(tile: int, best: int, channels: int, spatial: int) -> str:
    group, largest = channels * spatial, _largest(_ROOM)
    cut, whole = (spatial, "channel") if channels > 1 and spatial > tile else (group, "group")
    pieces = -(-cut // tile)
    if pieces == 1 and group > 4096:
        return f"the group of {group} is one tile, so that nothing overlaps"
    if whole == "channel" and pieces == 2 and spatial <= largest:
        return f"it cuts each channel of {spatial} elements, and a whole one would fit"
    if pieces > 1 and group <= 2048:
        return f"a group of {group} is too small to be cut: a second tile costs more than its overlap gains"
    ours, fewer = _pieces(tile, channels, spatial), _pieces(best, channels, spatial)
    if spatial > largest and sum(ours) > sum(fewer):
        return (
            f"it makes {sum(ours)} pieces, {ours[0]} of the group and {ours[1]} of its channels; {best} makes "
            f"{sum(fewer)}, {fewer[0]} and {fewer[1]}"
        )
    if pieces <= -(-cut // largest) + 1:
        rest = cut - (pieces - 1) * tile
        return f"the last piece of the {whole} has {rest} elements; pieces of equal size overlap better"
    return f"it makes {pieces} pieces of the {whole}, and each one costs its calls and its start"


CHECK = TilingChecker(
    struct="TileChoice",
    function="ChooseTile",
    arguments=("channelsPerGroup", "spatial", "ubBytes"),
    cases=_tile_cases,
    demands=(_fits, _fast),
)
