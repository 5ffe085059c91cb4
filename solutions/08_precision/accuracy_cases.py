"""What the checks of 08.1 to 08.3 share: rows without symmetry, and outputs held to the accuracy standard.

The standard is MERE and MARE against float64. No |golden| lies near zero: there the last
bit of a right result could decide.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import accuracy
from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker, Symptom, by_scalars
from gn_tutorial.operators.result import Result

#: Two results of one formula in different precision agree so far; different formulas do not.
_SAME = 1e-3


def first_missed_row(case: KernelCase, result: Result, name: str) -> int | None:
    """The first row in which an output misses the standard, if any."""
    got, golden = result[name], case.golden[name]
    rows = (row for row in range(len(golden)) if not accuracy(got[row : row + 1], golden[row : row + 1]).ok)
    return next(rows, None)


def alike(got: np.ndarray, values: np.ndarray, rtol: float = _SAME) -> bool:
    """Whether all numbers are finite and agree with ``values``."""
    return bool(np.isfinite(got).all() and np.allclose(got, values, rtol=rtol, atol=0))


#: The label of the last case, which has enough rows and sizes to judge the rounding of y.
ALL_SIZES = "each row another size"

_NOBODY_WROTE = {
    "ub-never-written": "an instruction reads data that were never written",
    "ub-out-of-bounds": "an instruction goes past the end of its buffer",
    "gm-out-of-bounds": "the kernel reads or writes past the end of an array",
    "race-read-after-write": "a pipe reads what another one may still be writing; the scalar unit needs a Sync before "
    "GetValue",
}


def lopsided(rng: np.random.Generator, rows: int, length: int) -> np.ndarray:
    """Return numbers on both sides of 0, none near it, two thirds above it: no symmetry, and no result near zero."""
    above = rng.uniform(0.4, 1.0, (rows, length))
    below = -rng.uniform(0.6, 2.4, (rows, length))
    # Both kinds in every row, however short it is.
    return np.where((np.arange(length) + rng.integers(3)) % 3 < 2, above, below)


def accuracy_case(
    label: str,
    inputs: Mapping[str, np.ndarray],
    eps: float,
    golden: Mapping[str, np.ndarray],
    dtypes: Mapping[str, str],
) -> KernelCase:
    """The case of one x on at most two cores; ``golden`` has the outputs in float64, ``dtypes`` their types."""
    rows, length = inputs["x"].shape
    with np.errstate(over="ignore"):
        expected = {name: values.astype(dtypes[name]) for name, values in golden.items()}
    blocks = min(rows, 2)
    numbers = {"rows": rows, "length": length, "eps": eps}
    text = f"{label}: {rows} row{'s' * (rows > 1)} of {length} on {blocks} core{'s' * (blocks > 1)}, eps {eps:g}"
    return KernelCase(text, inputs, numbers, expected, blocks, golden=golden)


def statistics(x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y without gamma and beta, mean and rstd of each row, in float64."""
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1)
    rest = wide - mean[:, None]
    rstd = 1 / np.sqrt(np.square(rest).mean(axis=1) + float(np.float32(eps)))
    return rest * rstd[:, None], mean, rstd


def _by_vector_unit(case: KernelCase, result: Result) -> str | None:
    return by_scalars(result, case.inputs["x"].size + 12 * case.inputs["x"].shape[0])


def rounded_to_nearest(case: KernelCase, result: Result) -> str | None:
    """Return a complaint unless nearly every y is the half nearest to golden; the standard's T allows two such errors.

    Only in the last case: a kernel that rounds on the way fails an earlier case, whose message says more.
    """
    if not case.label.startswith(ALL_SIZES):
        return None
    golden = case.golden["y"]
    off = result["y"].astype(np.float64) - golden.astype(np.float16).astype(np.float64)
    missed = float(np.mean(off != 0))
    if missed < 0.05:
        return None
    toward = {"nearer to zero than": off * np.sign(golden) <= 0, "below": off <= 0, "above": off >= 0}
    found = accuracy(result["y"], golden)
    side = next((name for name, sides in toward.items() if sides.all()), "")
    if side:
        return (
            f"the accuracy standard is kept (MERE is {found.mere / found.standard.unit:.2f} T), but {missed:.0%} of y "
            f"lie {side} the nearest half, none on the other side: the last Cast does not round to the nearest, and a "
            "mean over y would show it"
        )
    return f"the accuracy standard is kept, but {missed:.0%} of y are not the nearest half: round once, at the end"


def _missing(case: KernelCase, result: Result) -> str | None:
    """Return a complaint about elements that were never written, which would hide any other mistake."""
    for name in case.expected:
        holes = unwritten(result[name].reshape(-1))
        if holes.all():
            return f"{name} was never written: the kernel copies nothing out"
        if holes.any():
            return f"part of {name} was never written: {spots(name, holes)}"
    return None


def accuracy_checker(cases: object, words: Symptom, *demands: Symptom) -> KernelChecker:
    """Return the checker of one exercise. words: recognises what is wrong with the numbers."""
    return KernelChecker(
        cases,  # type: ignore[arg-type]
        rtol=0.0,  # every output has a golden
        atol=0.0,
        symptoms=(_missing, words),
        demands=(_by_vector_unit, *demands),
        faults=_NOBODY_WROTE,
        auto_sync=True,
        options=TwinOptions(approximate="documented"),
    )
