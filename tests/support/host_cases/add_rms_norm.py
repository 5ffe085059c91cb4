"""Cases of AddRmsNorm and AddRmsNormGrad, which are RmsNorm of a sum and share many refusals."""

from __future__ import annotations

import math
import random

import numpy as np
from host_api_support import BFLOAT16, GONE, HALF, INT32, NULL, Row, View, far_views
from host_case import HostCase
from host_fuzz_ops import Arrays, Call, Op, near
from host_fuzz_views import DTYPES

from gn_tutorial import reference
from gn_tutorial.host import Code
from host_cases.rms_norm import MOST, MOST_BACKWARD, allowed_call, right_call

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
X, GAMMA = View((2, 3, 10)), View((10,))
INPUTS, OUTPUTS = ("x1", "x2", "gamma"), ("yOut", "rstdOut", "xOut")
OF_X, OF_DY = (*INPUTS, "yOut", "xOut"), ("dy", "dsum", "x", "gamma", "dxOut")

REFUSALS: list[Row] = [
    *((f"{name}-null", {name: NULL}, NULLPTR, f"{name} is null") for name in (*INPUTS, *OUTPUTS)),
    ("x1-type", {"x1": View((2, 3, 10), INT32)}, INVALID, "x1 is int32"),
    ("x2-type", {"x2": View((2, 3, 10), HALF)}, INVALID, "x2 is float16; it must be float32, the type of x1"),
    ("gamma-type", {"gamma": View((10,), HALF)}, INVALID, "gamma is float16; it must be float32, the type of x1"),
    ("y-type", {"yOut": View((2, 3, 10), HALF)}, INVALID, "yOut is float16; it must be float32, the type of x1"),
    ("sum-type", {"xOut": View((2, 3, 10), BFLOAT16)}, INVALID, "xOut is bfloat16; it must be float32"),
    ("rstd-type", {"rstdOut": View((2, 3, 1), HALF)}, INVALID, "rstdOut is float16; it must be float32, whatever"),
    ("x1-no-axis", {"x1": View(()), "gamma": View(())}, INVALID, "x1 has shape (); it needs 1 to 8 axes"),
    ("gamma-other", {"gamma": View((9,))}, INVALID, "gamma has shape (9), which is not the end of x1's, (2, 3, 10)"),
    ("x2-shape", {"x2": View((3, 10))}, INVALID, "x2 has shape (3, 10); it must be (2, 3, 10), the shape of x1"),
    ("sum-shape", {"xOut": View((2, 30))}, INVALID, "xOut has shape (2, 30); it must be (2, 3, 10), the shape of x1"),
    ("rstd-shape", {"rstdOut": View((2, 3))}, INVALID, "rstdOut has shape (2, 3); it must be (2, 3, 1), the shape"),
    ("epsilon-zero", {"epsilon": 0.0}, INVALID, "epsilon is 0; it must be positive and finite as float32"),
    ("x2-gone", {"x2": GONE}, INVALID, "x2 was destroyed, or never made"),
    (
        "in-place",
        far_views("x2", dims=(2, 3, 10)) | far_views("xOut", dims=(2, 3, 10)),
        INVALID,
        "xOut shares memory with x2",
    ),
    (
        "outputs-together",
        far_views("yOut", dims=(2, 3, 10)) | far_views("xOut", dims=(2, 3, 10)),
        INVALID,
        "yOut and xOut share memory",
    ),
    (
        "too-many-rows",
        {"gamma": View((1,))} | far_views("x1", "x2", "yOut", "xOut", "rstdOut", dims=(1 << 31, 1)),
        INVALID,
        "x has more than 2147483647 rows",
    ),
]
GRAD_REFUSALS: list[Row] = [
    *((f"{one}-null", {one: NULL}, NULLPTR, f"{one} is null") for one in (*OF_DY, "rstd", "dgammaOut")),
    ("dy-type", {"dy": View((2, 3, 10), INT32)}, INVALID, "dy is int32"),
    ("dsum-type", {"dsum": View((2, 3, 10), HALF)}, INVALID, "dsum is float16; it must be float32, the type of dy"),
    ("dsum-shape", {"dsum": View((2, 3, 1))}, INVALID, "dsum has shape (2, 3, 1); it must be (2, 3, 10), the shape"),
    ("rstd-shape", {"rstd": View((3, 2))}, INVALID, "rstd has shape (3, 2); it must be (2, 3, 1), the shape of x"),
    ("dgamma-type", {"dgammaOut": View((10,), HALF)}, INVALID, "dgammaOut is float16; it must be float32, whatever"),
    ("dsum-gone", {"dsum": GONE}, INVALID, "dsum was destroyed, or never made"),
    (
        "in-place",
        far_views("dsum", dims=(2, 3, 10)) | far_views("dxOut", dims=(2, 3, 10)),
        INVALID,
        "dxOut shares memory with dsum",
    ),
]


def right_forward(rng: random.Random) -> Call:
    return right_call(rng, OF_X, ("rstdOut",)) | {"epsilon": 1e-6}


def right_backward(rng: random.Random) -> Call:
    return right_call(rng, OF_DY, ("rstd", "dgammaOut"))


def rows(call: Call, one: np.ndarray) -> np.ndarray:
    return one.reshape(-1, math.prod(call["gamma"].dims))


def expected_forward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    """Return the outputs. ``read`` has float64: x1 and x2 are rounded to the tensors' type before the sum."""
    x1, x2 = (rows(call, read[name]).astype(DTYPES[call["x1"].dtype]) for name in ("x1", "x2"))
    eps = float(np.float32(call["epsilon"]))
    y, total, rstd = reference.add_rms_norm(x1, x2, read["gamma"].reshape(-1), eps=eps)
    return tuple(one.reshape(call[name].dims) for name, one in zip(OUTPUTS, (y, rstd, total), strict=True))


def expected_backward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    dy, dsum, x = (rows(call, read[name]) for name in ("dy", "dsum", "x"))
    dx, dgamma = reference.add_rms_norm_backward(dy, dsum, x, read["rstd"].reshape(-1), read["gamma"].reshape(-1))
    return dx.reshape(call["dxOut"].dims), dgamma.reshape(call["dgammaOut"].dims)


CASES = [
    HostCase(
        name="AddRmsNorm",
        call={
            "x1": X, "x2": X, "gamma": GAMMA, "epsilon": 1e-6, "yOut": X, "rstdOut": View((2, 3, 1)), "xOut": X,
        },
        refusals=REFUSALS,
        fuzz=Op(
            "AddRmsNorm", INPUTS, ("epsilon",), OUTPUTS, right_forward,
            allowed_call(OF_X, ("rstdOut",), OUTPUTS, MOST), expected_forward, near,
        ),
        numbers=None,  # see tests/host/test_host_rms_norm.py: its reference rounds the sum
    ),
    HostCase(
        name="AddRmsNormGrad",
        call={
            "dy": X, "dsum": X, "x": X, "rstd": View((2, 3)), "gamma": GAMMA, "dxOut": X, "dgammaOut": GAMMA,
        },
        refusals=GRAD_REFUSALS,
        fuzz=Op(
            "AddRmsNormGrad", ("dy", "dsum", "x", "rstd", "gamma"), (), ("dxOut", "dgammaOut"), right_backward,
            allowed_call(OF_DY, ("rstd", "dgammaOut"), ("dxOut", "dgammaOut"), MOST_BACKWARD), expected_backward, near,
            saved=lambda call, _, rng: {"rstd": rng.uniform(0.3, 2, math.prod(call["rstd"].dims))},
        ),
        numbers=None,  # see tests/host/test_host_rms_norm.py: its rstd is that of the sum
    ),
]  # fmt: skip
