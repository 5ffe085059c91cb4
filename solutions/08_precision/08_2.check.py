"""08.2: a variance far from zero. The messages say where digits were lost, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gn_tutorial.course.exercises.check_kernel import KernelCase
from gn_tutorial.operators.result import Result

from .accuracy_cases import accuracy_case, accuracy_checker, alike, first_missed_row, lopsided, statistics

#: The relative error that rounding leaves in rstd, if the variance has a near pivot.
_DIGITS = 2e-5

_TILE = 512  # kTile of the kernel


def _far_message(case: KernelCase, result: Result) -> str | None:
    """Return what lost the digits: the variance, the mean or the result."""
    x, eps = case.inputs["x"].astype(np.float64), float(case.numbers["eps"])
    mean, rstd = (result[name].astype(np.float64) for name in ("mean", "rstd"))
    row = first_missed_row(case, result, "rstd")
    variance = x.var(axis=1)
    if row is not None:
        with np.errstate(divide="ignore"):
            if alike(rstd, 1 / np.sqrt(np.square(x - x[:, :1]).mean(axis=1) + eps)):
                return "the variance is the mean square distance from the pivot: subtract the square of rest"
            # Before the mistakes with eps: on some data they look like this one, which more digits tell apart.
            for mixed in _own_pivots(x):
                with_own = 1 / np.sqrt(np.maximum(mixed, 0) + eps)
                if not alike(with_own, case.golden["rstd"], _DIGITS) and alike(rstd, with_own, _DIGITS):
                    return (
                        "each tile has a pivot of its own: sums about different pivots cannot be added. One pivot "
                        "serves all tiles of a row"
                    )
            if alike(rstd, 1 / np.sqrt(variance)):
                return "rstd is without eps, which belongs to the variance"
            if alike(rstd, 1 / (np.sqrt(variance) + eps)):
                return "eps is outside the root: it belongs to the variance"
        return _which_variance(row, rstd[row], x[row], eps)
    row = first_missed_row(case, result, "mean")
    if row is not None:
        if np.allclose(mean, x.mean(axis=1) - x[:, 0], rtol=1e-3, atol=1e-5):
            return f"mean[{row}] is {mean[row]:.6g}: the pivot, {x[row, 0]:.6g}, must be added again"
        return None
    row = first_missed_row(case, result, "y")
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
    """Yield the rows' variances as they come out with a pivot for each tile: its first element, or its mean."""
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
    return accuracy_case(
        label, {"x": x}, eps, {"y": y, "mean": mean, "rstd": rstd}, dict.fromkeys(("y", "mean", "rstd"), "float32")
    )


def _twice(case: KernelCase, result: Result) -> str | None:
    if result.tally.bytes_in < 2.5 * case.inputs["x"].nbytes:
        return None
    return "the numbers are right, but x is read three times: take both sums in one pass, about a pivot"


CHECK = accuracy_checker(_far_cases, _far_message, _twice)
