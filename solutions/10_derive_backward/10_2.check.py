"""10.2: the gradients of gamma and beta, which belong to channels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gn_tutorial.compare.elements import same
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker

from .gradient_cases import OWN_RSTD, SHAPES, Got, Parts, drawn_shape, gradient_case


def _channel_cases(rng: np.random.Generator) -> list[PythonCase]:
    shapes = [*SHAPES, drawn_shape(rng), ((0, 6, 4), 3)]
    return [gradient_case(rng, "gradient_gamma_beta", ("dgamma", "dbeta"), *shape) for shape in shapes]


def _wrong_channels(p: Parts) -> Iterator[tuple[str, np.ndarray, str]]:
    def total(array: np.ndarray) -> np.ndarray:
        return array.sum(axis=(0, 3)).ravel()

    batch, _, _, positions = p.dy.shape
    yield (
        "dgamma",
        total(p.a * p.xhat),
        "dgamma is summed from dy * gamma: y is xhat * gamma + beta, so gamma's own factor is xhat alone",
    )
    yield ("dbeta", total(p.a), "dbeta is summed from dy * gamma: beta is added last, after gamma")
    yield ("dgamma", total(p.dy * p.x), "dgamma is summed from dy * x: gamma is multiplied with xhat, not with x")
    yield ("dgamma", total(p.dy * p.centred), "dgamma is summed from dy * (x - mean): xhat has a factor rstd, too")
    for name, each in (("dgamma", p.dy * p.xhat), ("dbeta", p.dy)):
        yield (name, total(each) / (batch * positions), f"{name} is a mean; every element adds to it: take the sum")
        yield (name, total(each) / batch, f"{name} is a mean over the samples; take the sum")
        yield (name, total(each) / positions, f"{name} is a mean over the positions; take the sum")
        yield name, each[0].sum(axis=2).ravel(), f"{name} holds the first sample only"
        yield (name, each[..., 0].sum(axis=0).ravel(), f"{name} holds the first position of each channel only")


def _which_channels(case: PythonCase, got: Got) -> str | None:
    if case.arguments["x"].shape[0] == 0:
        return "the batch is empty here (N = 0): nothing adds to dgamma and dbeta, so they are zeros"
    if same(got["dgamma"], case.expected["dbeta"]) and same(got["dbeta"], case.expected["dgamma"]):
        return "dgamma and dbeta have changed places: the function returns dgamma, dbeta, in this order"
    p = Parts(case)
    for name, wrong, words in _wrong_channels(p):
        if same(got[name], wrong):
            return words
    for own in p.with_own_rstd():
        if same(got["dgamma"], (own.dy * own.xhat).sum(axis=(0, 3)).ravel()):
            return OWN_RSTD
    batch, channels = case.arguments["x"].shape[:2]
    groups = case.arguments["num_groups"]
    tiled = [
        np.tile(case.arguments[name], (1, channels // groups)).reshape(batch, channels, 1) for name in ("mean", "rstd")
    ]
    flat = (batch, channels, -1)
    xhat = (case.arguments["x"].reshape(flat) - tiled[0]) * tiled[1]
    if same(got["dgamma"], (case.arguments["dy"].reshape(flat) * xhat).sum(axis=(0, 2))):
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
    """Explain a failed reshape of an empty batch, which has no elements from which -1 could follow."""
    del function
    if case.arguments["x"].size or "cannot reshape" not in said:
        return None
    return (
        "The batch is empty here (N = 0): with 0 elements reshape cannot compute what -1 means. Write the size out, "
        "math.prod(x.shape[2:]) for the positions; or do without the reshape"
    )


CHECK = PythonChecker(
    _channel_cases, rtol=1e-7, atol=1e-9, symptoms=(_which_channels,), shapes=_channel_shapes, raised=_which_reshape
)
