"""06.1: a sigmoid of half numbers. 06.2: one reduction a row. 06.3: how much step 4 of GroupNorm saves."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.check_kernel import KernelCase, KernelChecker, unwritten
from gn_tutorial.check_predict import PredictChecker, Question
from gn_tutorial.exercise_numbers import spots
from gn_tutorial.kernel import kernel
from gn_tutorial.options import TwinOptions
from gn_tutorial.profile import Profile, profile
from gn_tutorial.result import Result
from gn_tutorial.trace import Event, Kind, Pipe

_SIGMOID_TILE = 1024  # kTile of the exercises' kernels
_TILE = 256
#: One step of the smallest half numbers: below 6e-5 they do not come closer together.
_HALF_STEP = 2.0**-24
_LARGEST_HALF_LOG = np.log(65504.0)


def _instructions(result: Result) -> list[Event]:
    """The vector instructions of the recorded blocks."""
    blocks = result.trace.blocks.values() if result.trace else ()
    return [event for events in blocks for event in events if event.kind is Kind.VECTOR]


def _sigmoid_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 1037: a tile and a tail, first, so that a tail that is left out is seen as one. 13: less than a 32-byte block.
    # 2048: whole tiles. Then tails in every core's share.
    shapes = [(1037, 1), (16, 1), (13, 1), (2048, 1), (5000, 2)]
    shapes += [(int(rng.integers(4000, 9000)), int(rng.integers(3, 9))) for _ in range(2)]
    return [_sigmoid_case(rng, n, blocks) for n, blocks in shapes]


def _sigmoid_case(rng: np.random.Generator, n: int, blocks: int) -> KernelCase:
    x = (rng.standard_normal(n) * 3 + 0.4).astype(np.float16)
    # Where a half runs out on the way, where a float does, and the ends of what a half can hold.
    ends = np.array([-12, 7.5, -13.5, 100, -100, 0, -65504, 65504], np.float16)
    x[: ends.size] = ends
    with np.errstate(over="ignore"):
        y = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float16)
    label = f"{n} halves on {blocks} block{'s' * (blocks > 1)}, tiles of {_SIGMOID_TILE}"
    return KernelCase(label, {"x": x}, {"n": n}, {"y": y}, blocks)


def _which_formula(case: KernelCase, result: Result) -> str | None:
    x, got = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    if unwritten(result["y"]).any():
        return _which_are_missing(result)
    if np.isnan(got).any():
        at = int(np.flatnonzero(np.isnan(got))[0])
        return (
            f"y[{at}] is not a number, for x = {x[at]:g}: an exponential is infinite there, and infinity is divided by "
            "infinity. The form 1 / (1 + exp(-x)) has only one exponential"
        )
    with np.errstate(over="ignore"):
        grown, shrunk = np.exp(x), np.exp(-x)
        known = [
            (1 / (1 + grown), "this is the sigmoid of -x: the sign of x has to change before the exponential"),
            (1 + shrunk, "this is 1 + exp(-x): one is divided by it, and not the other way round"),
            (grown, "this is 1 / exp(-x): one has to be added to the exponential before the division"),
            (shrunk, "this is exp(-x) alone"),
        ]
    for values, words in known:
        with np.errstate(over="ignore"):
            if np.allclose(got, values.astype(np.float16).astype(np.float64), rtol=4e-3, atol=2e-3):
                return words
    want = case.expected["y"].astype(np.float64)
    lost = (got == 0) & (want > 0) & (-x > _LARGEST_HALF_LOG)
    if lost.any():
        at = int(np.flatnonzero(lost)[0])
        return (
            f"y[{at}] is 0, for x = {x[at]:g}, and a half could hold {want[at]:.3g}: exp({-x[at]:g}) is larger than "
            "65504, the largest half. Compute in float"
        )
    return None


def _which_are_missing(result: Result) -> str | None:
    holes = unwritten(result["y"])
    if holes.all():
        return None
    return (
        f"{int(holes.sum())} of {holes.size} elements were never written ({spots('y', holes)}): the last tile of a "
        "share is shorter than kTile, and has to be taken too"
    )


def _from_basic_instructions(case: KernelCase, result: Result) -> str | None:
    used = {event.op for event in _instructions(result)}
    whole = sorted(used & {"Sigmoid", "Silu", "Swish", "Tanh", "SwiGLU", "Gelu", "SoftMax"})
    if whole:
        return f"{whole[0]} does the work of the whole task, and that is not accepted: write it with basic instructions"
    if "Reciprocal" in used:
        return (
            "Reciprocal is only approximate on the device: its error exceeds 1/10000 for float. Divide by Div, with "
            "an array of ones"
        )
    if result.tally.scalar >= case.inputs["x"].size:
        return "the scalar unit touches every element: use the instructions of the vector unit, in their count form"
    return None


def _rounded_to_nearest(case: KernelCase, result: Result) -> str | None:
    off = result["y"].astype(np.float64) - case.expected["y"].astype(np.float64)
    missed = float(np.mean(off != 0))
    # In float an error of 1e-7 moves one result in some thousand to the other side of a tie.
    if off.size < 1000 or missed < 0.05:
        return None
    if (off <= 0).all() or (off >= 0).all():
        side = "below" if (off <= 0).all() else "above"
        return (
            f"{missed:.0%} of the results lie {side} the nearest half number, none on the other side: the last Cast "
            "does not round to the nearest"
        )
    return (
        f"{missed:.0%} of the results are not the nearest half number: compute in float, and round to the nearest, once"
    )


SIGMOID = KernelChecker(
    _sigmoid_cases,
    # Two steps of a half, or two of the smallest ones. Whether it is the nearest half is a demand.
    rtol=2.0**-9,
    atol=2 * _HALF_STEP,
    symptoms=(_which_formula,),
    demands=(_from_basic_instructions, _rounded_to_nearest),
    faults={
        "gm-out-of-bounds": "the last tile is taken as if it were full, beyond the end of the array",
        "gm-beyond-declared-size": "the last tile is taken as if it were full, beyond the end of the array",
        "ub-out-of-bounds": "a tile is longer than its buffer",
        "ub-never-written": "an instruction reads what nobody wrote",
    },
    auto_sync=True,
    options=TwinOptions(approximate="documented"),
    traced=True,
)


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


def _lane_sums(row: np.ndarray, power: int) -> np.ndarray:
    """What an accumulator holds after a row."""
    padded = np.zeros(-(-row.size // _TILE) * _TILE)
    padded[: row.size] = row**power
    return padded.reshape(-1, _TILE).sum(axis=0)


def _which_lanes(case: KernelCase, result: Result) -> str | None:
    x, got = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    rows, length = x.shape
    tail = length % _TILE or _TILE
    sums = np.array([_lane_sums(row, 2) for row in x])
    cores = case.blocks
    tiles = np.array([np.add.reduceat(row**2, range(0, length, _TILE)) for row in x])
    running = np.array(
        [sum(sums[before].sum() for before in range(row % cores, row + 1, cores)) for row in range(rows)]
    )
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
            "a row holds the rows before it too: the accumulator is set to 0 once, and not for each row",
        ),
        (
            sums[:, :tail].sum(axis=1) / length,
            f"only the first {tail} sums of the accumulator were reduced: the last tile has {tail} elements, and the "
            "accumulator has more",
        ),
        (
            tiles.cumsum(axis=1).sum(axis=1) / length,
            "the first tiles count several times: the accumulator is reduced in the loop, and has to be behind it",
        ),
        (x[:, -tail:] ** 2 @ np.ones(tail) / length, "only the last tile is in the sum: it starts again at each tile"),
    ]
    for values, words in known:
        if not np.allclose(values, case.expected["y"], rtol=1e-3) and np.allclose(got, values, rtol=1e-4):
            return words
    return None


def _one_reduction(case: KernelCase, result: Result) -> str | None:
    rows, length = case.inputs["x"].shape
    if result.tally.bytes_in < case.inputs["x"].nbytes:
        return "the numbers are right, but x does not come through the Unified Buffer"
    # Two for a row: its sum, and the SetValue of Write.
    lanes = min(length, _TILE)
    if result.tally.scalar > 3 * rows and result.tally.scalar >= rows * lanes // 2:
        return (
            f"{result.tally.scalar} scalar accesses for {rows} rows: the scalar unit adds up the accumulator. "
            "ReduceSum does that in the vector unit"
        )
    reductions = sum("Reduce" in event.op for event in _instructions(result))
    recorded = len(result.trace.blocks) if result.trace else 0
    if recorded < case.blocks or reductions <= rows:
        return None
    waits = result.tally.scalar - rows
    if waits <= rows:
        return (
            f"{reductions} reductions for {rows} rows. The scalar unit waits once for a row now, but each tile is "
            "still reduced: add its squares to the accumulator instead"
        )
    return (
        f"the numbers are right, with {reductions} reductions for {rows} rows, and the scalar unit waits for each: one "
        "reduction for a row is enough"
    )


REDUCE_ONCE = KernelChecker(
    _row_cases,
    # Float32 sums of at most 1500 squares, in lanes of six and then a tree: some roundings of 6e-8.
    rtol=1e-5,
    atol=1e-6,
    symptoms=(_which_lanes,),
    demands=(_one_reduction,),
    faults={
        "ub-never-written": "an instruction reads what nobody wrote, behind the end of a tile or of the accumulator, "
        "or before it was set to 0",
        "gm-out-of-bounds": "the last tile of a row reads past the end of x",
        "gm-beyond-declared-size": "the last tile of a row reads past the end of x",
        "ub-out-of-bounds": "an instruction goes past the end of a buffer of kTile floats",
    },
    auto_sync=True,
    traced=True,
)


_SHAPE, _GROUPS, _MACHINE = (10, 32, 100, 100), 4, "910B3"  # as the exercise's text says


@functools.cache
def _step(name: str) -> Profile:
    x = np.ones(_SHAPE, np.float32)
    return profile(f"group_norm/{name}", x, num_groups=_GROUPS, blocks=40, machine=_MACHINE)


def _reductions(name: str) -> int:
    """Of one group: every core has one."""
    return sum("Reduce" in event.op for event in _step(name).trace.blocks[0])


_ADDS = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void adds(int32_t n, int32_t at_once) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2 * 6400 * sizeof(float));
  AscendC::LocalTensor<float> a = buffer.Get<float>(), b = a[6400];
  AscendC::Duplicate(a, 1.5f, 6400);
  for (int32_t i = 0; i < n; i += at_once) AscendC::Adds(b[i], a[i], 1.5f, at_once);
}
"""


@functools.cache
def _adds_cycles(at_once: int) -> float:
    """Cycles of V for 6400 floats, so many at once."""
    found = profile(kernel(source=_ADDS), 6400, at_once, blocks=1, machine=_MACHINE)
    return sum(span.cycles for span in found.timeline.of(0, Pipe.V) if span.op == "Adds")


FEWER = PredictChecker(
    (
        Question(
            "reductions_step3",
            "reductions of one group in step 3",
            lambda: _reductions("double_buffered"),
            {
                14: "That is one pass; both sums reduce each tile",
                26: "80000 / 6144 is a little more than 13; the tail is a tile too",
                13: "That is one pass, and without the tail",
                27: "Each of the two passes has a tail",
                1120: "That is all 40 groups; one is asked for",
                42: "The third pass writes the result, and reduces nothing",
            },
        ),
        Question(
            "reductions_step4",
            "reductions of one group in step 4",
            lambda: _reductions("vectorised"),
            {
                2: "The two accumulators are; and where does the pivot come from?",
                1: "There are two sums, and the pivot",
                14: "That is one for each tile: step 4 adds tiles to its accumulators",
                28: "That is two for each tile: step 4 adds tiles to its accumulators",
                120: "That is all 40 groups; one is asked for",
            },
        ),
        Question(
            "bytes_in_step4",
            "bytes that the copies of step 4 bring into the Unified Buffers, all groups together",
            lambda: _step("vectorised").tally.bytes_in,
            {
                12_800_000: "That is x once: for the statistics. And for the result?",
                38_400_000: "That is x three times, as in step 3; both sums come from one pass now",
                6_400_000: "That is in floats; a float has 4 bytes",
                640_000: "That is one group; there are 40",
            },
        ),
        Question(
            "copies_in_step4",
            "copies from global memory into the Unified Buffer in step 4, of one group",
            lambda: _step("vectorised").tally.mte2 // 40,
            {
                28: "In the last pass a tile never reaches into the next channel, unless it holds whole channels",
                14: "That is the first pass; the last one brings x once more",
                22: "A channel has 10000 elements: it does not fit into a tile",
                44: "Both sums come from one pass",
                16: "That is the last pass; the first one brings x too",
            },
        ),
        Question(
            "hundred_cycles",
            "modelled cycles of V for 100 instructions Adds on 64 floats each; 4 % more or less is right",
            lambda: _adds_cycles(64),
            {
                122.0: "That is one instruction on 6400 floats; here are 100, and each pays its fixed cycles",
                100.0: "That is the repeats alone; each instruction has 22 fixed cycles as well",
                2200.0: "That is the fixed cycles alone; each instruction has a repeat as well",
            },
            within=0.04,
        ),
        Question(
            "one_cycles",
            "modelled cycles of V for one Adds on 6400 floats; 5 % more or less is right",
            lambda: _adds_cycles(6400),
            {
                2300.0: "It is one instruction: its fixed cycles are paid once",
                100.0: "That is the repeats alone; the instruction has 22 fixed cycles as well",
                6422.0: "A repeat takes 64 floats at once",
                23.0: "That is one repeat; 6400 floats are 100",
            },
            within=0.05,
        ),
    )
)
