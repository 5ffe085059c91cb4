"""10.1: the gradient of x."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gn_tutorial.compare.elements import same
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker

from .gradient_cases import OWN_RSTD, SHAPES, Got, Parts, drawn_shape, gradient_case


def _x_cases(rng: np.random.Generator) -> list[PythonCase]:
    return [gradient_case(rng, "gradient_x", ("dx",), *shape) for shape in [*SHAPES, drawn_shape(rng)]]


def _mean(array: np.ndarray, axes: tuple[int, ...] = (2, 3)) -> np.ndarray:
    return array.mean(axis=axes, keepdims=True)


def _wrong_dx(p: Parts) -> Iterator[tuple[np.ndarray, str]]:
    def project(a: np.ndarray, mean: Callable[[np.ndarray], np.ndarray] = _mean) -> np.ndarray:
        return a - mean(a) - p.xhat * mean(a * p.xhat)

    yield (p.rstd * p.a, "mean and rstd are treated as constants; each of them depends on every x of its group")
    yield (
        p.rstd * (p.a - _mean(p.a)),
        "the way through rstd is missing: the term with xhat (or E[a] * E[xhat] stands there, which is 0)",
    )
    yield (p.rstd * (p.a - p.xhat * _mean(p.a * p.xhat)), "the way through the mean is missing: the term E[a]")
    yield p.rstd * project(p.dy), "gamma is not in dx: it begins with a = dy * gamma"
    yield (
        p.rstd * p.gamma * project(p.dy),
        "gamma was pulled out of the means; but it differs between channels, and the means go over several channels",
    )
    yield (
        p.rstd * (p.a - _mean(p.dy) - p.xhat * _mean(p.dy * p.xhat)),
        "dy is summed instead of dy * gamma: both means are means of a, not of dy",
    )
    yield (p.rstd * (p.a + _mean(p.a) + p.xhat * _mean(p.a * p.xhat)), "both means are added; subtract them")
    yield (p.rstd * (p.a - _mean(p.a) + p.xhat * _mean(p.a * p.xhat)), "the term with xhat is added; subtract it")
    yield project(p.a), "the factor rstd is missing"
    yield (p.rstd**2 * project(p.a), "rstd is multiplied twice: xhat already contains one, and one is in front")
    count = p.a.shape[2] * p.a.shape[3]
    yield (p.rstd * project(p.a, lambda v: _mean(v) * count), "these are sums over the group; means belong here")
    if count > 1:
        less = count / (count - 1)
        yield (p.rstd * project(p.a, lambda v: _mean(v) * less), "the means are divided by the count less one")
    yield (p.rstd * project(p.a, lambda v: _mean(v, (3,))), "the means go over one channel; a group has several")
    yield (p.rstd * project(p.a, lambda v: _mean(v, (1, 2, 3))), "the means go over the whole sample, not over a group")
    yield (p.rstd * project(p.a, lambda v: _mean(v, (0, 2, 3))), "the means go over the samples too; each has its own")
    yield (p.rstd * project(p.a, lambda v: _mean(v, (1,))), "the means go over all groups; each group has its own")
    yield (
        p.rstd * (p.a - _mean(p.a) - p.centred * _mean(p.a * p.centred)),
        "x - mean is used instead of xhat: multiply it by rstd",
    )
    yield (
        p.rstd * (p.a - _mean(p.a) - p.x * _mean(p.a * p.x)),
        "x is used instead of xhat: subtract the mean and multiply by rstd",
    )
    yield (
        p.rstd * (p.a - _mean(p.a) - _mean(p.a * p.xhat)),
        "E[a * xhat] is subtracted as it is; multiply it by xhat first",
    )
    yield from _wrong_terms(p)
    for own in p.with_own_rstd():
        yield (own.rstd * (own.a - _mean(own.a) - own.xhat * _mean(own.a * own.xhat)), OWN_RSTD)


def _wrong_terms(p: Parts) -> Iterator[tuple[np.ndarray, str]]:
    """Yield dx with one slip, in one of its three terms or in two of them, and the slip in words."""
    count = p.a.shape[2] * p.a.shape[3]

    def slips(name: str, of_a: np.ndarray, of_dy: np.ndarray) -> list[tuple[np.ndarray, str]]:
        return [
            (_mean(of_a), ""),
            (_mean(of_a) * count, f"{name} is a sum over the group; it must be the mean"),
            (_mean(of_a, (0, 1, 2, 3)), f"{name} is one mean over all axes; each group of each sample has its own"),
            (of_a, f"{name} has no mean: it is the mean over the group"),
            (_mean(of_dy), f"{name} is taken of dy instead of a = dy * gamma"),
            (_mean(of_a, (3,)), f"{name} is the mean over one channel; a group has several"),
        ]

    for front, first_words in ((p.a, ""), (p.dy, "the first term is dy instead of a = dy * gamma")):
        for one, second_words in slips("E[a]", p.a, p.dy):
            for other, third_words in slips("E[a * xhat]", p.a * p.xhat, p.dy * p.xhat):
                said = [words for words in (first_words, second_words, third_words) if words]
                if said:
                    yield p.rstd * (front - one - p.xhat * other), "; ".join(said)


def _which_dx(case: PythonCase, got: Got) -> str | None:
    for wrong, words in _wrong_dx(Parts(case)):
        if same(got["dx"], wrong.reshape(case.arguments["x"].shape)):
            return words
    return None


# float64 inside: seven digits are far from any rounding and near enough to tell the wrong formulas apart.
CHECK = PythonChecker(_x_cases, rtol=1e-7, atol=1e-9, symptoms=(_which_dx,))
