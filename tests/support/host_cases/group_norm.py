"""GroupNorm and GroupNormSilu. The refusals of aclnn's own pages come first in each table; the others are ours."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from host_api_support import BFLOAT16, DOUBLE, FLOAT, GONE, HALF, INT32, NULL, Row, View
from host_case import HostCase, Numbers
from host_fuzz_ops import Arrays, Call, Op, lay_out
from host_fuzz_views import DTYPES, apart
from host_fuzz_views import View as Placed

from gn_tutorial import host, reference
from gn_tutorial.host import Code
from gn_tutorial.operators.registry import find_kernel

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
SIZES = ("N", "C", "HxW", "group")
INPUTS, OUTPUTS = ("self", "gamma", "beta"), ("out", "meanOut", "rstdOut")
OF_X = ("self", "gamma", "beta", "out")
CALL = {
    "self": View((2, 6, 4, 3)),
    "gamma": View((6,)),
    "beta": View((6,)),
    "N": 2,
    "C": 6,
    "HxW": 12,
    "group": 3,
    "eps": 1e-5,
    "out": View((2, 6, 4, 3)),
    "meanOut": View((2, 3)),
    "rstdOut": View((2, 3)),
}


def halves(data: int, mean: int, rstd: int) -> Call:
    """Set the types of the data and of both statistics."""
    types = dict.fromkeys(OF_X, data) | {"meanOut": mean, "rstdOut": rstd}
    return {name: View(CALL[name].dims, dtype) for name, dtype in types.items()}


REFUSALS: list[Row] = [
    ("self-null", {"self": NULL}, NULLPTR, "self is null"),
    ("out-null", {"out": NULL}, NULLPTR, "out is null"),
    ("mean-null", {"meanOut": NULL}, NULLPTR, "meanOut is null"),
    ("rstd-null", {"rstdOut": NULL}, NULLPTR, "rstdOut is null"),
    ("size-null", {"workspaceSize": NULL}, NULLPTR, "workspaceSize is null"),
    ("executor-null", {"executor": NULL}, NULLPTR, "executor is null"),
    ("self-type", {"self": View((2, 6, 4, 3), INT32)}, INVALID, "self is int32"),
    ("self-double", {"self": View((2, 6, 4, 3), DOUBLE)}, INVALID, "self is float64"),
    ("self-unknown-type", {"self": View((2, 6, 4, 3), 99)}, INVALID, "self is type number 99"),
    ("gamma-type", {"gamma": View((6,), HALF)}, INVALID, "gamma is float16; it must be float32"),
    ("beta-type", {"beta": View((6,), BFLOAT16)}, INVALID, "beta is bfloat16; it must be float32"),
    ("out-type", {"out": View((2, 6, 4, 3), HALF)}, INVALID, "out is float16; it must be float32"),
    ("mean-type", {"meanOut": View((2, 3), HALF)}, INVALID, "meanOut is float16; it must be float32"),
    ("rstd-type", {"rstdOut": View((2, 3), BFLOAT16)}, INVALID, "rstdOut is bfloat16; it must be float32, the type of"),
    ("mean-double", {"meanOut": View((2, 3), DOUBLE)}, INVALID, "meanOut is float64"),
    ("mean-other-half", halves(BFLOAT16, HALF, BFLOAT16), INVALID, "meanOut is float16; it must be float32, or bfloat"),
    ("rstd-not-as-mean", halves(HALF, HALF, FLOAT), INVALID, "rstdOut is float32; it must be float16, the type of me"),
    ("mean-not-as-rstd", halves(HALF, FLOAT, HALF), INVALID, "rstdOut is float16; it must be float32, the type of me"),
    ("one-axis", {"self": View((144,)), "out": View((144,))}, INVALID, "needs 2 to 8 axes"),
    ("group-zero", {"group": 0}, INVALID, "group is 0; it must be positive"),
    ("group-negative", {"group": -3}, INVALID, "group is -3; it must be positive"),
    ("group-no-divisor", {"group": 4}, INVALID, "C is 6, which group = 4 does not divide"),
    ("eps-zero", {"eps": 0.0}, INVALID, "eps is 0; it must be positive"),
    ("eps-negative", {"eps": -1e-5}, INVALID, "eps is -1e-05"),
    ("eps-nan", {"eps": float("nan")}, INVALID, "eps is nan"),
    ("eps-infinite", {"eps": float("inf")}, INVALID, "eps is inf"),
    ("eps-zero-as-float", {"eps": 1e-50}, INVALID, "eps is 1e-50; it must be positive and finite as float32"),
    ("out-shape", {"out": View((2, 6, 3, 4))}, INVALID, "out has shape (2, 6, 3, 4); it must be (2, 6, 4, 3)"),
    ("mean-shape", {"meanOut": View((6,))}, INVALID, "meanOut has shape (6); it must be (2, 3), (N, group)"),
    ("rstd-shape", {"rstdOut": View((3, 2))}, INVALID, "rstdOut has shape (3, 2); it must be (2, 3)"),
    ("N", {"N": 3}, INVALID, "which is not N = 3, C = 6, HxW = 12"),
    ("C", {"C": 3, "group": 3}, INVALID, "which is not N = 2, C = 3, HxW = 12"),
    ("HxW", {"HxW": 11}, INVALID, "which is not N = 2, C = 6, HxW = 11"),
    ("HxW-of-two-axes", {"self": View((2, 6)), "out": View((2, 6))}, INVALID, "1 if there are none"),
    ("gamma-count", {"gamma": View((7,))}, INVALID, "gamma has shape (7); it must be (6)"),
    ("gamma-axes", {"gamma": View((6, 1))}, INVALID, "gamma has shape (6, 1); it must be (6)"),
    ("beta-count", {"beta": View((5,))}, INVALID, "beta has shape (5); it must be (6)"),
    # Ours.
    ("self-gone", {"self": GONE}, INVALID, "self was destroyed, or never made"),
    ("beta-gone", {"beta": GONE}, INVALID, "beta was destroyed, or never made"),
    ("N-negative", {"N": -2}, INVALID, "N is -2; it must not be negative"),
    ("C-negative", {"C": -6}, INVALID, "C is -6; it must not be negative"),
    ("HxW-negative", {"HxW": -12}, INVALID, "HxW is -12; it must not be negative"),
    ("no-channels", {"C": 0}, INVALID, "C is 0"),
    ("no-space", {"HxW": 0}, INVALID, "a group without elements has no mean"),
    ("too-many", {"N": 1 << 40, "C": 6 << 40}, INVALID, "does not fit in 64 bits"),
    ("no-data", {"self": View((2, 6, 4, 3), data=0)}, NULLPTR, "self has elements, but its tensorData is null"),
    ("out-of-one-place", {"out": View((2, 6, 4, 3), strides=(0, 0, 0, 0))}, INVALID, "two elements of out share"),
    ("out-on-itself", {"out": View((2, 6, 4, 3), strides=(72, 12, 2, 1))}, INVALID, "two elements of out share"),
    (
        "large-group",
        {"N": 1, "C": 6, "HxW": 1 << 31, "group": 1, "meanOut": View((1, 1)), "rstdOut": View((1, 1))}
        | {name: View((1, 6, 1 << 31), data=at << 40) for name, at in (("self", 1), ("out", 2))},
        INVALID,
        "more than 2147483647 elements",
    ),
]
# GroupNormSilu has the refusals of GroupNorm, except those of the sizes: it reads the sizes from self.
OTHER_SIZES = {"N", "C", "HxW"}
SILU_REFUSALS: list[Row] = [
    *(row for row in REFUSALS if not OTHER_SIZES & row[1].keys() and row[0] != "HxW-of-two-axes"),
    ("no-axis", {"self": View(()), "out": View(())}, INVALID, "self has shape (); it needs 2 to 8 axes"),
    ("other-channels", {"self": View((2, 9, 4, 3))}, INVALID, "gamma has shape (6); it must be (9)"),
    ("no-channels", {"self": View((2, 0, 4)), "out": View((2, 0, 4))}, INVALID, "C is 0"),
    ("no-space", {"self": View((2, 6, 0)), "out": View((2, 6, 0))}, INVALID, "a group without elements has no mean"),
    (
        "other-batch",
        {"self": View((3, 6, 4, 3)), "out": View((3, 6, 4, 3))},
        INVALID,
        "meanOut has shape (2, 3); it must be (3, 3)",
    ),
    (
        "large-group",
        {"group": 1, "meanOut": View((1, 1)), "rstdOut": View((1, 1))}
        | {name: View((1, 6, 1 << 31), data=at << 40) for name, at in (("self", 1), ("out", 2))},
        INVALID,
        "more than 2147483647 elements",
    ),
]


def sizes(rng: random.Random) -> tuple[Call, tuple[int, ...], int]:
    """Return N, C, HxW and group of a right call, the shape of x, and a type."""
    groups, n = rng.randint(1, 4), rng.choice((0, 1, 2, 3))
    channels = groups * rng.randint(1, 4)
    space = tuple(rng.randint(1, 5) for _ in range(rng.randint(0, 3)))
    call: Call = {"N": n, "C": channels, "HxW": math.prod(space), "group": groups}
    return call, (n, channels, *space), rng.choice(list(DTYPES))


def sizes_fit(call: Call) -> bool:
    n, channels, space, groups = (call[name] for name in SIZES)
    if min(n, channels, space) < 0 or groups <= 0 or channels == 0 or channels % groups or (space == 0 and n > 0):
        return False
    most = (1 << 31) - 1
    return max(channels // groups * space, n * groups) <= most and channels * space < 1 << 63


def right_forward(rng: random.Random) -> Call:
    call, data, dtype = sizes(rng)
    affine, statistics = data[1:2], (data[0], call["group"])
    shapes = dict(zip((*INPUTS, *OUTPUTS), (data, affine, affine, data, *[statistics] * 2), strict=True))
    saved = rng.choice((0, 0, dtype))
    lay_out(rng, call, shapes, {name: dtype if name in OF_X else saved for name in shapes})
    call["eps"] = 1e-5
    for name in ("gamma", "beta"):
        if rng.random() < 0.2:
            call[name] = None
    return call


def allowed_forward(call: Call) -> bool:
    views = {name: call[name] for name in (*INPUTS, *OUTPUTS)}
    if any(views[name] is None for name in ("self", *OUTPUTS)) or "gone" in views.values():
        return False
    here = {name: view for name, view in views.items() if view is not None}
    n, channels, space, groups = (call[name] for name in SIZES)
    dims, dtype = here["self"].dims, here["self"].dtype
    affine, statistics = (channels,), (n, groups)
    shapes = dict(zip(views, (dims, affine, affine, dims, statistics, statistics), strict=True))
    saved = here["meanOut"].dtype
    types = {name: dtype if name in OF_X else saved for name in here}
    if (
        dtype not in DTYPES
        or saved not in (0, dtype)
        or any(v.dtype != types[name] or v.dims != shapes[name] for name, v in here.items())
    ):
        return False
    with np.errstate(all="ignore"):
        small = np.float32(call["eps"])
    if len(dims) < 2 or (n, channels, space) != (*dims[:2], math.prod(dims[2:])) or not 0 < small < np.inf:
        return False
    return sizes_fit(call) and apart(here, OUTPUTS)


def sizes_of_self(call: Call) -> Call:
    """Return the call with the sizes that GroupNormSilu reads from self."""
    dims = call["self"].dims if isinstance(call["self"], Placed) else ()
    if len(dims) < 2:
        return {**call, "C": 0}
    return {**call, "N": dims[0], "C": dims[1], "HxW": math.prod(dims[2:])}


def forward(name: str, kernel: str, compute: Callable[..., Any], numbers: tuple[str, ...]) -> Op:
    tolerance = find_kernel(kernel)[1].tolerance

    def expected(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
        if 0 in call["self"].dims:
            return tuple(np.zeros(call[name].dims) for name in OUTPUTS)  # no elements
        how = {"num_groups": call["group"], "eps": float(np.float32(call["eps"]))}
        return tuple(compute(*(read[one] for one in INPUTS), **how))

    def near(found: np.ndarray, right: np.ndarray, dtype: np.dtype) -> bool:
        limit = tolerance.of(dtype.name)
        return np.allclose(found, right, rtol=limit.rtol, atol=limit.atol)

    def allowed(call: Call) -> bool:
        return allowed_forward(call if "N" in numbers else sizes_of_self(call))

    return Op(name, INPUTS, numbers, OUTPUTS, right_forward, allowed, expected, near)


def numbers(function: Callable[..., Any], right: Callable[..., Any]) -> Numbers:
    shape = (2, 6, 5, 7)
    return Numbers(function=function, reference=right, inputs=(shape, (6,), (6,)), out=shape, options={"num_groups": 3})


CASES = [
    HostCase(
        name="GroupNorm",
        call=CALL,
        refusals=REFUSALS,
        null=("gamma", "beta"),
        fuzz=forward("GroupNorm", "group_norm/any", reference.group_norm, (*SIZES, "eps")),
        numbers=numbers(host.group_norm, reference.group_norm),
    ),
    HostCase(
        name="GroupNormSilu",
        call={name: value for name, value in CALL.items() if name not in OTHER_SIZES},
        refusals=SILU_REFUSALS,
        null=("gamma", "beta"),
        fuzz=forward("GroupNormSilu", "group_norm_silu/fused", reference.group_norm_silu, ("group", "eps")),
        numbers=numbers(host.group_norm_silu, reference.group_norm_silu),
    ),
]
