"""08.1: squares and sums in half. The messages say which number on the way does not fit into a half."""

from __future__ import annotations

import numpy as np

from gn_tutorial.course.exercises.check_kernel import KernelCase
from gn_tutorial.operators.result import Result

from .accuracy_cases import (
    ALL_SIZES,
    accuracy_case,
    accuracy_checker,
    alike,
    first_missed_row,
    lopsided,
    rounded_to_nearest,
)

_LARGEST = 65504.0

#: Distance of neighbouring halves below 6e-5.
_HALF_STEP = 2.0**-24


def _rms_message(case: KernelCase, result: Result) -> str | None:
    """Return which of the numbers on the way does not fit into a half."""
    row = first_missed_row(case, result, "y")
    if row is None:
        return None
    x, got = (case.inputs["x"][row].astype(np.float64), result["y"][row].astype(np.float64))
    eps, square = float(case.numbers["eps"]), np.square(x)
    total, mean = square.sum(), square.mean()
    if _not_squared(case, result):
        return "this is the sum of x, not of its squares"
    known = [
        (x / np.sqrt(mean), "this is without eps, which belongs to the mean of the squares"),
        (x / np.sqrt(total + eps), "x is divided by the root of the sum of the squares, not of their mean"),
        (x / (mean + eps), "x is divided by the mean of the squares: the root is missing"),
        (
            square / np.sqrt(mean + eps),
            "the squares were scaled instead of x: keep x, as float, until you multiply it by the factor",
        ),
        (
            x / np.sqrt(np.minimum(square, _LARGEST).mean() + eps),
            "the squares are cut off at 65504: the row has larger ones, and they count",
        ),
        (
            x / np.sqrt(min(total, _LARGEST) / x.size + eps),
            f"the sum is cut off at 65504: the squares of this row add up to {total:,.0f}",
        ),
    ]
    for values, words in known:
        if not alike(values, case.golden["y"][row]) and alike(got, values, 4e-3):
            return f"row {row}: {words}"
    if not got.any():
        return f"row {row}: y is 0, since {_what_overflows(x, square)}"
    if np.isinf(got).any():
        factor = 1 / np.sqrt(mean + eps)
        return (
            f"row {row}: y is infinite. The factor 1 / root is {factor:,.0f}, and no half is above 65504: factor and "
            "product have to be float"
        )
    if mean < 2.0**-14:
        return f"row {row}: {_what_was_too_small(got / case.golden['y'][row], mean, x)}"
    return None


def _not_squared(case: KernelCase, result: Result) -> bool:
    """Whether x was summed without squaring it; a row with a negative sum then has no root, and is NaN."""
    x, got = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    inside = x.mean(axis=1) + float(case.numbers["eps"])
    rows = inside > 0
    rest = np.isnan(got[~rows]).all()
    return bool(rest) and (not rows.any() or alike(got[rows], x[rows] / np.sqrt(inside[rows, None]), 4e-3))


def _what_overflows(x: np.ndarray, square: np.ndarray) -> str:
    total, mean, largest = square.sum(), square.mean(), square.max()
    ends = "and the largest half is 65504, so it is infinite"
    if largest <= _LARGEST:
        return (
            f"the squares add up to {total:,.0f}, {ends}, although no single square is above {largest:,.0f}: take the "
            "sum in float"
        )
    if mean <= _LARGEST:
        at = int(square.argmax())
        return f"the square of {x[at]:g} is {largest:,.0f}, {ends}: x has to be float before it is squared"
    return f"the mean of the squares is {mean:,.0f}, {ends}: nothing between the two Casts may be half"


def _what_was_too_small(ratio: np.ndarray, mean: float, x: np.ndarray) -> str:
    if np.isfinite(ratio).all() and ratio.std() < 2e-3 * abs(ratio.mean()):
        return (
            f"y is {ratio.mean():.3g} times what it should be. The squares are about {mean:.1g}, and halves lie "
            f"{_HALF_STEP:.1g} apart there: hardly any digit of them is left"
        )
    return (
        f"every y is off by another factor. x is about {np.abs(x).mean():.1g}: making it smaller in half loses "
        "digits. Do not scale; convert to float first"
    )


def _rms_cases(rng: np.random.Generator) -> list[KernelCase]:
    # In this order, because each case needs one more number in float.
    hidden = int(rng.integers(2, 6)), int(rng.integers(300, 1900))
    return [
        _rms_case("around 1", lopsided(rng, 3, 37), 0.02),
        _rms_case("a sum above 65504", 12 * lopsided(rng, 2, 1700), 1e-5),
        _rms_case("squares above 65504", _spiky(rng, 2, 700), 1e-5),
        _rms_case("large throughout", 9000 * lopsided(rng, 3, 211), 1e-5),
        _rms_case("small throughout", 2e-4 * lopsided(rng, 3, 211), 1e-12),
        _rms_case("very small", 8e-6 * lopsided(rng, 2, 130), 1e-14),
        _rms_case("one element a row", 300 * lopsided(rng, 5, 1), 1e-5),
        _rms_case(ALL_SIZES, lopsided(rng, *hidden) * 10.0 ** rng.uniform(-3, 4, (hidden[0], 1)), 1e-9),
    ]


def _spiky(rng: np.random.Generator, rows: int, length: int) -> np.ndarray:
    """Return rows with few elements above 256, whose squares no half can hold; the mean of the squares fits."""
    x = 5 * lopsided(rng, rows, length)
    x[:, 1::97] *= 120
    return x


def _rms_case(label: str, x: np.ndarray, eps: float) -> KernelCase:
    x = x.astype(np.float16)
    wide = x.astype(np.float64)
    y = wide / np.sqrt(np.square(wide).mean(axis=1, keepdims=True) + float(np.float32(eps)))
    return accuracy_case(label, {"x": x}, eps, {"y": y}, {"y": "float16"})


CHECK = accuracy_checker(_rms_cases, _rms_message, rounded_to_nearest)
