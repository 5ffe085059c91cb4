"""04.2: a tiling function for groups. The messages say which size or count was taken for another one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker

_FLOAT = 4


def _which_tile(case: TilingCase, got: Mapping[str, int]) -> str | None:
    """Return what is wrong with the tile; None if it is right."""
    channels, spatial, ub, buffers, other = case.arguments.values()
    want, tile, group = case.expected or {}, got["tileElements"], channels * spatial
    if tile == want["tileElements"]:
        return None
    if tile == 0:
        return "tileElements is 0: a tile has at least 64 floats, and a group of fewer elements is rounded up to 64"
    if tile == want["tileElements"] * _FLOAT:
        return f"tileElements is {tile}: these are bytes; a float has four of them"
    if tile % 64:
        return f"a tile of {tile} floats is not a multiple of 64"
    taken = buffers * tile * _FLOAT
    if taken + other > ub:
        over = f"{buffers} buffers of {tile} floats take {taken} bytes, and there are {ub}"
        return f"{over}, of which otherBytes takes {other}" if taken <= ub and other else over
    padded = channels * -(-spatial // 8) * 8
    if tile == -(-padded // 64) * 64:
        return f"a tile of {tile} floats holds each channel in whole 32-byte blocks; this kernel needs {group} elements"
    if tile > -(-group // 64) * 64:
        return f"a tile of {tile} floats: a group of {group} needs no more than its elements, rounded up to 64"
    if tile == group // 64 * 64:
        return f"a tile of {tile} floats is the group rounded down; {group} elements would then need a second tile"
    return f"a tile of {tile} floats fits, and a larger one would too: {want['tileElements']}"


def _which_count(case: TilingCase, got: Mapping[str, int]) -> str | None:
    """Return what is wrong with the numbers that follow from a right tile; None if the tile is wrong."""
    channels, spatial, _, _, _ = case.arguments.values()
    want, tile, group = case.expected or {}, got["tileElements"], channels * spatial
    if tile != want["tileElements"]:
        return None
    padded = channels * -(-spatial // 8) * 8
    in_places = (-(-padded // tile), padded - (-(-padded // tile) - 1) * tile)
    if padded != group and (got["groupTiles"], got["tailElements"]) == in_places:
        return (
            f"groupTiles and tailElements are those of {padded} elements, with each channel in whole 32-byte blocks; "
            f"a group has {group} and is contiguous in global memory"
        )
    if got["groupTiles"] != want["groupTiles"]:
        short = got["groupTiles"] == group // tile
        return f"groupTiles is {got['groupTiles']}: the tail is a tile too, though it is shorter" if short else None
    if got["tailElements"] != want["tailElements"]:
        return _which_tail(got["tailElements"], group, spatial, tile)
    if got["channelTiles"] != want["channelTiles"]:
        if got["channelTiles"] == want["groupTiles"]:
            return f"channelTiles is {got['channelTiles']}: those are the tiles of a group; a channel has {spatial}"
        if got["channelTiles"] == spatial // tile:
            return f"channelTiles is {got['channelTiles']}: a channel shorter than a tile, or its tail, is a tile too"
        if got["channelTiles"] == channels * want["channelTiles"]:
            return f"channelTiles is {got['channelTiles']}: those are the tiles of all {channels} channels together"
        return None
    if got["copiesIn"] != want["copiesIn"]:
        return _which_copies(got["copiesIn"], channels, want["groupTiles"], want["channelTiles"])
    return _which_bytes(case, got)


def _which_tail(tail: int, group: int, spatial: int, tile: int) -> str | None:
    if tail == 0:
        return f"tailElements is 0 where all tiles are full: the last tile then has {tile} elements"
    known = {
        tile: "that is a full tile; the tiles before the last one leave less than that",
        tile - group % tile: "that is what is missing from the last tile; tailElements is what it holds",
        spatial % tile: "that is the tail of a channel; tailElements is the tail of the whole group",
    }
    return f"tailElements is {tail}: {known[tail]}" if tail in known else None


def _which_copies(copies: int, channels: int, tiles: int, of_channel: int) -> str | None:
    third = channels * of_channel
    known = {
        3 * tiles: "that is three passes over the group as a whole; the third one goes channel by channel",
        tiles + third: "that is two passes; the mean and the squares take one each",
        2 * tiles + of_channel: f"the third pass is counted for one channel; there are {channels}",
        3 * third: "only the third pass goes channel by channel; the other two read the group as a whole",
        2 * tiles: "those are the first two passes; the third one brings the group in once more",
        third: "that is the third pass; the mean and the squares each take one before it",
        tiles: "that is one pass; there are three",
    }
    return f"copiesIn is {copies}: {known[copies]}" if copies in known else None


def _which_bytes(case: TilingCase, got: Mapping[str, int]) -> str | None:
    _, _, ub, buffers, other = case.arguments.values()
    used, tile = got["usedBytes"], got["tileElements"]
    right = buffers * tile * _FLOAT + other
    if used == right:
        return None
    known = {
        right - other: "otherBytes are used too",
        ub: f"that is the whole Unified Buffer; {buffers} buffers of {tile} floats and otherBytes use less",
        ub - other: "that is the room for the buffers, not what they use; and otherBytes are used too",
        buffers * tile + other: "a float has four bytes",
        buffers * tile: "a float has four bytes, and otherBytes are used too",
        tile * _FLOAT + other: f"that is one buffer; there are {buffers}",
        tile * _FLOAT: f"that is one buffer of {buffers}, and otherBytes are used too",
        buffers * (tile * _FLOAT + other): "otherBytes are used once, not for each buffer",
    }
    return f"usedBytes is {used}: {known[used]}" if used in known else None


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


CHECK = TilingChecker(
    struct="GroupTilesData",
    function="MakeGroupTiles",
    arguments=("channels", "spatial", "ubBytes", "buffers", "otherBytes"),
    cases=_tile_cases,
    symptoms=(_which_tile, _which_count),
)
