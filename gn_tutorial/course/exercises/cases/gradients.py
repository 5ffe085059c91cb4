"""10.1: the gradient of x. 10.2: the gradients of gamma and beta, which belong to channels."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from gn_tutorial import reference
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker

Got = Mapping[str, np.ndarray]


def _arguments(rng: np.random.Generator, shape: tuple[int, ...], groups: int) -> dict[str, np.ndarray | int]:
    """Data without symmetry. No mean is near 0, dy's neither: where it is 0, a term that is missing costs nothing."""
    ramp = np.linspace(-1, 4, int(np.prod(shape))).reshape(shape)
    x = rng.standard_normal(shape) * 2 + ramp
    dy = rng.standard_normal(shape) + rng.uniform(0.5, 2, (shape[0], shape[1]) + (1,) * (len(shape) - 2))
    gamma = rng.uniform(0.5, 1.5, shape[1]) * np.where(np.arange(shape[1]) % 3 == 1, -1.0, 2.0)
    # Not an eps that anybody guesses: mean and rstd are given, and to be used.
    saved = reference.group_norm(x, gamma, num_groups=groups, eps=float(rng.uniform(2e-3, 8e-3)))
    return {"dy": dy, "x": x, "gamma": gamma, "mean": saved.mean, "rstd": saved.rstd, "num_groups": groups}


def _case(
    rng: np.random.Generator, function: str, names: tuple[str, ...], shape: tuple[int, ...], groups: int
) -> PythonCase:
    arguments = _arguments(rng, shape, groups)
    truth = reference.group_norm_backward(**arguments)._asdict()
    expected = {name: truth[name] for name in names}
    return PythonCase(f"x of shape {shape}, {groups} groups", function, arguments, expected)


def _hidden(rng: np.random.Generator) -> tuple[tuple[int, ...], int]:
    groups = int(rng.integers(2, 5))
    return (int(rng.integers(2, 4)), groups * int(rng.integers(2, 5)), int(rng.integers(2, 7))), groups


# No two sizes of the first are equal (N 2, G 3, C / G 4, S 5), so that no array lies along a wrong axis by chance.
_SHAPES = [((2, 12, 5), 3), ((1, 4, 1), 2), ((2, 6, 4, 5), 3), ((3, 4), 2), ((2, 8, 3, 2, 2), 8)]


def _x_cases(rng: np.random.Generator) -> list[PythonCase]:
    return [_case(rng, "gradient_x", ("dx",), *shape) for shape in [*_SHAPES, _hidden(rng)]]


def _channel_cases(rng: np.random.Generator) -> list[PythonCase]:
    shapes = [*_SHAPES, _hidden(rng), ((0, 6, 4), 3)]
    return [_case(rng, "gradient_gamma_beta", ("dgamma", "dbeta"), *shape) for shape in shapes]


def _same(got: np.ndarray, other: np.ndarray) -> bool:
    return got.shape == other.shape and bool(np.allclose(got, other, rtol=1e-6, atol=1e-8))


class _Parts:
    """The quantities of the derivation, with the axes sample, group, channel of the group, position."""

    def __init__(self, case: PythonCase) -> None:
        given = case.arguments
        batch, channels = given["x"].shape[:2]
        groups = given["num_groups"]
        split = (batch, groups, channels // groups, int(np.prod(given["x"].shape[2:], dtype=int)))
        self.dy, self.x = given["dy"].reshape(split), given["x"].reshape(split)
        self.gamma = given["gamma"].reshape(1, groups, -1, 1)
        self.rstd = given["rstd"].reshape(batch, groups, 1, 1)
        self.centred = self.x - given["mean"].reshape(batch, groups, 1, 1)
        self.xhat = self.centred * self.rstd
        self.a = self.dy * self.gamma

    def with_own_rstd(self) -> Iterator[_Parts]:
        """The same with an rstd that was computed anew, with one of the usual values of eps, or by count less one."""
        rows = self.x.reshape(*self.x.shape[:2], -1)
        count = rows.shape[2]
        variances = [rows.var(axis=2, ddof=ddof) for ddof in (0, 1) if ddof < count]
        for variance in variances:
            for eps in (0.0, 1e-3, *(10.0**-digits for digits in range(4, 13))):
                own = copy.copy(self)
                with np.errstate(divide="ignore", invalid="ignore"):
                    own.rstd = 1 / np.sqrt(variance + eps)[:, :, None, None]
                    own.xhat = self.centred * own.rstd
                yield own


_OWN_RSTD = (
    "rstd was computed anew, with another eps or divisor than in the forward pass: use the given rstd of the "
    "forward pass"
)


def _mean(array: np.ndarray, axes: tuple[int, ...] = (2, 3)) -> np.ndarray:
    return array.mean(axis=axes, keepdims=True)


def _wrong_dx(p: _Parts) -> Iterator[tuple[np.ndarray, str]]:
    def project(a: np.ndarray, mean: Callable[[np.ndarray], np.ndarray] = _mean) -> np.ndarray:
        return a - mean(a) - p.xhat * mean(a * p.xhat)

    yield p.rstd * p.a, "mean and rstd are treated as constants; each of them depends on every x of its group"
    yield (
        p.rstd * (p.a - _mean(p.a)),
        "the way through rstd is missing: the term with xhat (or E[a] * E[xhat] stands there, which is 0)",
    )
    yield p.rstd * (p.a - p.xhat * _mean(p.a * p.xhat)), "the way through the mean is missing: the term E[a]"
    yield p.rstd * project(p.dy), "gamma is not in dx: it begins with a = dy * gamma"
    yield (
        p.rstd * p.gamma * project(p.dy),
        "gamma was pulled out of the means; but it differs between channels, and the means go over several channels",
    )
    yield (
        p.rstd * (p.a - _mean(p.dy) - p.xhat * _mean(p.dy * p.xhat)),
        "dy is summed instead of dy * gamma: both means are means of a, not of dy",
    )
    yield p.rstd * (p.a + _mean(p.a) + p.xhat * _mean(p.a * p.xhat)), "both means are added; subtract them"
    yield p.rstd * (p.a - _mean(p.a) + p.xhat * _mean(p.a * p.xhat)), "the term with xhat is added; subtract it"
    yield project(p.a), "the factor rstd is missing"
    yield p.rstd**2 * project(p.a), "rstd is multiplied twice: xhat already contains one, and one is in front"
    count = p.a.shape[2] * p.a.shape[3]
    yield p.rstd * project(p.a, lambda v: _mean(v) * count), "these are sums over the group; means belong here"
    if count > 1:
        less = count / (count - 1)
        yield p.rstd * project(p.a, lambda v: _mean(v) * less), "the means are divided by the count less one"
    yield p.rstd * project(p.a, lambda v: _mean(v, (3,))), "the means go over one channel; a group has several"
    yield p.rstd * project(p.a, lambda v: _mean(v, (1, 2, 3))), "the means go over the whole sample, not over a group"
    yield p.rstd * project(p.a, lambda v: _mean(v, (0, 2, 3))), "the means go over the samples too; each has its own"
    yield p.rstd * project(p.a, lambda v: _mean(v, (1,))), "the means go over all groups; each group has its own"
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
        yield own.rstd * (own.a - _mean(own.a) - own.xhat * _mean(own.a * own.xhat)), _OWN_RSTD


def _wrong_terms(p: _Parts) -> Iterator[tuple[np.ndarray, str]]:
    """dx with one slip in one of its three terms, or in two of them."""
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
    for wrong, words in _wrong_dx(_Parts(case)):
        if _same(got["dx"], wrong.reshape(case.arguments["x"].shape)):
            return words
    return None


def _wrong_channels(p: _Parts) -> Iterator[tuple[str, np.ndarray, str]]:
    def total(array: np.ndarray) -> np.ndarray:
        return array.sum(axis=(0, 3)).ravel()

    batch, _, _, positions = p.dy.shape
    yield (
        "dgamma",
        total(p.a * p.xhat),
        "dgamma is summed from dy * gamma: y is xhat * gamma + beta, so gamma's own factor is xhat alone",
    )
    yield "dbeta", total(p.a), "dbeta is summed from dy * gamma: beta is added last, after gamma"
    yield "dgamma", total(p.dy * p.x), "dgamma is summed from dy * x: gamma is multiplied with xhat, not with x"
    yield "dgamma", total(p.dy * p.centred), "dgamma is summed from dy * (x - mean): xhat has a factor rstd, too"
    for name, each in (("dgamma", p.dy * p.xhat), ("dbeta", p.dy)):
        yield name, total(each) / (batch * positions), f"{name} is a mean; every element adds to it: take the sum"
        yield name, total(each) / batch, f"{name} is a mean over the samples; take the sum"
        yield name, total(each) / positions, f"{name} is a mean over the positions; take the sum"
        yield name, each[0].sum(axis=2).ravel(), f"{name} holds the first sample only"
        yield name, each[..., 0].sum(axis=0).ravel(), f"{name} holds the first position of each channel only"


def _which_channels(case: PythonCase, got: Got) -> str | None:
    if case.arguments["x"].shape[0] == 0:
        return "the batch is empty here (N = 0): nothing adds to dgamma and dbeta, so they are zeros"
    if _same(got["dgamma"], case.expected["dbeta"]) and _same(got["dbeta"], case.expected["dgamma"]):
        return "dgamma and dbeta have changed places: the function returns dgamma, dbeta, in this order"
    p = _Parts(case)
    for name, wrong, words in _wrong_channels(p):
        if _same(got[name], wrong):
            return words
    for own in p.with_own_rstd():
        if _same(got["dgamma"], (own.dy * own.xhat).sum(axis=(0, 3)).ravel()):
            return _OWN_RSTD
    batch, channels = case.arguments["x"].shape[:2]
    groups = case.arguments["num_groups"]
    tiled = [
        np.tile(case.arguments[name], (1, channels // groups)).reshape(batch, channels, 1) for name in ("mean", "rstd")
    ]
    flat = (batch, channels, -1)
    xhat = (case.arguments["x"].reshape(flat) - tiled[0]) * tiled[1]
    if _same(got["dgamma"], (case.arguments["dy"].reshape(flat) * xhat).sum(axis=(0, 2))):
        return "mean and rstd lie along the wrong channels: the first C / G channels have those of group 0"
    return None


def _channel_shapes(case: PythonCase, got: Got) -> str | None:
    batch, channels, *spatial = case.arguments["x"].shape
    shapes = {array.shape for array in got.values()}
    if (batch, channels) in shapes:
        return "one number for each channel of each sample: sum over the samples, too"
    if (channels, *spatial) in shapes and spatial:
        return "one number for each position: sum over the positions, too"
    if (case.arguments["num_groups"],) in shapes:
        return "one number for each group; gamma and beta belong to channels"
    return None


def _which_reshape(case: PythonCase, said: str, function: str) -> str | None:
    """An empty batch has no elements from which reshape could find out what -1 stands for."""
    del function
    if case.arguments["x"].size or "cannot reshape" not in said:
        return None
    return (
        "The batch is empty here (N = 0): with 0 elements reshape cannot compute what -1 means. Write the size out, "
        "math.prod(x.shape[2:]) for the positions; or do without the reshape"
    )


# float64 inside: seven digits are far from any rounding and near enough to tell the wrong formulas apart.
GRADIENT_X = PythonChecker(_x_cases, rtol=1e-7, atol=1e-9, symptoms=(_which_dx,))
GRADIENT_GAMMA_BETA = PythonChecker(
    _channel_cases,
    rtol=1e-7,
    atol=1e-9,
    symptoms=(_which_channels,),
    shapes=_channel_shapes,
    raised=_which_reshape,
)
