"""12.6: the gradient of x in Linear, a sum of rows of W, where each piece of W is read once for a tile of rows."""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.launch_facts import vector_instructions
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.operators.result import Result

_TILE, _ROWS = 256, 4  # kTile and kRows of the exercise's kernel

_PAST_W = "CopyWeight goes past the end of W: its arguments are the row of W, the column, and n"


def _cases(rng: np.random.Generator) -> list[KernelCase]:
    # All rows of a tile, and few columns; fewer rows; a tile of columns and a tail; several cores.
    shapes = [(4, 6, 8, 1), (3, 5, 100, 1), (5, 9, _TILE + 13, 1), (8, 16, _TILE, 2)]
    shapes += [(int(rng.integers(9, 30)), int(rng.integers(20, 60)), int(rng.integers(520, 900)), 3)]
    return [_case(rng, *shape) for shape in shapes]


def _case(rng: np.random.Generator, rows: int, outs: int, columns: int, blocks: int) -> KernelCase:
    # No two rows or columns alike, and more positive than negative terms, so that no sum is near 0.
    dy = (rng.uniform(-0.3, 1.7, (rows, outs)) + np.arange(1, rows + 1)[:, None] / rows).astype(np.float32)
    weight = (rng.uniform(-0.4, 1.6, (outs, columns)) + np.linspace(0.2, 1, columns)).astype(np.float32)
    dx = (dy.astype(np.float64) @ weight.astype(np.float64)).astype(np.float32)
    label = (
        f"dy {rows} x {outs}, W {outs} x {columns} on {blocks} block{'s' * (blocks > 1)}, tiles of {_ROWS} rows and "
        f"{_TILE} columns"
    )
    numbers = {"rows": rows, "outs": outs, "columns": columns}
    return KernelCase(label, {"dy": dy, "weight": weight}, numbers, {"dx": dx}, blocks)


def _which_sum(case: KernelCase, result: Result) -> str | None:
    got = result["dx"].astype(np.float64)
    holes = unwritten(result["dx"].reshape(-1))
    if holes.all():
        return "dx was never written: Compute has to leave count_ rows of n numbers in it"
    if holes.any():
        return f"{int(holes.sum())} of {holes.size} elements of dx were never written ({spots('dx', holes)})"
    dy, weight = (case.inputs[name].astype(np.float64) for name in ("dy", "weight"))
    rows, columns = got.shape
    first_of_tile = np.arange(rows) // _ROWS * _ROWS
    starts = np.arange(columns) % _TILE
    adds = any(event.op == "Axpy" for event in vector_instructions(result))
    overwritten = (
        "dx is set to 0 in the loop over the outputs; set it before the loop"
        if adds
        else "each term replaces the previous one; Axpy adds to its destination"
    )
    in_first_row = np.zeros_like(got)
    np.add.at(in_first_row, first_of_tile, dy @ weight)
    known = [
        (dy[:, -1:] * weight[-1], f"dx has the last row of W alone: {overwritten}"),
        (dy[:, :1] * weight[0], "dx has the first row of W alone: the sum runs over all outs_ rows"),
        (dy[:, :-1] @ weight[:-1], "the last row of W is not in the sum: `out` runs up to and including outs_ - 1"),
        (dy[:, 1:] @ weight[1:], "row 0 of W is not in the sum: `out` begins at 0"),
        (np.broadcast_to(weight.sum(axis=0), got.shape), "this is the sum of the rows of W: dy is not in it"),
        (
            (dy @ weight)[first_of_tile],
            "all rows of a tile are equal, with the dy of the first row: row `row` of dx needs Dy(row, out)",
        ),
        (
            in_first_row,
            "the terms of all rows of a tile went to its first row: row `row` of the tile begins at dx[row * kTile]",
        ),
        ((dy @ weight)[:, starts], "every tile has the first columns of W: a tile begins at column `at`"),
        (2 * (dy @ weight), "each term is added twice"),
        (
            _products(dy) @ weight,
            "the rows of a tile depend on each other: a piece of W was multiplied where it lies, and the next row "
            "takes what is left of it",
        ),
        (_turned(dy, weight), "CopyWeight takes the row of W first, which is the output, then the column"),
    ]
    for values, words in known:
        if not np.allclose(values, case.expected["dx"], rtol=1e-3) and np.allclose(got, values, rtol=1e-4, atol=1e-4):
            return words
    return None


def _products(dy: np.ndarray) -> np.ndarray:
    """Return each row of dy multiplied by the rows before it in its tile."""
    tiles = [np.cumprod(dy[first : first + _ROWS], axis=0) for first in range(0, len(dy), _ROWS)]
    return np.concatenate(tiles)


def _turned(dy: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return dx if the pieces of W begin at row 0 and column `out`; for one tile of columns."""
    columns = weight.shape[1]
    flat = np.append(weight.reshape(-1), np.zeros(len(weight)))
    return dy @ np.stack([flat[out : out + columns] for out in range(len(weight))])


def _as_asked(case: KernelCase, result: Result) -> str | None:
    """Check what the numbers do not show: which unit adds, how much of a tile, and how often W comes in."""
    rows, columns = case.expected["dx"].shape
    outs = int(case.numbers["outs"])
    tiles = -(-columns // _TILE)
    terms = rows * outs * tiles
    if result.tally.scalar > 2 * terms + rows * columns // 2:
        return (
            f"the numbers are right, by {result.tally.scalar} scalar accesses: the scalar unit reads dy, and the "
            "vector unit adds n numbers at a time"
        )
    seen = vector_instructions(result)
    # Instructions on one row. Duplicate is not one: it may clear all rows at once, and the gaps between them.
    by_row = [event for event in seen if event.op in ("Axpy", "Add", "Muls")]
    worst = next((event for event in by_row if event.lanes > min(columns, _TILE)), None)
    if worst is not None:
        return (
            f"the numbers are right, but {worst.op} works on {worst.lanes} numbers of a row that has {columns}: what "
            "lies behind the n numbers of a tile was not written for it"
        )
    adds = sum(event.op == "Axpy" for event in seen)
    recorded = len(result.trace.blocks) if result.trace else 0
    if recorded == case.blocks and adds > terms:
        return (
            f"the numbers are right, with {adds} Axpy where {terms} add all terms: the last tile has count_ rows, and "
            "that may be fewer than kRows"
        )
    return _traffic(case, result)


def _traffic(case: KernelCase, result: Result) -> str | None:
    rows, weight = case.expected["dx"].shape[0], case.inputs["weight"].nbytes
    came = result.tally.bytes_in - case.inputs["dy"].nbytes
    tiles = -(-rows // _ROWS)
    if came <= tiles * weight:
        return None
    return (
        f"the numbers are right, but {came} bytes of W come in, where {tiles * weight} are enough: a piece of W comes "
        f"again for each row. While it lies in the Unified Buffer it serves all {min(rows, _ROWS)} rows of the tile"
    )


def _never_filled(case: KernelCase, found: Diagnostic) -> str:
    op, role = str(found.fields.get("op", "")), found.fields.get("role")
    if op.startswith("DataCopy"):
        return (
            "the way out finds places of the tile that nobody wrote: it has count_ rows, and row `row` of them begins "
            "at dx[row * kTile]"
        )
    if op == "GetValue":
        missing = "a number of dy is read that was not copied in"
        if case.numbers["rows"] % _ROWS == 0:
            return f"{missing}: Dy takes the row of the tile first, then the output"
        return f"{missing}: the last tile has count_ rows, and that may be fewer than kRows"
    # For an instruction that also reads its destination, the first source is the destination.
    if role in ("dst", "src0"):
        return "a term is added to old data: AllocTensor clears nothing, so set n numbers of each row to 0"
    return "more numbers are read than were copied in: a piece of W has n of them"


_FREED_EARLY = "FreeTensor gives the piece back: it belongs after the loop over the rows that use it"

CHECK = KernelChecker(
    _cases,
    # Float32 sums of at most 60 terms, none of which cancel by much.
    rtol=2e-5,
    atol=2e-5,
    symptoms=(_which_sum,),
    demands=(_as_asked,),
    faults={
        "ub-never-written": _never_filled,
        "ub-stale": _never_filled,
        "ub-misaligned": "a row of the tile begins at row * kTile, which is a whole number of 32-byte blocks",
        "ub-use-after-free": _FREED_EARLY,
        # For a FreeTensor in each row: if later rows only read what is still there, the second FreeTensor fails.
        "queue-wrong-state": _FREED_EARLY,
        "queue-empty": "DeQue finds nothing: CopyWeight requests a piece of W, and each DeQue needs one",
        "queue-no-free-buffer": "CopyWeight finds no free buffer: FreeTensor gives the piece back after its use",
        "queue-depth": "two pieces of W wait in the queue, which has room for one: DeQue before the next CopyWeight",
        "ub-out-of-bounds": "an instruction goes past the end of its tile: it has kRows rows of kTile numbers",
        "gm-out-of-bounds": _PAST_W,
        "gm-beyond-declared-size": _PAST_W,
    },
    auto_sync=True,
    traced=True,
)
