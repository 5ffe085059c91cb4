"""01.2: LayerNorm and InstanceNorm, the two limits of GroupNorm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial import reference
from gn_tutorial.compare.elements import same
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker


def _limit_cases(rng: np.random.Generator) -> list[PythonCase]:
    shapes = [((2, 3, 4), 1e-5), ((3, 5), 1e-3), ((2, 4, 3, 5), 1e-2), ((2, 3, 2, 3, 2), 1e-5)]
    shapes += [((int(rng.integers(2, 5)), int(rng.integers(2, 6)), int(rng.integers(2, 7))), 0.1)]
    return [_limit_case(rng, name, *shape) for name in ("layer_norm", "instance_norm") for shape in shapes]


def _limit_case(rng: np.random.Generator, name: str, shape: tuple[int, ...], eps: float) -> PythonCase:
    own = shape[1:] if name == "layer_norm" else shape[1:2]
    x = rng.standard_normal(shape) * 2 + np.linspace(-1, 4, int(np.prod(shape))).reshape(shape)
    gamma, beta = rng.uniform(0.5, 2, own), rng.uniform(1, 3, own)
    truth = getattr(reference, name)(x, gamma, beta, eps=eps)
    arguments = {"x": x, "gamma": gamma, "beta": beta, "eps": eps}
    return PythonCase(f"x of shape {shape}, eps {eps:g}", name, arguments, truth._asdict())


def _which_limit(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    x, gamma, beta, eps = (case.arguments[name] for name in ("x", "gamma", "beta", "eps"))
    if case.function == "instance_norm":
        if x.ndim > 2 and np.ptp(got["mean"], axis=1).max() == 0:
            return "all channels of a sample share one mean: that is LayerNorm; InstanceNorm takes one for each channel"
        return None
    inner = tuple(range(2, x.ndim))
    each = (x - x.mean(axis=inner, keepdims=True)) / np.sqrt(x.var(axis=inner, keepdims=True) + eps)
    if same(got["y"], each * gamma + beta):
        return "each channel is normalised by itself (G = C): that is InstanceNorm; LayerNorm has one group, G = 1"
    axes = tuple(range(1, x.ndim))
    plain = (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)
    if same(got["y"], plain):
        return "y is normalised, but gamma and beta of LayerNorm are not applied"
    before = x * gamma
    early = (before - before.mean(axis=axes, keepdims=True)) / np.sqrt(before.var(axis=axes, keepdims=True) + eps)
    if same(got["y"], early + beta):
        return "gamma is multiplied before the normalisation, which takes its effect off again; it comes afterwards"
    if same(got["rstd"], (1 / np.sqrt(x.var(axis=inner) + eps)).mean(axis=1)):
        return "this is one mean for each channel, so InstanceNorm; LayerNorm takes one for a whole sample"
    for other in (1e-5, 0.0):
        if eps != other and same(got["rstd"], 1 / np.sqrt(x.var(axis=axes) + other)):
            return f"eps is {other:g} here, which is not the eps that was given, {eps:g}"
    return None


def _limit_shapes(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    batch, channels = case.arguments["x"].shape[:2]
    shape = got["mean"].shape
    if case.function == "layer_norm" and shape == (batch, channels):
        return "that is one mean for each channel (G = C), InstanceNorm; LayerNorm has one group, G = 1"
    if case.function == "layer_norm" and shape == (batch, 1):
        return "drop the axis of the groups, which has length 1"
    if case.function == "instance_norm" and shape in ((batch, 1), (batch,)):
        return "that is one mean for each sample (G = 1), LayerNorm; InstanceNorm has C groups, one for each channel"
    return None


def _limit_raised(case: PythonCase, said: str, function: str) -> str | None:
    if function != "group_norm":
        return None
    if "NoneType" in said:
        return "group_norm needs a gamma and a beta: ones and zeros, one for each channel, change nothing"
    if case.function == "layer_norm" and "broadcast" in said:
        return (
            "LayerNorm's gamma has one number for each element, group_norm's one for each channel: give group_norm a "
            "gamma and a beta of its own, which change nothing"
        )
    return None


CHECK = PythonChecker(
    _limit_cases, rtol=1e-7, atol=1e-9, symptoms=(_which_limit,), shapes=_limit_shapes, raised=_limit_raised
)
