"""08.1: squares and sums in half. 08.2: a variance far from zero. 08.3: statistics kept in half.

All outputs are held to the accuracy standard, MERE and MARE against float64. No |golden| lies near zero: there the last
bit of a right result could decide.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import accuracy
from gn_tutorial.compare.elements import spots
from gn_tutorial.course.exercises.cases.precision_messages import far_message, half_message, rms_message
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker, Symptom, by_scalars, unwritten
from gn_tutorial.operators.result import Result

#: The last case: enough rows and sizes to judge the rounding of y.
_ALL_SIZES = "each row another size"
_NOBODY_WROTE = {
    "ub-never-written": "an instruction reads data that were never written",
    "ub-out-of-bounds": "an instruction goes past the end of its buffer",
    "gm-out-of-bounds": "the kernel reads or writes past the end of an array",
    "race-read-after-write": "a pipe reads what another one may still be writing; the scalar unit needs a Sync before "
    "GetValue",
}


def lopsided(rng: np.random.Generator, rows: int, length: int) -> np.ndarray:
    """Numbers around 0 with a gap there, two thirds of them above it: no symmetry, and no result near zero."""
    above = rng.uniform(0.4, 1.0, (rows, length))
    below = -rng.uniform(0.6, 2.4, (rows, length))
    # Both kinds in every row, however short it is.
    return np.where((np.arange(length) + rng.integers(3)) % 3 < 2, above, below)


def _case(
    label: str,
    inputs: Mapping[str, np.ndarray],
    eps: float,
    golden: Mapping[str, np.ndarray],
    dtypes: Mapping[str, str],
) -> KernelCase:
    rows, length = inputs["x"].shape
    with np.errstate(over="ignore"):
        expected = {name: values.astype(dtypes[name]) for name, values in golden.items()}
    blocks = min(rows, 2)
    numbers = {"rows": rows, "length": length, "eps": eps}
    text = f"{label}: {rows} row{'s' * (rows > 1)} of {length} on {blocks} core{'s' * (blocks > 1)}, eps {eps:g}"
    return KernelCase(text, inputs, numbers, expected, blocks, golden=golden)


def _rms_cases(rng: np.random.Generator) -> list[KernelCase]:
    # In this order: each asks for one more thing to be float.
    hidden = int(rng.integers(2, 6)), int(rng.integers(300, 1900))
    return [
        _rms_case("around 1", lopsided(rng, 3, 37), 0.02),
        _rms_case("a sum above 65504", 12 * lopsided(rng, 2, 1700), 1e-5),
        _rms_case("squares above 65504", _spiky(rng, 2, 700), 1e-5),
        _rms_case("large throughout", 9000 * lopsided(rng, 3, 211), 1e-5),
        _rms_case("small throughout", 2e-4 * lopsided(rng, 3, 211), 1e-12),
        _rms_case("very small", 8e-6 * lopsided(rng, 2, 130), 1e-14),
        _rms_case("one element a row", 300 * lopsided(rng, 5, 1), 1e-5),
        _rms_case(_ALL_SIZES, lopsided(rng, *hidden) * 10.0 ** rng.uniform(-3, 4, (hidden[0], 1)), 1e-9),
    ]


def _spiky(rng: np.random.Generator, rows: int, length: int) -> np.ndarray:
    """Few elements above 256, whose squares no half can hold; the mean of all squares is a half again."""
    x = 5 * lopsided(rng, rows, length)
    x[:, 1::97] *= 120
    return x


def _rms_case(label: str, x: np.ndarray, eps: float) -> KernelCase:
    x = x.astype(np.float16)
    wide = x.astype(np.float64)
    y = wide / np.sqrt(np.square(wide).mean(axis=1, keepdims=True) + float(np.float32(eps)))
    return _case(label, {"x": x}, eps, {"y": y}, {"y": "float16"})


def _far_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 512 is a tile. A tail, one tile, many tiles; every row around another mean.
    rows, length = int(rng.integers(3, 6)), int(rng.integers(1030, 2500))
    return [
        _far_case("around 0", lopsided(rng, 2, 300), [0.3, -0.7], 1e-5),
        _far_case("a small spread", 0.01 * lopsided(rng, 2, 512), [0.03, -0.02], 1e-3),
        _far_case("means of 10 to 30 spreads", lopsided(rng, 3, 517), [20.0, -10.0, 30.0], 1e-5),
        _far_case("a mean of 10,000 spreads", lopsided(rng, 1, 700), [1e4], 1e-5),
        _far_case("means of 10,000 spreads", lopsided(rng, 3, 1100), [1e4, -3e3, 7e3], 1e-5),
        _far_case("each row another mean", lopsided(rng, rows, length), 10.0 ** rng.uniform(0, 4, rows), 1e-6),
    ]


def _far_case(label: str, x: np.ndarray, means: object, eps: float) -> KernelCase:
    x = (x + np.reshape(means, (-1, 1))).astype(np.float32)
    y, mean, rstd = statistics(x, eps)
    return _case(
        label, {"x": x}, eps, {"y": y, "mean": mean, "rstd": rstd}, dict.fromkeys(("y", "mean", "rstd"), "float32")
    )


def statistics(x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y without gamma and beta, mean and rstd of each row, in float64."""
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1)
    rest = wide - mean[:, None]
    rstd = 1 / np.sqrt(np.square(rest).mean(axis=1) + float(np.float32(eps)))
    return rest * rstd[:, None], mean, rstd


def _half_cases(rng: np.random.Generator) -> list[KernelCase]:
    rows, length = int(rng.integers(3, 7)), int(rng.integers(400, 1900))
    return [
        _half_case(rng, "around 1", lopsided(rng, 3, 64) + 1.3, 1e-5),
        _half_case(rng, "means of 40 spreads", lopsided(rng, 2, 517) + np.array([[40.0], [-30.0]]), 1e-5),
        _half_case(rng, "a small spread", 1e-3 * lopsided(rng, 3, 130) + 2e-3, 1e-8),
        _half_case(rng, "a spread of the size of eps", 3e-4 * lopsided(rng, 3, 130) + 2e-3, 1e-7),
        _half_case(rng, "a constant row", np.full((2, 48), 3.7), 1e-8),
        _half_case(rng, "one element a row", 300 * lopsided(rng, 3, 1), 1e-5),
        _half_case(rng, _ALL_SIZES, (lopsided(rng, rows, length) + 2) * np.geomspace(2e-3, 9e3, rows)[:, None], 1e-8),
    ]


def _half_case(rng: np.random.Generator, label: str, x: np.ndarray, eps: float) -> KernelCase:
    x = x.astype(np.float16)
    rows = len(x)
    gamma = rng.uniform(0.6, 1.9, rows).astype(np.float32)
    y, mean, rstd = statistics(x, eps)
    # beta cancels the lowest value of a row, but for a small rest: there an early rounding is seen.
    beta = (0.04 - gamma * y.min(axis=1)).astype(np.float32)
    y = y * gamma.astype(np.float64)[:, None] + beta.astype(np.float64)[:, None]
    golden = {"y": y, "mean": mean, "rstd": rstd}
    dtypes = {"y": "float16", "mean": "float32", "rstd": "float32"}
    return _case(label, {"x": x, "gamma": gamma, "beta": beta}, eps, golden, dtypes)


def _by_vector_unit(case: KernelCase, result: Result) -> str | None:
    return by_scalars(result, case.inputs["x"].size + 12 * case.inputs["x"].shape[0])


def _rounded_to_nearest(case: KernelCase, result: Result) -> str | None:
    """Nearly every y is the nearest half to golden; the standard, whose T is two such errors, does not ask for that.

    Asked in the last case only: what is rounded on the way fails an earlier one, whose words say more.
    """
    if not case.label.startswith(_ALL_SIZES):
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


def _twice(case: KernelCase, result: Result) -> str | None:
    if result.tally.bytes_in < 2.5 * case.inputs["x"].nbytes:
        return None
    return "the numbers are right, but x is read three times: take both sums in one pass, about a pivot"


def _missing(case: KernelCase, result: Result) -> str | None:
    """Nothing to say of numbers while some are not there."""
    for name in case.expected:
        holes = unwritten(result[name].reshape(-1))
        if holes.all():
            return f"{name} was never written: the kernel copies nothing out"
        if holes.any():
            return f"part of {name} was never written: {spots(name, holes)}"
    return None


def _checker(cases: object, words: Symptom, *demands: Symptom) -> KernelChecker:
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


RMS_OF_HALVES = _checker(_rms_cases, rms_message, _rounded_to_nearest)
FAR_FROM_ZERO = _checker(_far_cases, far_message, _twice)
HALF_STATISTICS = _checker(_half_cases, half_message, _rounded_to_nearest)
