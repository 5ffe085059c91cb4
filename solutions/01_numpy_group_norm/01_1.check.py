"""01.1: GroupNorm in NumPy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial import reference
from gn_tutorial.compare.elements import same
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker

#: A mean this far above a spread of 2: the mean of the squares is 1e11, and doubles are 1.5e-5 apart there, so that the
#: one-pass variance is right to five digits. Two passes lose two of seventeen.
_FAR = 300_000.0


def _norm_cases(rng: np.random.Generator) -> list[PythonCase]:
    # No two sizes of the first are equal (N 2, G 3, C / G 4, S 5), so that no array lies along a wrong axis by chance.
    shapes = [
        ((2, 12, 5), 3, 1e-5),
        ((1, 4, 1), 2, 1e-5),
        ((2, 6, 4, 5), 3, 1e-5),
        ((3, 4), 2, 1e-3),
        ((2, 8, 3, 2, 2), 8, 1e-5),
    ]
    groups = int(rng.integers(2, 5))
    hidden = (int(rng.integers(1, 4)), groups * int(rng.integers(2, 5)), int(rng.integers(1, 7)))
    cases = [_norm_case(rng, *shape) for shape in [*shapes, (hidden, groups, 1e-2)]]
    return [*cases, _norm_case(rng, (2, 6, 7), 3, 1e-5, _FAR)]


def _norm_case(
    rng: np.random.Generator, shape: tuple[int, ...], groups: int, eps: float, offset: float = 0.0
) -> PythonCase:
    x = rng.standard_normal(shape) * 2 + np.linspace(-1, 4, int(np.prod(shape))).reshape(shape) + offset
    gamma, beta = rng.uniform(0.5, 2, shape[1]), rng.uniform(1, 3, shape[1])
    arguments = {"x": x, "gamma": gamma, "beta": beta, "num_groups": groups, "eps": eps}
    truth = reference.group_norm(x, gamma, beta, num_groups=groups, eps=eps)
    around = f" around {offset:,.0f}" if offset else ""
    label = f"x of shape {shape}{around}, {groups} groups, eps {eps:g}"
    section = "A variance that keeps its digits" if offset else ""
    return PythonCase(label, "group_norm", arguments, truth._asdict(), section=section)


def _which_formula(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    x, gamma, beta = (case.arguments[name] for name in ("x", "gamma", "beta"))
    groups, eps = case.arguments["num_groups"], case.arguments["eps"]
    batch, channels = x.shape[:2]
    if same(got["mean"], case.expected["rstd"]) and same(got["rstd"], case.expected["mean"]):
        return "mean and rstd have changed places: the function returns y, mean, rstd, in this order"
    flat = x.reshape(batch, groups, -1)
    mixed = x.reshape(batch, channels // groups, groups, -1).swapaxes(1, 2).reshape(batch, groups, -1)
    if same(got["mean"], mixed.mean(axis=2)) and channels > groups > 1:
        return "the groups are interleaved: group 0 holds the first C / G channels, not every G-th"
    rstd = got["rstd"]
    if abs(x).min() > _FAR / 2 and same(got["mean"], case.expected["mean"]):
        return (
            "the variance has lost its digits. Far from 0, mean(x * x) - mean * mean subtracts one large number from "
            "another, whose last digits were rounded: subtract the mean from x first, then square"
        )
    count = flat.shape[2]
    if count > 1 and same(rstd, 1 / np.sqrt(flat.var(axis=2) * count / (count - 1) + eps)):
        return f"the variance is divided by the count less one ({count - 1}); GroupNorm divides by the count ({count})"
    if same(rstd, 1 / (np.sqrt(flat.var(axis=2)) + eps)):
        return "eps is added to the standard deviation; it belongs to the variance, under the root"
    if same(rstd, 1 / np.sqrt(flat.var(axis=2))):
        return "eps is missing: a constant group would divide by zero"
    if same(rstd, flat.var(axis=2)) or same(rstd, np.sqrt(flat.var(axis=2) + eps)):
        return "rstd is one divided by the root of the variance plus eps"
    plain = (flat - flat.mean(axis=2, keepdims=True)) / np.sqrt(flat.var(axis=2, keepdims=True) + eps)
    plain = plain.reshape(x.shape)
    channel = (channels,) + (1,) * (x.ndim - 2)
    if same(got["y"], plain):
        return "y is normalised, but gamma and beta are not applied"
    if same(got["y"], plain * gamma.reshape(channel)):
        return "beta is missing in y"
    if same(got["y"], plain * beta.reshape(channel) + gamma.reshape(channel)):
        return "gamma and beta have changed places"
    if same(got["y"], (plain + beta.reshape(channel)) * gamma.reshape(channel)):
        return "beta is added before gamma is multiplied, so beta is scaled too: multiply by gamma first, then add beta"
    first = np.repeat(gamma[:: channels // groups], channels // groups).reshape(channel)
    if same(got["y"], plain * first + beta.reshape(channel)):
        return "one gamma is used for a whole group; each channel has its own"
    return None


CHECK = PythonChecker(
    _norm_cases,
    # float64 inside: seven digits are far from any rounding and near enough to tell the wrong formulas apart.
    rtol=1e-7,
    atol=1e-9,
    symptoms=(_which_formula,),
)
