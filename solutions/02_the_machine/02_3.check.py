"""02.3: a tiling function that fills the Unified Buffer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker

_BLOCK = 32


def _tiling_cases(rng: np.random.Generator) -> list[TilingCase]:
    # (n, ubBytes, elementBytes, buffers). 1000 bytes are no multiple of 32 or 3; 4096 elements divide evenly.
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
    element, buffers, want = (case.arguments["elementBytes"], case.arguments["buffers"], case.expected or {})
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


CHECK = TilingChecker(
    struct="UbTilingData",
    function="MakeUbTiling",
    arguments=("n", "ubBytes", "elementBytes", "buffers"),
    cases=_tiling_cases,
    symptoms=(_which_slip,),
)
