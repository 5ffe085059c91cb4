"""The messages of notebook 08's kernels, from the numbers that one gave: where digits were lost, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gn_tutorial.compare.accuracy import accuracy
from gn_tutorial.course.exercises.check_kernel import KernelCase
from gn_tutorial.operators.result import Result

_LARGEST = 65504.0
#: Two results of one formula in different precision agree so far; different formulas do not.
_SAME = 1e-3
#: What rounding leaves of a variance about a pivot that lies near.
_DIGITS = 2e-5
_TILE = 512  # kTile of 08.2's kernel
#: Distance of neighbouring halves below 6e-5.
_HALF_STEP = 2.0**-24


def _half(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float16).astype(np.float64)


def _first(case: KernelCase, result: Result, name: str) -> int | None:
    """The first row in which an output misses the standard, if any."""
    got, golden = result[name], case.golden[name]
    rows = (row for row in range(len(golden)) if not accuracy(got[row : row + 1], golden[row : row + 1]).ok)
    return next(rows, None)


def _alike(got: np.ndarray, values: np.ndarray, rtol: float = _SAME) -> bool:
    return bool(np.isfinite(got).all() and np.allclose(got, values, rtol=rtol, atol=0))


def _apart(got: np.ndarray, values: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):
        distance = float(np.abs(got - values).max(initial=0.0))
    return distance if np.isfinite(distance) else np.inf


def rms_message(case: KernelCase, result: Result) -> str | None:
    """08.1: which of the numbers on the way does not fit into a half."""
    row = _first(case, result, "y")
    if row is None:
        return None
    x, got = case.inputs["x"][row].astype(np.float64), result["y"][row].astype(np.float64)
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
        if not _alike(values, case.golden["y"][row]) and _alike(got, values, 4e-3):
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
    """Whether x was added up as it is. A row with a negative sum has no root then, and no numbers."""
    x, got = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    inside = x.mean(axis=1) + float(case.numbers["eps"])
    rows = inside > 0
    rest = np.isnan(got[~rows]).all()
    return bool(rest) and (not rows.any() or _alike(got[rows], x[rows] / np.sqrt(inside[rows, None]), 4e-3))


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


def far_message(case: KernelCase, result: Result) -> str | None:
    """08.2: whether the variance cancelled, or the result."""
    x, eps = case.inputs["x"].astype(np.float64), float(case.numbers["eps"])
    mean, rstd = (result[name].astype(np.float64) for name in ("mean", "rstd"))
    row = _first(case, result, "rstd")
    variance = x.var(axis=1)
    if row is not None:
        with np.errstate(divide="ignore"):
            if _alike(rstd, 1 / np.sqrt(np.square(x - x[:, :1]).mean(axis=1) + eps)):
                return "the variance is the mean square distance from the pivot: subtract the square of rest"
            # Before eps: this one is told by more digits, and on some data it comes near the other.
            for mixed in _own_pivots(x):
                with_own = 1 / np.sqrt(np.maximum(mixed, 0) + eps)
                if not _alike(with_own, case.golden["rstd"], _DIGITS) and _alike(rstd, with_own, _DIGITS):
                    return (
                        "each tile has a pivot of its own: sums about different pivots cannot be added. One pivot "
                        "serves all tiles of a row"
                    )
            if _alike(rstd, 1 / np.sqrt(variance)):
                return "rstd is without eps, which belongs to the variance"
            if _alike(rstd, 1 / (np.sqrt(variance) + eps)):
                return "eps is outside the root: it belongs to the variance"
        return _which_variance(row, rstd[row], x[row], eps)
    row = _first(case, result, "mean")
    if row is not None:
        if np.allclose(mean, x.mean(axis=1) - x[:, 0], rtol=1e-3, atol=1e-5):
            return f"mean[{row}] is {mean[row]:.6g}: the pivot, {x[row, 0]:.6g}, must be added again"
        return None
    row = _first(case, result, "y")
    if row is None:
        return None
    off = result["y"][row].astype(np.float64) - case.golden["y"][row]
    gap = float(np.spacing(np.float32(abs(x[row]).max())))
    if off.std() < 0.2 * abs(off.mean()) and abs(off.mean()) > 8 * gap * rstd[row]:
        return (
            f"mean and rstd are right, but y of row {row} is off by the same {off.mean():.2g} everywhere: the "
            f"mean that you subtracted from x differs from mean[{row}] by {abs(off.mean()) / rstd[row]:.4g}. Subtract "
            "both pivot and rest"
        )
    if off.std() < 0.2 * abs(off.mean()):
        return (
            f"mean and rstd are right, but y of row {row} is off by the same {off.mean():.1e} everywhere: the mean was "
            f"rounded to one float, and floats are {gap:.1e} apart there. Subtract the pivot, and then "
            "the rest"
        )
    return (
        f"mean and rstd are right, but y of row {row} is off by up to {np.abs(off).max():.1e}, a different amount "
        "at each element: two large terms cancel in it. Subtract the mean before you multiply"
    )


def _own_pivots(x: np.ndarray) -> Iterator[np.ndarray]:
    """The variance of each row that comes out with another pivot in each tile: its first element, or its mean."""
    length = x.shape[1]
    starts = np.arange(0, length, _TILE)
    firsts = x[:, starts]
    means = np.add.reduceat(x, starts, axis=1) / np.diff([*starts, length])
    for pivots in (firsts, means):
        rest = x - np.repeat(pivots, np.diff([*starts, length]), axis=1)
        yield np.square(rest).mean(axis=1) - rest.mean(axis=1) ** 2


def _which_variance(row: int, rstd: float, x: np.ndarray, eps: float) -> str:
    found = 1 / rstd**2 - eps if rstd > 0 else np.inf
    came_out = f"the variance came out as {found:.4g}" if found > 0.01 * eps else "the variance came out as 0 or less"
    if row > 0:
        return (
            f"row 0 is right, but row {row} is not: {came_out}. The row lies around {x.mean():.4g}, so it needs "
            "a pivot of its own"
        )
    if x.mean() ** 2 < 10 * x.var():
        return (
            f"row {row}: {came_out}, and {x.var():.4g} is right. The row lies around {x.mean():.4g}: a pivot far from "
            "there makes both terms large, and their digits cancel"
        )
    return (
        f"row {row}: {came_out}. E[x^2] and E[x]^2 are both about {np.square(x).mean():.4g}, and the variance is "
        f"{x.var():.4g}: the digits that both share cancel"
    )


def half_message(case: KernelCase, result: Result) -> str | None:
    """08.3: which statistic has the digits of a half."""
    eps, variance = float(case.numbers["eps"]), case.inputs["x"].astype(np.float64).var(axis=1)
    mean, rstd = (result[name].astype(np.float64) for name in ("mean", "rstd"))
    want_mean, want_rstd = case.golden["mean"], case.golden["rstd"]
    row = _first(case, result, "mean")
    if row is not None:
        if _alike(mean, _half(want_mean), 1e-6):
            return (
                f"mean[{row}] is {mean[row]:.7g}, which is {want_mean[row]:.7g} rounded to a half: the backward pass "
                "gets a float, and needs all of it"
            )
        return None
    row = _first(case, result, "rstd")
    if row is not None:
        return _which_rstd(row, rstd, want_rstd, variance, eps)
    row = _first(case, result, "y")
    if row is None or not np.isfinite(result["y"][row].astype(np.float64)).all():
        return None
    found = accuracy(result["y"][row], case.golden["y"][row])
    unit = found.standard.unit
    if _follows(row, case, result):
        return _which_rstd(row, rstd, want_rstd, variance, eps) or (
            f"y of row {row} is right for mean[{row}] and rstd[{row}], but beta cancels most of the product there, and "
            f"one of the two has too few digits: rstd is {rstd[row]:.7g}, {want_rstd[row]:.7g} is right"
            + "".join(f"; the twin warns: {one.what}" for one in result.diagnostics[:1])
        )
    known = _which_result(row, case, result)
    if known is not None:
        return f"mean and rstd are right, but y of row {row} is not (MARE is {found.mare / unit:.3g} T): {known}"
    return (
        f"mean and rstd are right, but y of row {row} is not: MARE is {found.mare / unit:.0f} T, where beta cancels "
        "most of the product. Something was rounded to half before that: cast once, at the end"
    )


def _follows(row: int, case: KernelCase, result: Result) -> bool:
    """Whether y is what the kernel's own mean and rstd make of x: then it is they that are wrong, if only a little."""
    x = case.inputs["x"][row].astype(np.float32)
    gamma, beta = (case.inputs[name][row].astype(np.float32) for name in ("gamma", "beta"))
    made = (x - result["mean"][row]) * (result["rstd"][row] * gamma) + beta
    return bool((result["y"][row] == made.astype(np.float16)).mean() > 0.9)


def _which_result(row: int, case: KernelCase, result: Result) -> str | None:
    """What was done in float with the right statistics, to the last bit but for ties."""
    x = case.inputs["x"][row].astype(np.float32)
    gamma, beta = (case.inputs[name][row].astype(np.float32) for name in ("gamma", "beta"))
    mean, rstd = result["mean"][row], result["rstd"][row]
    scale = rstd * gamma
    known = [
        (
            x * scale + (beta - mean * scale),
            "x times the scale and mean times the scale are both large, and cancel: even a float has no digits left "
            "then. Take the mean off before you multiply",
        ),
        (((x - mean) - mean) * scale + beta, "the mean was subtracted twice"),
        (x * scale + beta, "the mean was not subtracted"),
    ]
    for values, words in known:
        if (result["y"][row] == values.astype(np.float16)).mean() > 0.9:
            return words
    return None


def _which_rstd(row: int, rstd: np.ndarray, want: np.ndarray, variance: np.ndarray, eps: float) -> str | None:
    if not np.isfinite(rstd).all() and _half(eps) == 0:
        return (
            f"rstd is infinite: the variance of a constant row is 0, and eps, {eps:g}, was left out, or rounded to a "
            "half, which is 0"
        )
    rounded = f"eps, {eps:g}, was rounded to a half, {_half(eps):.4g}"
    if _half(eps) == 0:
        rounded = f"eps, {eps:g}, was left out, or rounded to a half, which is 0"
    with np.errstate(divide="ignore", invalid="ignore"):
        known = [
            (_half(want), "it has only the digits of a half"),
            (1 / np.sqrt(variance + _half(eps)), rounded),
            (1 / np.sqrt(_half(variance + eps)), "variance and eps were added in half"),
            (1 / np.sqrt(_half(variance) + eps), "the variance was rounded to a half"),
            (1 / np.sqrt(_half(_half(variance) + _half(eps))), "variance and eps are halves"),
        ]
    # The nearest: where eps is much smaller than the variance, two of them are alike.
    for values, words in sorted(known, key=lambda one: _apart(rstd, one[0])):
        if not _alike(values, want, 1e-5) and _alike(rstd, values, 1e-5):
            steps = (
                f", and halves of the size of {variance[row]:.2g} are {np.spacing(np.float16(variance[row])):.1g} apart"
            )
            return f"rstd[{row}] is {rstd[row]:.6g}, {want[row]:.6g} is right: {words}" + (
                steps if "variance" in words else ""
            )
    return None
