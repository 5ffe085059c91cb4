"""Gelu and GeluBackward."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from host_api_support import BFLOAT16, DOUBLE, GONE, HALF, INT32, NULL, View, far_views
from host_case import HostCase, Numbers
from host_fuzz_ops import Arrays, Call, Op, here, lay_out, near
from host_fuzz_views import DTYPES, apart

from gn_tutorial import host, reference
from gn_tutorial.host import Code

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
MOST = (1 << 31) - 1
SHAPE = (2, 6, 5, 7)

REFUSALS = [
    ("self-null", {"self": NULL}, NULLPTR, "self is null"),
    ("out-null", {"out": NULL}, NULLPTR, "out is null"),
    ("self-gone", {"self": GONE}, INVALID, "self was destroyed, or never made"),
    ("no-data", {"self": View((3, 5, 7), data=0)}, NULLPTR, "self has elements, but its tensorData is null"),
    ("self-type", {"self": View((3, 5, 7), INT32)}, INVALID, "self is int32"),
    ("out-type", {"out": View((3, 5, 7), HALF)}, INVALID, "out is float16; it must be float32, the type of self"),
    ("out-shape", {"out": View((3, 7, 5))}, INVALID, "out has shape (3, 7, 5); it must be (3, 5, 7)"),
    ("out-axes", {"out": View((105,))}, INVALID, "out has shape (105); it must be (3, 5, 7), the shape of self"),
    (
        "in-place",
        far_views("self", dims=(3, 5, 7)) | far_views("out", dims=(3, 5, 7)),
        INVALID,
        "out shares memory with se",
    ),
    ("out-on-itself", {"out": View((3, 5, 7), strides=(7, 7, 1))}, INVALID, "two elements of out share memory"),
    ("too-many", far_views("self", "out", dims=(1 << 16, 1 << 15)), INVALID, "more than 2147483647 elements"),
]
BACKWARD_REFUSALS = [
    ("gradOut-null", {"gradOut": NULL}, NULLPTR, "gradOut is null"),
    ("self-null", {"self": NULL}, NULLPTR, "self is null"),
    ("gradInput-null", {"gradInput": NULL}, NULLPTR, "gradInput is null"),
    ("gradInput-gone", {"gradInput": GONE}, INVALID, "gradInput was destroyed, or never made"),
    ("gradOut-type", {"gradOut": View((3, 5, 7), DOUBLE)}, INVALID, "gradOut is float64"),
    ("self-type", {"self": View((3, 5, 7), BFLOAT16)}, INVALID, "self is bfloat16; it must be float32"),
    ("gradInput-type", {"gradInput": View((3, 5, 7), HALF)}, INVALID, "gradInput is float16; it must be float32"),
    (
        "self-shape",
        {"self": View((3, 5))},
        INVALID,
        "self has shape (3, 5); it must be (3, 5, 7), the shape of grad",
    ),
    (
        "gradInput-shape",
        {"gradInput": View((3, 5, 8))},
        INVALID,
        "gradInput has shape (3, 5, 8); it must be (3, 5,",
    ),
    (
        "in-place",
        far_views("gradOut", dims=(3, 5, 7)) | far_views("gradInput", dims=(3, 5, 7)),
        INVALID,
        "gradInput shares memory with gradOut",
    ),
    (
        "too-many",
        far_views("gradOut", "self", "gradInput", dims=(1 << 31,)),
        INVALID,
        "more than 2147483647 elements",
    ),
]


def elements(name: str, inputs: tuple[str, ...], made: tuple[str, ...], compute: Callable[..., Any]) -> Op:
    names = (*inputs, *made)

    def right(rng: random.Random) -> Call:
        shape = tuple(rng.choice((1, 2, 3, 4, 5, 5, 0)) for _ in range(rng.randint(0, 4)))
        call: Call = {}
        lay_out(rng, call, dict.fromkeys(names, shape), dict.fromkeys(names, rng.choice(list(DTYPES))))
        return call

    def allowed(call: Call) -> bool:
        views = here(call, names)
        if views is None or len({view.dims for view in views.values()}) != 1:
            return False
        return math.prod(views[made[0]].dims) <= MOST and apart(views, made)

    def expected(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
        found = compute(*(read[one] for one in inputs))
        return found if isinstance(found, tuple) else (found,)

    return Op(name, inputs, (), made, right, allowed, expected, near)


CASES = [
    HostCase(
        name="Gelu",
        call={"self": View((3, 5, 7)), "out": View((3, 5, 7))},
        refusals=REFUSALS,
        fuzz=elements("Gelu", ("self",), ("out",), reference.gelu),
        numbers=Numbers(function=host.gelu, reference=reference.gelu, inputs=(SHAPE,), out=SHAPE),
    ),
    HostCase(
        name="GeluBackward",
        call={"gradOut": View((3, 5, 7)), "self": View((3, 5, 7)), "gradInput": View((3, 5, 7))},
        refusals=BACKWARD_REFUSALS,
        fuzz=elements("GeluBackward", ("gradOut", "self"), ("gradInput",), reference.gelu_backward),
        numbers=Numbers(
            function=host.gelu_backward, reference=reference.gelu_backward, inputs=(SHAPE, SHAPE), out=SHAPE
        ),
    ),
]
