"""08.3: statistics kept in half. The messages say where digits were lost, and why."""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.accuracy import accuracy
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
    statistics,
)


def _half(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float16).astype(np.float64)


def _apart(got: np.ndarray, values: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):
        distance = float(np.abs(got - values).max(initial=0.0))
    return distance if np.isfinite(distance) else np.inf


def _half_message(case: KernelCase, result: Result) -> str | None:
    """Return which statistic has only the digits of a half."""
    eps, variance = (float(case.numbers["eps"]), case.inputs["x"].astype(np.float64).var(axis=1))
    mean, rstd = (result[name].astype(np.float64) for name in ("mean", "rstd"))
    want_mean, want_rstd = case.golden["mean"], case.golden["rstd"]
    row = first_missed_row(case, result, "mean")
    if row is not None:
        if alike(mean, _half(want_mean), 1e-6):
            return (
                f"mean[{row}] is {mean[row]:.7g}, which is {want_mean[row]:.7g} rounded to a half: the backward pass "
                "gets a float, and needs all of it"
            )
        return None
    row = first_missed_row(case, result, "rstd")
    if row is not None:
        return _which_rstd(row, rstd, want_rstd, variance, eps)
    row = first_missed_row(case, result, "y")
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
    """Whether y follows from the kernel's own mean and rstd: then these are wrong, even if only slightly."""
    x = case.inputs["x"][row].astype(np.float32)
    gamma, beta = (case.inputs[name][row].astype(np.float32) for name in ("gamma", "beta"))
    made = (x - result["mean"][row]) * (result["rstd"][row] * gamma) + beta
    return bool((result["y"][row] == made.astype(np.float16)).mean() > 0.9)


def _which_result(row: int, case: KernelCase, result: Result) -> str | None:
    """Return the mistake whose formula, in float with the right statistics, gives nearly every y to the last bit."""
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
    # The nearest first: if eps is much smaller than the variance, two of them are alike.
    for values, words in sorted(known, key=lambda one: _apart(rstd, one[0])):
        if not alike(values, want, 1e-5) and alike(rstd, values, 1e-5):
            steps = (
                f", and halves of the size of {variance[row]:.2g} are {np.spacing(np.float16(variance[row])):.1g} apart"
            )
            return f"rstd[{row}] is {rstd[row]:.6g}, {want[row]:.6g} is right: {words}" + (
                steps if "variance" in words else ""
            )
    return None


def _half_cases(rng: np.random.Generator) -> list[KernelCase]:
    rows, length = int(rng.integers(3, 7)), int(rng.integers(400, 1900))
    return [
        _half_case(rng, "around 1", lopsided(rng, 3, 64) + 1.3, 1e-5),
        _half_case(rng, "means of 40 spreads", lopsided(rng, 2, 517) + np.array([[40.0], [-30.0]]), 1e-5),
        _half_case(rng, "a small spread", 1e-3 * lopsided(rng, 3, 130) + 2e-3, 1e-8),
        _half_case(rng, "a spread of the size of eps", 3e-4 * lopsided(rng, 3, 130) + 2e-3, 1e-7),
        _half_case(rng, "a constant row", np.full((2, 48), 3.7), 1e-8),
        _half_case(rng, "one element a row", 300 * lopsided(rng, 3, 1), 1e-5),
        _half_case(rng, ALL_SIZES, (lopsided(rng, rows, length) + 2) * np.geomspace(2e-3, 9e3, rows)[:, None], 1e-8),
    ]


def _half_case(rng: np.random.Generator, label: str, x: np.ndarray, eps: float) -> KernelCase:
    x = x.astype(np.float16)
    rows = len(x)
    gamma = rng.uniform(0.6, 1.9, rows).astype(np.float32)
    y, mean, rstd = statistics(x, eps)
    # beta nearly cancels the lowest value of a row: there an early rounding shows.
    beta = (0.04 - gamma * y.min(axis=1)).astype(np.float32)
    y = y * gamma.astype(np.float64)[:, None] + beta.astype(np.float64)[:, None]
    golden = {"y": y, "mean": mean, "rstd": rstd}
    dtypes = {"y": "float16", "mean": "float32", "rstd": "float32"}
    return accuracy_case(label, {"x": x, "gamma": gamma, "beta": beta}, eps, golden, dtypes)


CHECK = accuracy_checker(_half_cases, _half_message, rounded_to_nearest)
