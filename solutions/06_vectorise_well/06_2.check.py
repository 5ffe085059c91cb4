"""06.2: a sigmoid of half numbers. The messages say which formula came out, and which instructions ran."""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.trace import Kind, Pipe, Space
from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.launch_facts import from_basic_instructions
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.operators.result import Result

_TILE = 1024  # kTile of the kernel

_HALF = 2  # bytes

_REPEAT = 128  # halves of one repeat, 256 bytes

_LARGEST_HALF_LOG = np.log(65504.0)


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
            (1 / (1 + grown), "this is the sigmoid of -x: change the sign of x before the exponential"),
            (1 + shrunk, "this is 1 + exp(-x): divide one by it, not the other way round"),
            (grown, "this is 1 / exp(-x): add one to the exponential before the division"),
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
            f"y[{at}] is 0, for x = {x[at]:g}, but a half could hold {want[at]:.3g}: exp({-x[at]:g}) is larger than "
            "65504, the largest half. Compute in float"
        )
    return None


def _whole_tail(case: KernelCase, result: Result) -> str | None:
    """Recognise an instruction that works beyond the end of a short tile; no number shows it, as none is copied out."""
    for events in result.trace.blocks.values() if result.trace else ():
        came: list[int] = []  # elements of each copy so far; the instruction's tile is the last or the one before
        for event in events:
            if event.kind is Kind.COPY and event.pipe is Pipe.MTE2:
                came.append(sum(one.bytes for one in event.operands if one.space is Space.GM) // _HALF)
            # Duplicate may fill a whole buffer beforehand. Other instructions may complete a repeat.
            elif came and event.kind is Kind.VECTOR and event.op != "Duplicate":
                most = -(-max(came[-2:]) // _REPEAT) * _REPEAT
                if event.lanes > most:
                    return (
                        f"the numbers are right, but {event.op} works on {event.lanes} elements where the tile has "
                        f"{came[-1]}: give it count, not kTile"
                    )
    return None


def _which_are_missing(result: Result) -> str | None:
    holes = unwritten(result["y"])
    if holes.all():
        return None
    return (
        f"{int(holes.sum())} of {holes.size} elements were never written ({spots('y', holes)}): the last tile of a "
        "share is shorter than kTile, but must be processed too"
    )


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


def _never_written(case: KernelCase, found: Diagnostic) -> str:
    del case
    if str(found.fields.get("op", "")).startswith("DataCopy"):
        return "CopyOut copies out a tile into which Compute wrote nothing: the last step of Compute is the Cast into y"
    return "an instruction reads data that were never written"


#: One step of the smallest half numbers: below 6e-5 they do not come closer together.
_HALF_STEP = 2.0**-24


def _sigmoid_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 1037: a tile and a tail, first, so that a tail that is left out is seen as one. 13: less than a 32-byte block.
    # 2048: whole tiles. Then tails in every core's share.
    shapes = [(1037, 1), (16, 1), (13, 1), (2048, 1), (5000, 2)]
    shapes += [(int(rng.integers(4000, 9000)), int(rng.integers(3, 9))) for _ in range(2)]
    return [_sigmoid_case(rng, n, blocks) for n, blocks in shapes]


def _sigmoid_case(rng: np.random.Generator, n: int, blocks: int) -> KernelCase:
    x = (rng.standard_normal(n) * 3 + 0.4).astype(np.float16)
    # Values for which a half overflows on the way, or a float does, and the largest halves of both signs.
    ends = np.array([-12, 7.5, -13.5, 100, -100, 0, -65504, 65504], np.float16)
    x[: ends.size] = ends
    with np.errstate(over="ignore"):
        y = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float16)
    label = f"{n} halves on {blocks} block{'s' * (blocks > 1)}, tiles of {_TILE}"
    return KernelCase(label, {"x": x}, {"n": n}, {"y": y}, blocks)


CHECK = KernelChecker(
    _sigmoid_cases,
    # Two steps of a half, or two of the smallest ones. A demand checks for the nearest half.
    rtol=2.0**-9,
    atol=2 * _HALF_STEP,
    symptoms=(_which_formula,),
    demands=(from_basic_instructions, _rounded_to_nearest, _whole_tail),
    faults={
        "gm-out-of-bounds": "the last tile is treated as if it were full, beyond the end of the array",
        "gm-beyond-declared-size": "the last tile is treated as if it were full, beyond the end of the array",
        "ub-out-of-bounds": "a tile is longer than its buffer",
        "ub-never-written": _never_written,
        "race-blocks": "two cores write the same part of y: the share of a core begins at begin_ and ends before end_",
    },
    auto_sync=True,
    options=TwinOptions(approximate="documented"),
    traced=True,
)
