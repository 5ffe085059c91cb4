"""06.1: one reduction a row. The messages say what the accumulator held, and how often S waited."""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Kind
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.launch_facts import vector_instructions
from gn_tutorial.operators.result import Result

_TILE = 256  # kTile of the kernel

_OVERWRITES = "{} into acc_, so each tile overwrites the sum of the previous ones"


def _lane_sums(row: np.ndarray, power: int) -> np.ndarray:
    """Return what an accumulator holds after a row."""
    padded = np.zeros(-(-row.size // _TILE) * _TILE)
    padded[: row.size] = row**power
    return padded.reshape(-1, _TILE).sum(axis=0)


def _last_lanes(row: np.ndarray) -> float:
    """Return the sum of an accumulator in which each tile overwrote the previous one, as far as it reaches."""
    lanes = np.zeros(min(row.size, _TILE))
    for at in range(0, row.size, _TILE):
        lanes[: min(_TILE, row.size - at)] = row[at : at + _TILE]
    return float(lanes.sum())


def _which_lanes(case: KernelCase, result: Result) -> str | None:
    x, got = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    rows, length = x.shape
    tail = length % _TILE or _TILE
    sums = np.array([_lane_sums(row, 2) for row in x])
    cores, duplicates = (case.blocks, sum(event.op == "Duplicate" for event in vector_instructions(result)))
    tiles = np.array([np.add.reduceat(row**2, range(0, length, _TILE)) for row in x])
    running = np.array(
        [sum(sums[before].sum() for before in range(row % cores, row + 1, cores)) for row in range(rows)]
    )
    overwritten, both = (np.array([_last_lanes(row) for row in values]) for values in (x**2, x**2 + x))
    known = [
        (sums.sum(axis=1), "this is the sum of the squares: divide it by the length of the row"),
        (
            (np.array([_lane_sums(row, 1) for row in x])).sum(axis=1) / length,
            "this is the mean of x, not of its square",
        ),
        (
            np.array([(_lane_sums(row, 1) ** 2).sum() for row in x]) / length,
            "the sums were squared: each element is squared first, and then added",
        ),
        (
            running / length,
            "each result contains the previous rows too: set the accumulator to 0 for each row, not only once",
        ),
        (
            sums[:, :tail].sum(axis=1) / length,
            f"only the first {tail} sums of the accumulator were reduced: the last tile has {tail} elements, and the "
            "accumulator has more",
        ),
        (
            tiles.cumsum(axis=1).sum(axis=1) / length,
            "the first tiles count several times: reduce the accumulator after the loop, not in it",
        ),
        (
            overwritten / length,
            "the first sums of the accumulator are set to 0 for each tile: it has to be set for each row"
            if duplicates > rows
            else _OVERWRITES.format("Mul writes"),
        ),
        (
            2 * overwritten / length,
            _OVERWRITES.format("Add(acc_, x, x, ...) writes twice") + ": its first input has to be acc_",
        ),
        (both / length, _OVERWRITES.format("Mul writes") + ", and x itself is added to them"),
        ((sums.sum(axis=1) + min(length, _TILE)) / length, "each sum of the accumulator begins with 1: set it to 0"),
        (2 * sums.sum(axis=1) / length, "each tile is added twice"),
        (x[:, -tail:] ** 2 @ np.ones(tail) / length, "only the last tile is in the sum: it starts again at each tile"),
    ]
    if not got.any():
        return "y is 0: nothing was added to the accumulator, or it was multiplied, and then 0 stays 0"
    for values, words in known:
        if not np.allclose(values, case.expected["y"], rtol=1e-3) and np.allclose(got, values, rtol=1e-4):
            return words
    return None


def _one_reduction(case: KernelCase, result: Result) -> str | None:
    rows, length = case.inputs["x"].shape
    if result.tally.bytes_in < case.inputs["x"].nbytes:
        return "the numbers are right, but x does not come through the Unified Buffer"
    # A row needs two accesses: the GetValue of its sum, and the SetValue of Write.
    lanes = min(length, _TILE)
    if result.tally.scalar > 3 * rows and result.tally.scalar >= rows * lanes // 2:
        return (
            f"{result.tally.scalar} scalar accesses for {rows} rows: the scalar unit adds up the accumulator. "
            "ReduceSum does that in the vector unit"
        )
    recorded = len(result.trace.blocks) if result.trace else 0
    if recorded < case.blocks:
        return None
    reductions = sum("Reduce" in event.op for event in vector_instructions(result))
    if reductions <= rows:
        return _needless_waits(case, result)
    waits = result.tally.scalar - rows
    if waits <= rows:
        return (
            f"{reductions} reductions for {rows} rows. The scalar unit now waits once per row, but each tile is "
            "still reduced: add its squares to the accumulator instead"
        )
    return (
        f"the numbers are right, but there are {reductions} reductions for {rows} rows, and the scalar unit waits for "
        "each: one reduction per row is enough"
    )


def _needless_waits(case: KernelCase, result: Result) -> str | None:
    """Recognise a number that S reads, or a wait for V, in the loop: it waits as often as with a reduction a tile."""
    rows, said = (len(case.inputs["x"]), "the numbers are right, and each row is reduced once, but the scalar unit")
    if result.tally.scalar > 2 * rows:
        return (
            f"{said} reads {result.tally.scalar - rows} numbers for {rows} rows: one GetValue per row is enough, "
            "after the loop"
        )
    blocks = result.trace.blocks.values() if result.trace else ()
    waits = sum(event.kind is Kind.WAIT_FLAG and event.flag == "V_S" for events in blocks for event in events)
    if waits > rows:
        return f"{said} waits for V {waits} times for {rows} rows: Sync<V_S> belongs after the loop"
    return None


def _row_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 8 and 13: less than a tile. 256: one. 300, 777: tiles and a tail. Several rows: an accumulator begins anew.
    shapes = [(2, 8, 1), (3, 13, 1), (2, 256, 1), (3, 300, 2), (5, 777, 2)]
    shapes += [(int(rng.integers(3, 8)), int(rng.integers(520, 1500)), int(rng.integers(1, 4))) for _ in range(2)]
    return [_row_case(rng, *shape) for shape in shapes]


def _row_case(rng: np.random.Generator, rows: int, length: int, cores: int) -> KernelCase:
    x = rng.standard_normal((rows, length)) * np.linspace(1, 2, length) + np.arange(1, rows + 1)[:, None]
    x = x.astype(np.float32)
    label = f"{rows} rows of {length} floats on {cores} core{'s' * (cores > 1)}, tiles of {_TILE}"
    y = (x.astype(np.float64) ** 2).mean(axis=1).astype(np.float32)
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"y": y}, cores)


CHECK = KernelChecker(
    _row_cases,
    # Float32 sums of at most 1500 squares, in lanes of six and then a tree: some roundings of 6e-8.
    rtol=1e-5,
    atol=1e-6,
    symptoms=(_which_lanes,),
    demands=(_one_reduction,),
    faults={
        "ub-never-written": "an instruction reads data that were never written: after the end of a tile or of the "
        "accumulator, or before it was set to 0",
        "gm-out-of-bounds": "the last tile of a row reads past the end of x",
        "gm-beyond-declared-size": "the last tile of a row reads past the end of x",
        "ub-out-of-bounds": "an instruction goes past the end of a buffer of kTile floats",
    },
    auto_sync=True,
    traced=True,
)
