"""RmsNorm and RmsNormGrad. The refusals of aclnn's own pages come first in each table; the others are ours."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from host_api_support import BFLOAT16, DOUBLE, GONE, HALF, INT32, NULL, Row, View, far_views
from host_case import HostCase, Numbers
from host_fuzz_ops import Arrays, Call, Op, lay_out, near
from host_fuzz_views import DTYPES, apart

from gn_tutorial import host, reference
from gn_tutorial.host import Code

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
MOST = (1 << 31) - 1
MOST_BACKWARD = (1 << 29) - 1
SHAPE = (2, 6, 5, 7)

REFUSALS: list[Row] = [
    ("x-null", {"x": NULL}, NULLPTR, "x is null"),
    ("gamma-null", {"gamma": NULL}, NULLPTR, "gamma is null"),
    ("y-null", {"yOut": NULL}, NULLPTR, "yOut is null"),
    ("rstd-null", {"rstdOut": NULL}, NULLPTR, "rstdOut is null"),
    ("x-type", {"x": View((2, 3, 10), INT32)}, INVALID, "x is int32"),
    ("x-double", {"x": View((2, 3, 10), DOUBLE)}, INVALID, "x is float64"),
    ("gamma-type", {"gamma": View((10,), HALF)}, INVALID, "gamma is float16; it must be float32, the type of x"),
    ("y-type", {"yOut": View((2, 3, 10), BFLOAT16)}, INVALID, "yOut is bfloat16; it must be float32"),
    ("rstd-type", {"rstdOut": View((2, 3, 1), HALF)}, INVALID, "rstdOut is float16; it must be float32, whatever"),
    ("x-no-axis", {"x": View(()), "gamma": View(())}, INVALID, "x has shape (); it needs 1 to 8 axes"),
    ("gamma-no-axis", {"gamma": View(())}, INVALID, "gamma has shape (), which is not the end of x's, (2, 3, 10)"),
    ("gamma-other", {"gamma": View((9,))}, INVALID, "gamma has shape (9), which is not the end of x's, (2, 3, 10)"),
    ("gamma-front", {"gamma": View((2,))}, INVALID, "gamma has shape (2), which is not the end of x's"),
    ("gamma-ones", {"gamma": View((1, 10))}, INVALID, "gamma has shape (1, 10), which is not the end of x's"),
    ("gamma-long", {"gamma": View((1, 2, 3, 10))}, INVALID, "gamma has shape (1, 2, 3, 10), which is not the end"),
    (
        "gamma-empty",
        {"x": View((2, 3, 0)), "gamma": View((0,)), "yOut": View((2, 3, 0))},
        INVALID,
        "gamma has shape (0): a row without elements has no mean",
    ),
    ("y-shape", {"yOut": View((3, 2, 10))}, INVALID, "yOut has shape (3, 2, 10); it must be (2, 3, 10)"),
    ("rstd-shape", {"rstdOut": View((2, 3))}, INVALID, "rstdOut has shape (2, 3); it must be (2, 3, 1), the shape"),
    ("rstd-of-two", {"gamma": View((3, 10))}, INVALID, "rstdOut has shape (2, 3, 1); it must be (2, 1, 1)"),
    # Ours.
    ("epsilon-zero", {"epsilon": 0.0}, INVALID, "epsilon is 0; it must be positive and finite as float32"),
    ("epsilon-nan", {"epsilon": float("nan")}, INVALID, "epsilon is nan"),
    ("epsilon-zero-as-float", {"epsilon": 1e-50}, INVALID, "epsilon is 1e-50"),
    ("epsilon-infinite", {"epsilon": 1e39}, INVALID, "epsilon is 1e+39"),
    ("gamma-gone", {"gamma": GONE}, INVALID, "gamma was destroyed, or never made"),
    ("no-data", {"gamma": View((10,), data=0)}, NULLPTR, "gamma has elements, but its tensorData is null"),
    (
        "in-place",
        far_views("x", dims=(2, 3, 10)) | far_views("yOut", dims=(2, 3, 10)),
        INVALID,
        "yOut shares memory with x",
    ),
    ("y-on-itself", {"yOut": View((2, 3, 10), strides=(0, 10, 1))}, INVALID, "two elements of yOut share memory"),
    (
        "too-many-rows",
        {"gamma": View((1,))} | far_views("x", "yOut", "rstdOut", dims=(1 << 31, 1)),
        INVALID,
        "x has more than 2147483647 rows",
    ),
    (
        "too-long",
        {"rstdOut": View((1, 1))}
        | far_views("x", "yOut", dims=(1, 1 << 31))
        | {"gamma": View((1 << 31,), data=3 << 50)},
        INVALID,
        "x has more than 2147483647 rows or columns",
    ),
]
GRAD_REFUSALS: list[Row] = [
    *((f"{name}-null", {name: NULL}, NULLPTR, f"{name} is null") for name in ("dy", "x", "rstd", "gamma", "dxOut")),
    ("dgamma-null", {"dgammaOut": NULL}, NULLPTR, "dgammaOut is null"),
    ("dy-type", {"dy": View((2, 3, 10), INT32)}, INVALID, "dy is int32"),
    ("x-type", {"x": View((2, 3, 10), HALF)}, INVALID, "x is float16; it must be float32, the type of dy"),
    ("gamma-type", {"gamma": View((10,), BFLOAT16)}, INVALID, "gamma is bfloat16; it must be float32"),
    ("dx-type", {"dxOut": View((2, 3, 10), HALF)}, INVALID, "dxOut is float16; it must be float32"),
    ("rstd-type", {"rstd": View((2, 3), HALF)}, INVALID, "rstd is float16; it must be float32, as the forward"),
    ("dgamma-type", {"dgammaOut": View((10,), HALF)}, INVALID, "dgammaOut is float16; it must be float32, whatever"),
    ("gamma-other", {"gamma": View((3,))}, INVALID, "gamma has shape (3), which is not the end of x's, (2, 3, 10)"),
    ("dy-shape", {"dy": View((6, 10))}, INVALID, "dy has shape (6, 10); it must be (2, 3, 10), the shape of x"),
    ("dx-shape", {"dxOut": View((2, 3, 11))}, INVALID, "dxOut has shape (2, 3, 11); it must be (2, 3, 10)"),
    ("rstd-shape", {"rstd": View((3, 2))}, INVALID, "rstd has shape (3, 2); it must be (2, 3, 1), the shape of x"),
    ("rstd-of-two", {"gamma": View((3, 10))}, INVALID, "rstd has shape (2, 3); it must be (2, 1, 1)"),
    ("dgamma-shape", {"dgammaOut": View((1, 10))}, INVALID, "dgammaOut has shape (1, 10); it must be (10)"),
    # Ours.
    ("x-no-axis", {"x": View(()), "gamma": View(())}, INVALID, "x has shape (); it needs 1 to 8 axes"),
    (
        "gamma-empty",
        {name: View((2, 3, 0)) for name in ("dy", "x", "dxOut")}
        | {name: View((0,)) for name in ("gamma", "dgammaOut")},
        INVALID,
        "gamma has shape (0): a row without elements has no mean",
    ),
    ("dgamma-gone", {"dgammaOut": GONE}, INVALID, "dgammaOut was destroyed, or never made"),
    ("no-data", {"rstd": View((2, 3), data=0)}, NULLPTR, "rstd has elements, but its tensorData is null"),
    (
        "gradients-together",
        far_views("dxOut", dims=(2, 3, 10)) | far_views("dgammaOut", dims=(10,)),
        INVALID,
        "dxOut and dgammaOut share memory",
    ),
    ("dgamma-on-itself", {"dgammaOut": View((10,), strides=(0,))}, INVALID, "two elements of dgammaOut share"),
    (
        "too-many-rows",
        {"gamma": View((1,)), "dgammaOut": View((1,))} | far_views("dy", "x", "dxOut", "rstd", dims=(1 << 31, 1)),
        INVALID,
        "x has more than 2147483647 rows",
    ),
    (
        "too-long",
        {"rstd": View((1,))}
        | far_views("dy", "x", "dxOut", dims=(1, 1 << 29))
        | far_views("gamma", "dgammaOut", dims=(1 << 29,), at=1 << 50),
        INVALID,
        "x has more than 536870911 columns",
    ),
    (
        "too-many",
        {"rstd": View((1 << 20,), data=1 << 60)}
        | far_views("dy", "x", "dxOut", dims=(1 << 20, 1 << 17))
        | far_views("gamma", "dgammaOut", dims=(1 << 17,), at=1 << 50),
        INVALID,
        "x has more than 2^36 elements",
    ),
]


def right_call(rng: random.Random, of_x: Sequence[str], float_too: Sequence[str]) -> Call:
    """Return a right call: one type for tensors like x; rstd with or without axes of length 1 for those of gamma."""
    outer = tuple(rng.choice((1, 2, 3, 4, 0)) for _ in range(rng.randint(0, 3)))
    last = tuple(rng.choice((1, 2, 3, 5, 9, 17)) for _ in range(rng.randint(1, 2)))
    ones = (1,) * len(last) if "rstdOut" in float_too or rng.random() < 0.5 else ()
    shapes = {"gamma": last, "dgammaOut": last, "rstd": outer + ones, "rstdOut": outer + ones}
    names, dtype = (*of_x, *float_too), rng.choice(list(DTYPES))
    call: Call = {}
    types = {name: dtype if name in of_x else 0 for name in names}
    lay_out(rng, call, {name: shapes.get(name, outer + last) for name in names}, types)
    return call


def allowed_call(
    of_x: Sequence[str], float_too: Sequence[str], outputs: Sequence[str], most: int
) -> Callable[..., bool]:
    def allowed(call: Call) -> bool:
        views = {name: call[name] for name in (*of_x, *float_too)}
        if None in views.values() or "gone" in views.values():
            return False
        types = {views[name].dtype for name in of_x}
        if len(types) != 1 or not types <= DTYPES.keys() or any(views[name].dtype != 0 for name in float_too):
            return False
        dims, last = views[of_x[0]].dims, views["gamma"].dims
        outer = dims[: len(dims) - len(last)]
        if not last or outer + last != dims or math.prod(last) == 0:
            return False
        ones = outer + (1,) * len(last)
        allowed_shapes = {"gamma": (last,), "dgammaOut": (last,), "rstdOut": (ones,), "rstd": (ones, outer)}
        if any(view.dims not in allowed_shapes.get(name, (dims,)) for name, view in views.items()):
            return False
        rows, length = math.prod(outer), math.prod(last)
        with np.errstate(all="ignore"):
            if not 0 < np.float32(call.get("epsilon", 1.0)) < np.inf:
                return False
        return max(rows, 1) <= MOST and length <= most and rows * length < 1 << 35 and apart(views, outputs)

    return allowed


def rows_of(call: Call, one: np.ndarray) -> np.ndarray:
    """Return x, or a tensor of its shape, as rows."""
    return one.reshape(-1, math.prod(call["gamma"].dims))


def expected_forward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    eps = float(np.float32(call["epsilon"]))
    y, rstd = reference.rms_norm(rows_of(call, read["x"]), read["gamma"].reshape(-1), eps=eps)
    return y.reshape(call["yOut"].dims), rstd.reshape(call["rstdOut"].dims)


def expected_backward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    dy, x = rows_of(call, read["dy"]), rows_of(call, read["x"])
    dx, dgamma = reference.rms_norm_backward(dy, x, read["rstd"].reshape(-1), read["gamma"].reshape(-1))
    return dx.reshape(call["dxOut"].dims), dgamma.reshape(call["dgammaOut"].dims)


def right_forward(rng: random.Random) -> Call:
    return right_call(rng, ("x", "gamma", "yOut"), ("rstdOut",)) | {"epsilon": 1e-6}


def right_backward(rng: random.Random) -> Call:
    return right_call(rng, ("dy", "x", "gamma", "dxOut"), ("rstd", "dgammaOut"))


CASES = [
    HostCase(
        name="RmsNorm",
        call={
            "x": View((2, 3, 10)), "gamma": View((10,)), "epsilon": 1e-6, "yOut": View((2, 3, 10)),
            "rstdOut": View((2, 3, 1)),
        },
        refusals=REFUSALS,
        fuzz=Op(
            "RmsNorm", ("x", "gamma"), ("epsilon",), ("yOut", "rstdOut"), right_forward,
            allowed_call(("x", "gamma", "yOut"), ("rstdOut",), ("yOut", "rstdOut"), MOST), expected_forward, near,
        ),
        numbers=Numbers(function=host.rms_norm, reference=reference.rms_norm, inputs=(SHAPE, SHAPE[-1:]), out=SHAPE),
    ),
    HostCase(
        name="RmsNormGrad",
        call={
            "dy": View((2, 3, 10)), "x": View((2, 3, 10)), "rstd": View((2, 3)), "gamma": View((10,)),
            "dxOut": View((2, 3, 10)), "dgammaOut": View((10,)),
        },
        refusals=GRAD_REFUSALS,
        fuzz=Op(
            "RmsNormGrad", ("dy", "x", "rstd", "gamma"), (), ("dxOut", "dgammaOut"), right_backward,
            allowed_call(("dy", "x", "gamma", "dxOut"), ("rstd", "dgammaOut"), ("dxOut", "dgammaOut"), MOST_BACKWARD),
            expected_backward, near,
            saved=lambda call, _, rng: {"rstd": rng.uniform(0.3, 2, math.prod(call["rstd"].dims))},
        ),
        numbers=None,  # see tests/host/test_host_rms_norm.py: its rstd is that of x
    ),
]  # fmt: skip
