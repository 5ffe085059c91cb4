"""GroupNormBackward, and GroupNormSiluBackward. The refusals of aclnn's own page come first; the others are ours."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
from host_api_support import BFLOAT16, FLOAT, GONE, HALF, INT32, NULL, Row, View
from host_case import HostCase
from host_fuzz_ops import Arrays, Call, Op, lay_out, some_mask, wanted
from host_fuzz_views import DTYPES, apart

from gn_tutorial import reference
from gn_tutorial.host import Code
from host_cases.group_norm import SIZES, sizes, sizes_fit

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
INPUTS, GRADIENTS = ("gradOut", "input", "mean", "rstd", "gamma"), ("gradInput", "gradGammaOut", "gradBetaOut")
SHAPES = dict.fromkeys(("gradOut", "input", "gradInput"), (2, 6, 4, 3)) | dict.fromkeys(
    ("gamma", "gradGammaOut", "gradBetaOut"), (6,)
)


def halves(data: int, mean: int, rstd: int) -> Call:
    """Set the types of the data and of both statistics."""
    views = {name: View(shape, data) for name, shape in SHAPES.items()}
    return views | {"mean": View((2, 3), mean), "rstd": View((2, 3), rstd)}


REFUSALS: list[Row] = [
    ("gradOut-null", {"gradOut": NULL}, NULLPTR, "gradOut is null"),
    ("input-null", {"input": NULL}, NULLPTR, "input is null"),
    ("mean-null", {"mean": NULL}, NULLPTR, "mean is null"),
    ("rstd-null", {"rstd": NULL}, NULLPTR, "rstd is null"),
    ("gradInput-null", {"gradInput": NULL}, NULLPTR, "gradInput is null, and outputMask[0] asks for it"),
    ("gradGamma-null", {"gradGammaOut": NULL}, NULLPTR, "gradGammaOut is null, and outputMask[1] asks for it"),
    ("gradBeta-null", {"gradBetaOut": NULL}, NULLPTR, "gradBetaOut is null, and outputMask[2] asks for it"),
    ("size-null", {"workspaceSize": NULL}, NULLPTR, "workspaceSize is null"),
    ("executor-null", {"executor": NULL}, NULLPTR, "executor is null"),
    ("gradOut-type", {"gradOut": View((2, 6, 4, 3), INT32)}, INVALID, "gradOut is int32"),
    ("input-type", {"input": View((2, 6, 4, 3), HALF)}, INVALID, "input is float16; it must be float32"),
    ("gamma-type", {"gamma": View((6,), HALF)}, INVALID, "gamma is float16; it must be float32"),
    (
        "mean-type",
        {"mean": View((2, 3), HALF)},
        INVALID,
        "mean is float16; it must be float32",
    ),
    ("rstd-type", {"rstd": View((2, 3), BFLOAT16)}, INVALID, "rstd is bfloat16; it must be float32, the type of mean"),
    ("mean-other-half", halves(BFLOAT16, HALF, BFLOAT16), INVALID, "mean is float16; it must be float32, or bfloat16"),
    ("rstd-not-as-mean", halves(HALF, HALF, FLOAT), INVALID, "rstd is float32; it must be float16, the type of mean"),
    ("mean-not-as-rstd", halves(HALF, FLOAT, HALF), INVALID, "rstd is float16; it must be float32, the type of mean"),
    ("gradInput-type", {"gradInput": View((2, 6, 4, 3), HALF)}, INVALID, "gradInput is float16"),
    ("gradGamma-type", {"gradGammaOut": View((6,), HALF)}, INVALID, "gradGammaOut is float16"),
    ("gradBeta-type", {"gradBetaOut": View((6,), HALF)}, INVALID, "gradBetaOut is float16"),
    ("mask-length", {"outputMaskSize": 2}, INVALID, "outputMaskSize is 2; it must be 3"),
    (
        "gradInput-shape",
        {"gradInput": View((2, 6, 12))},
        INVALID,
        "gradInput has shape (2, 6, 12); it must be (2, 6, 4",
    ),
    ("gradGamma-shape", {"gradGammaOut": View((6, 1))}, INVALID, "gradGammaOut has shape (6, 1); it must be (6)"),
    ("gradBeta-shape", {"gradBetaOut": View((5,))}, INVALID, "gradBetaOut has shape (5); it must be (6)"),
    ("group-zero", {"group": 0}, INVALID, "group is 0; it must be positive"),
    ("group-no-divisor", {"group": 5}, INVALID, "C is 6, which group = 5 does not divide"),
    ("gradOut-count", {"gradOut": View((2, 6, 4))}, INVALID, "gradOut has 48 elements; it must have 144"),
    ("input-count", {"input": View((2, 6, 4, 4))}, INVALID, "input has 192 elements; it must have 144, N * C * HxW"),
    ("mean-count", {"mean": View((2, 6))}, INVALID, "mean has 12 elements; it must have 6, N * group"),
    ("rstd-count", {"rstd": View((5,))}, INVALID, "rstd has 5 elements; it must have 6, N * group"),
    ("gamma-count", {"gamma": View((7,))}, INVALID, "gamma has 7 elements; it must have 6, C"),
    # Ours.
    ("mask-null", {"outputMask": NULL}, NULLPTR, "outputMask is null"),
    ("gradOut-gone", {"gradOut": GONE}, INVALID, "gradOut was destroyed, or never made"),
    ("N-negative", {"N": -2}, INVALID, "N is -2"),
    ("too-many", {"N": 1 << 40, "C": 6 << 40}, INVALID, "does not fit in 64 bits"),
    ("no-data", {"rstd": View((2, 3), data=0)}, NULLPTR, "rstd has elements, but its tensorData is null"),
    ("gradInput-on-itself", {"gradInput": View((2, 6, 4, 3), strides=(0, 12, 3, 1))}, INVALID, "of gradInput share"),
]


def right_backward(rng: random.Random, inputs: tuple[str, ...] = INPUTS) -> Call:
    call, data, dtype = sizes(rng)
    affine, statistics = data[1:2], (data[0], call["group"])
    given = (data, data, statistics, statistics, affine, affine)[: len(inputs)]
    shapes = dict(zip((*inputs, *GRADIENTS), (*given, data, affine, affine), strict=True))
    saved = rng.choice((0, 0, dtype))
    lay_out(rng, call, shapes, {name: saved if name in ("mean", "rstd") else dtype for name in shapes})
    call["outputMask"] = some_mask(rng)
    for name in inputs[4:]:
        if rng.random() < 0.2:
            call[name] = None
    return call


def saved_statistics(call: Call, read: Callable[[str], np.ndarray], rng: np.random.Generator) -> Arrays:
    """Return x's own mean, because the kernel corrects its rounding error, and a random rstd."""
    groups = call["N"] * call["group"]
    mean = read("input").reshape(groups, -1).mean(1) if groups else np.empty(0)
    return {"mean": mean, "rstd": rng.uniform(0.3, 2, groups)}


def allowed_backward(call: Call) -> bool:
    if len(call["outputMask"]) != 3:
        return False
    inputs = (*INPUTS, "beta") if "beta" in call else INPUTS
    views = {name: call[name] for name in (*inputs, *wanted(call, GRADIENTS))}  # the API ignores the others
    if any(view is None for name, view in views.items() if name not in ("gamma", "beta")) or "gone" in views.values():
        return False
    here = {name: view for name, view in views.items() if view is not None}
    dtype, saved = here["gradOut"].dtype, here["mean"].dtype
    if dtype not in DTYPES or saved not in (0, dtype) or not sizes_fit(call):
        return False
    n, channels, space, groups = (call[name] for name in SIZES)
    counts = dict.fromkeys(("gradOut", "input"), n * channels * space)
    counts |= dict.fromkeys(("mean", "rstd"), n * groups) | dict.fromkeys(("gamma", "beta"), channels)
    affine = here["gamma"].dims if "gamma" in here else (channels,)
    shapes = dict(zip(GRADIENTS, (here["input"].dims, affine, affine), strict=True))
    for name, view in here.items():
        if view.dtype != (saved if name in ("mean", "rstd") else dtype):
            return False
        if math.prod(view.dims) != counts[name] if name in counts else view.dims != shapes[name]:
            return False
    return apart(here, wanted(call, GRADIENTS))


def expected_backward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    shape = (call["N"], call["C"], call["HxW"])
    if call["N"] == 0:  # the sums are empty
        return tuple(np.zeros(call[name].dims) if name in wanted(call, GRADIENTS) else None for name in GRADIENTS)
    data = [read[name].reshape(shape) for name in ("gradOut", "input")]
    shape = call["N"], call["group"]
    # x's own mean, not the given one: the kernel corrects the given one's rounding, which is coarse in float16.
    own = read["input"].astype(np.float64).reshape(math.prod(shape), -1).mean(1) if math.prod(shape) else np.empty(0)
    statistics = [own.reshape(shape), read["rstd"].reshape(shape)]
    gamma = None if read["gamma"] is None else read["gamma"].reshape(-1)
    if "beta" in call:  # the gradient that reaches GroupNorm uses the given mean unchanged
        beta = None if read["beta"] is None else read["beta"].reshape(-1)
        data[0] = reaching(data[0], data[1], read["mean"].reshape(shape), statistics[1], gamma, beta)
    made = reference.group_norm_backward(*data, *statistics, gamma, num_groups=call["group"])
    return tuple(
        one.reshape(call[name].dims) if name in wanted(call, GRADIENTS) else None
        for name, one in zip(GRADIENTS, made, strict=True)
    )


def reaching(
    dy: np.ndarray, x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, gamma: np.ndarray | None, beta: np.ndarray | None
) -> np.ndarray:
    """Return dy times the slope of SiLU at (x - mean) * rstd * gamma + beta. x: (N, C, HxW); statistics: (N, group)."""
    each = x.shape[1] // mean.shape[1]
    centre, scale = (np.repeat(one.astype(np.float64), each, 1)[:, :, None] for one in (mean, rstd))
    u = (x.astype(np.float64) - centre) * scale
    u = u * (1 if gamma is None else gamma.astype(np.float64)[:, None])
    u = u + (0 if beta is None else beta.astype(np.float64)[:, None])
    return reference.silu_backward(dy, u)


def near_gradient(found: np.ndarray, right: np.ndarray, dtype: np.dtype) -> bool:
    # The statistics here are random, so terms are larger than their sum; add half a unit of a narrow type.
    unit = {"float32": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype.name]
    with np.errstate(over="ignore"):
        right = right if dtype == np.float32 else np.where(np.abs(right) < 65000, right, np.nan)
    scale = np.nanmax(np.abs(right), initial=0.0)
    close = np.isclose(found, right, rtol=1e-4 + unit, atol=1e-4 * (1 + scale))
    return bool((close | np.isnan(right)).all())


CALL = {
    "gradOut": View((2, 6, 4, 3)),
    "input": View((2, 6, 4, 3)),
    "mean": View((2, 3)),
    "rstd": View((2, 3)),
    "gamma": View((6,)),
    "N": 2,
    "C": 6,
    "HxW": 12,
    "group": 3,
    "outputMask": (1, 1, 1),
    "outputMaskSize": 3,
    "gradInput": View((2, 6, 4, 3)),
    "gradGammaOut": View((6,)),
    "gradBetaOut": View((6,)),
}
SILU_INPUTS = (*INPUTS, "beta")
SILU_REFUSALS: list[Row] = [
    # A row that changes the type of all tensors also changes beta's.
    *((name, change | ({"beta": change["gamma"]} if {"mean", "gamma"} <= {*change} else {}), code, text)
      for name, change, code, text in REFUSALS),
    ("beta-type", {"beta": View((6,), HALF)}, INVALID, "beta is float16; it must be float32"),
    ("beta-count", {"beta": View((7,))}, INVALID, "beta has 7 elements; it must have 6, C"),
    ("beta-gone", {"beta": GONE}, INVALID, "beta was destroyed, or never made"),
]  # fmt: skip
CASES = [
    HostCase(
        name="GroupNormBackward",
        call=CALL,
        refusals=REFUSALS,
        null=("gamma",),
        gradients=GRADIENTS,
        fuzz=Op(
            "GroupNormBackward", INPUTS, (*SIZES, "outputMask"), GRADIENTS, right_backward, allowed_backward,
            expected_backward, near_gradient, saved=saved_statistics,
        ),
        numbers=None,  # see tests/host/test_host_backward.py: its statistics are those of x
    ),
    HostCase(
        name="GroupNormSiluBackward",
        call={key: one for name, view in CALL.items() for key, one in (
            ((name, view), ("beta", View((6,)))) if name == "gamma" else ((name, view),)
        )},
        refusals=SILU_REFUSALS,
        null=("gamma", "beta"),
        gradients=GRADIENTS,
        fuzz=Op(
            "GroupNormSiluBackward", SILU_INPUTS, (*SIZES, "outputMask"), GRADIENTS,
            lambda rng: right_backward(rng, SILU_INPUTS), allowed_backward, expected_backward, near_gradient,
            saved=saved_statistics,
        ),
        numbers=None,  # as above
    ),
]  # fmt: skip
