"""04.1: rows with gaps through DataCopyPad. The messages name a copy's wrong number, from what the copy moved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.operators.result import Result

_TILE = 1024  # kTile of the kernel

_FLOAT, _BLOCK = 4, 32


def _sizes(case: KernelCase) -> tuple[int, int, int, int, int]:
    """Return the rows, the elements of a row, its pitch and its place in the Unified Buffer, and a full tile's rows."""
    rows, length, pitch = (int(case.numbers[name]) for name in ("rows", "length", "pitch"))
    place = -(-length // 8) * 8
    return rows, length, pitch, place, _TILE // place


def _moved(case: KernelCase, gap_bytes: int, apart: int = 0) -> np.ndarray | None:
    """Return y if rows with gaps of gap_bytes were copied in; None if that reads past x. A gap may be part of a float.

    apart: elements for each row before a tile, if the kernel does not take the pitch.
    """
    rows, length, pitch, _, most = _sizes(case)
    row_bytes = length * _FLOAT
    memory, y = case.inputs["x"].view(np.uint8), np.zeros((rows, row_bytes), np.uint8)
    for row in range(rows):
        at = row // most * most * (apart or pitch) * _FLOAT + row % most * (row_bytes + gap_bytes)
        if at < 0 or at + row_bytes > memory.size:
            return None
        y[row] = memory[at : at + row_bytes]
    with np.errstate(all="ignore"):  # after such a gap, halves of two floats make one
        return y.reshape(-1).view(np.float32) * np.float32(case.numbers["factor"])


def _which_way_in(case: KernelCase, result: Result) -> str | None:
    _, length, pitch, place, _ = _sizes(case)
    gap = (pitch - length) * _FLOAT
    wrapped = gap % (1 << 16)
    to_next = "the gap counts from the end of a row in x to the start of the next one, pitch_ - length_"
    known = {
        pitch - length: "the gap of the way in is given in elements; in global memory it counts bytes",
        gap // _BLOCK: "the gap of the way in is given in blocks of 32 bytes; that is the unit in the Unified Buffer, "
        "but in global memory the gap counts bytes",
        gap
        + length * _FLOAT: "the gap of the way in counts from the end of a row to the start of the next one; pitch_ "
        "counts from start to start",
        (pitch - place) * _FLOAT: f"the gap of the way in is pitch_ - place_; {to_next}: x has no places of whole "
        "blocks, only the Unified Buffer has",
        pitch - place: f"the gap of the way in is pitch_ - place_, in elements; {to_next}, and it counts bytes",
        pitch: "the gap of the way in is pitch_ itself, which counts elements from start to start of two rows; the gap "
        "counts bytes, from the end of a row",
        0: "the rows come in as if there were no gap between them in x",
        wrapped: f"the gap of the way in went through 16 bits: {gap} bytes became {wrapped}. DataCopyExtParams has 32 "
        "bits for a gap: give it a uint32_t",
    }
    candidates = [(_moved(case, wrong), words) for wrong, words in known.items() if wrong != gap]
    starts = {
        length: "the second tile begins too early in x: row first begins at element first * pitch_",
        place: "the second tile begins at first * place_ of x: row first begins at first * pitch_",
        1: "the second tile begins at element first of x: row first begins at element first * pitch_",
    }
    candidates += [(_moved(case, gap, apart=wrong), words) for wrong, words in starts.items() if wrong != pitch]
    for seen, words in candidates:
        if seen is not None and np.array_equal(result["y"].view(np.uint32), seen.view(np.uint32)):
            return words
    return None


def _tiles(case: KernelCase) -> Iterator[tuple[int, int]]:
    """Yield each tile's first row and number of rows."""
    rows, _, _, _, most = _sizes(case)
    yield from ((first, min(most, rows - first)) for first in range(0, rows, most))


def _which_way_out(case: KernelCase, result: Result) -> str | None:
    """Recognise tiles that went out as one piece, or to the wrong place of y."""
    _, length, _, place, _ = _sizes(case)
    got, want, right = result["y"], case.expected["y"], True
    for first, count in _tiles(case):
        at = np.arange(count * length)
        row, column = at // place, at % place
        inside = column < length  # the values after the end of a row are unknown
        source = want[(first + row[inside]) * length + column[inside]]
        right = right and np.array_equal(got[first * length + at[inside]], source)
    if right:
        return (
            "the rows go out as one piece, including the padding after each row in the Unified Buffer: "
            "blockCount is the number of rows, and blockLen the bytes of one row"
        )
    seen, written = np.zeros_like(want), np.zeros(want.size, bool)
    for first, count in _tiles(case):
        part = want[first * length : (first + count) * length]
        seen[first : first + part.size], written[first : first + part.size] = part, True
    if not written.all() and np.array_equal(unwritten(got), ~written) and np.array_equal(got[written], seen[written]):
        return "the second tile goes to element first of y: row first begins at element first * length_"
    return None


def _cut(case: KernelCase, result: Result) -> str | None:
    """Recognise rows that end too early, or that lie too far apart: y has holes then."""
    length = int(case.numbers["length"])
    holes = unwritten(result["y"]).reshape(-1, length)
    if not holes.any() or holes.all():
        return None
    tail = length % 8
    if tail and holes[:, -tail:].all() and not holes[:, :-tail].any():
        return f"the last {tail} elements of each row never arrive in y: the rows are cut to whole 32-byte blocks"
    return f"part of y was never written: {spots('y', holes.reshape(-1))}; y has no gaps, so copy all bytes of each row"


def _beyond(case: KernelCase, found: Diagnostic) -> str:
    """Return which number of a copy past the end of x or y is wrong, from its beginning and the bytes it touched."""
    _, length, pitch, place, _ = _sizes(case)
    name = found.fields.get("argument")
    touched, offset = (int(found.fields.get(key, -1)) for key in ("bytes", "offset"))
    apart = pitch if name == "x" else length
    counts = {first * apart * _FLOAT: count for first, count in _tiles(case)}
    if offset not in counts:
        if name == "y" and offset in {first * pitch * _FLOAT for first, _ in _tiles(case)}:
            return (
                "a tile goes out to first * pitch_, as if y had the gaps of x; but its row first is at first * length_"
            )
        if offset in {first * place * _FLOAT for first, _ in _tiles(case)}:
            side = "x begins at first * pitch_" if name == "x" else "y begins at first * length_"
            return f"a tile begins at first * place_ of {name}: only the Unified Buffer has places; row first of {side}"
        return f"a tile begins in the wrong place of {name}, and a copy goes past its end"
    count = counts[offset]
    whole = count * place + (count - 1) * (pitch - place if name == "x" else 0)
    if touched == whole * _FLOAT and place > length:
        return f"whole places of {place} floats are copied instead of rows: a row of {name} has {length} floats"
    if name == "x" and touched == count * pitch * _FLOAT:
        return "the rows come in together with the gaps after them: copy only the length_ floats of each row"
    between, rest = divmod(touched - count * length * _FLOAT, max(count - 1, 1))
    if count == 1 or rest or between <= 0:
        return f"a copy goes past the end of {name}: look at the bytes of a row"
    if name == "y":
        return f"the way out leaves {between} bytes between two rows of y, but y has no gaps"
    return (
        f"the way in skips {between} bytes between two rows of x; from the end of a row to the start of the next "
        f"one there are {(pitch - length) * _FLOAT}"
    )


def _never_filled(case: KernelCase, found: Diagnostic) -> str:
    del case
    if str(found.fields.get("op", "")).startswith("DataCopy"):
        return (
            "the way out reads places of the tile that hold no row: in the Unified Buffer the rows follow each other "
            "directly, so the gap there is 0 (it would count blocks of 32 bytes, not bytes)"
        )
    return (
        "some place of the tile was never filled: copy in all count rows, each directly after the place of the "
        "previous row, with a gap of 0 in the Unified Buffer"
    )


def _outside_tile(case: KernelCase, found: Diagnostic) -> str:
    del case
    way = "the way out reads" if found.fields.get("role") == "src" else "the way in writes"
    return f"{way} past the end of the tile: a gap in the Unified Buffer counts blocks of 32 bytes, and must be 0 here"


def _row_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 13: a tail, and a gap longer than a block. 16: no gap. Then other gaps, more tiles than one, several cores; at the
    # end gaps of 66640 bytes, which become 1104 in 16 bits.
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
    rows, length, _, _, most = _sizes(case)
    tiles, tally = -(-rows // most), result.tally
    if tally.bytes_in < rows * length * _FLOAT or tally.vector == 0:
        return "the numbers are right, but not all of them went through DataCopyPad and Muls, which do the work here"
    if tally.mte2 > tiles or tally.mte3 > tiles:
        return (
            f"the numbers are right, with {tally.mte2} copies in and {tally.mte3} out for {tiles} "
            f"tile{'s' * (tiles > 1)}: one instruction takes all rows of a tile, blockCount says how many"
        )
    return None


CHECK = KernelChecker(
    _row_cases,
    rtol=0.0,
    atol=0.0,
    symptoms=(_which_way_in, _which_way_out, _cut),
    demands=(_one_instruction,),
    faults={
        "copy-not-whole-blocks": "DataCopy rounds the tail down to whole 32-byte blocks; DataCopyPad does not",
        "pad-row-not-whole": "blockLen counts bytes, and a float has four of them",
        "pad-too-wide": "leftPadding and rightPadding count elements; a row and its padding together fill its place",
        "ub-never-written": _never_filled,
        "ub-out-of-bounds": _outside_tile,
        "gm-out-of-bounds": _beyond,
        "gm-beyond-declared-size": _beyond,
        "race-blocks": "the rows of one core reach into those of another: look at the bytes of a row, and at the gap",
    },
)
