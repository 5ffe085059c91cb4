"""Gelu and GeluBackward, the tanh form; GeluV2 and GeluBackwardV2, which have the attribute ``approximate``."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from host_api_support import BFLOAT16, DOUBLE, GONE, HALF, INT32, NULL, Row, View, far_views
from host_case import HostCase, Numbers
from host_fuzz_ops import Arrays, Call, Op, here, lay_out, near
from host_fuzz_views import DTYPES, apart

from gn_tutorial import host, reference
from gn_tutorial.host import Code, Stream
from gn_tutorial.host.arrays import run

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
MOST = (1 << 31) - 1
SHAPE = (2, 6, 5, 7)
DIMS = (3, 5, 7)


def forward_refusals(x: str, y: str) -> list[Row]:
    """Return the refusals of both forward calls, with their names for x and y."""
    return [
        ("x-null", {x: NULL}, NULLPTR, f"{x} is null"),
        ("y-null", {y: NULL}, NULLPTR, f"{y} is null"),
        ("x-gone", {x: GONE}, INVALID, f"{x} was destroyed, or never made"),
        ("no-data", {x: View(DIMS, data=0)}, NULLPTR, f"{x} has elements, but its tensorData is null"),
        ("x-type", {x: View(DIMS, INT32)}, INVALID, f"{x} is int32"),
        ("y-type", {y: View(DIMS, HALF)}, INVALID, f"{y} is float16; it must be float32, the type of {x}"),
        ("y-shape", {y: View((3, 7, 5))}, INVALID, f"{y} has shape (3, 7, 5); it must be (3, 5, 7)"),
        ("y-axes", {y: View((105,))}, INVALID, f"{y} has shape (105); it must be (3, 5, 7), the shape of {x}"),
        ("in-place", far_views(x, dims=DIMS) | far_views(y, dims=DIMS), INVALID, f"{y} shares memory with {x}"),
        ("y-on-itself", {y: View(DIMS, strides=(7, 7, 1))}, INVALID, f"two elements of {y} share memory"),
        ("too-many", far_views(x, y, dims=(1 << 16, 1 << 15)), INVALID, "more than 2147483647 elements"),
    ]


def backward_refusals(grad: str) -> list[Row]:
    """Return the refusals of both backward calls, which have different names for the gradient of y."""
    last = "gradInput"
    return [
        ("grad-null", {grad: NULL}, NULLPTR, f"{grad} is null"),
        ("self-null", {"self": NULL}, NULLPTR, "self is null"),
        ("last-null", {last: NULL}, NULLPTR, "gradInput is null"),
        ("last-gone", {last: GONE}, INVALID, "gradInput was destroyed, or never made"),
        ("grad-type", {grad: View(DIMS, DOUBLE)}, INVALID, f"{grad} is float64"),
        ("self-type", {"self": View(DIMS, BFLOAT16)}, INVALID, "self is bfloat16; it must be float32"),
        ("last-type", {last: View(DIMS, HALF)}, INVALID, "gradInput is float16; it must be float32"),
        (
            "self-shape",
            {"self": View((3, 5))},
            INVALID,
            f"self has shape (3, 5); it must be (3, 5, 7), the shape of {grad[:4]}",
        ),
        ("last-shape", {last: View((3, 5, 8))}, INVALID, "gradInput has shape (3, 5, 8); it must be (3, 5,"),
        (
            "in-place",
            far_views(grad, dims=DIMS) | far_views(last, dims=DIMS),
            INVALID,
            f"gradInput shares memory with {grad}",
        ),
        ("too-many", far_views(grad, "self", last, dims=(1 << 31,)), INVALID, "more than 2147483647 elements"),
    ]


#: The attribute is checked after null pointers, and before anything else about the tensors.
NUMBER_REFUSALS: list[Row] = [
    ("form", {"approximate": 2}, INVALID, "approximate is 2; it must be 0 or 1"),
    ("form-negative", {"approximate": -1}, INVALID, "approximate is -1;"),
    ("form-beyond-32-bits", {"approximate": 1 << 32}, INVALID, "approximate is 4294967296;"),
    ("form-before-types", {"approximate": 2, "x": View(DIMS, INT32)}, INVALID, "approximate is 2;"),
    ("null-before-form", {"approximate": 2, "y": NULL}, NULLPTR, "y is null"),
]
WORD_REFUSALS: list[Row] = [
    ("form-null", {"approximate": NULL}, NULLPTR, "approximate is null"),
    ("form", {"approximate": b"erf"}, INVALID, 'approximate is "erf"; it must be "none" or "tanh"'),
    ("form-case", {"approximate": b"Tanh"}, INVALID, 'approximate is "Tanh"'),
    ("form-empty", {"approximate": b""}, INVALID, 'approximate is ""'),
    ("form-long", {"approximate": b"t" * 5000}, INVALID, f'approximate is "{"t" * 40}"; it must'),
    ("form-before-types", {"approximate": b"erf", "self": View(DIMS, INT32)}, INVALID, 'approximate is "erf"'),
    ("null-before-form", {"approximate": b"erf", "gradInput": NULL}, NULLPTR, "gradInput is null"),
]


def elements(
    name: str,
    inputs: tuple[str, ...],
    made: tuple[str, ...],
    compute: Callable[..., Any],
    words: tuple[object, ...] | None = None,
) -> Op:
    """Return the model. words: ``approximate`` of "none" and of "tanh", in this order; None without that argument."""
    names = (*inputs, *made)

    def right(rng: random.Random) -> Call:
        shape = tuple(rng.choice((1, 2, 3, 4, 5, 5, 0)) for _ in range(rng.randint(0, 4)))
        call: Call = {"approximate": rng.choice(words)} if words else {}
        lay_out(rng, call, dict.fromkeys(names, shape), dict.fromkeys(names, rng.choice(list(DTYPES))))
        return call

    def allowed(call: Call) -> bool:
        views = here(call, names)
        if views is None or len({view.dims for view in views.values()}) != 1:
            return False
        if words and call["approximate"] not in words:
            return False
        return math.prod(views[made[0]].dims) <= MOST and apart(views, made)

    def expected(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
        forms = (("none", "tanh")[words.index(call["approximate"])],) if words else ()
        found = compute(*(read[one] for one in inputs), *forms)
        return found if isinstance(found, tuple) else (found,)

    return Op(name, inputs, ("approximate",) if words else (), made, right, allowed, expected, near)


def first_calls(
    name: str, *inputs: np.ndarray, approximate: str, stream: Stream | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Run a call without V2, which has no function in Python, and only the tanh form."""
    assert approximate == "tanh"
    made = np.empty(inputs[0].shape, inputs[0].dtype) if out is None else out
    run(name, inputs, (), (made,), stream)
    return made


def numbers(function: Callable[..., np.ndarray], right: Callable[..., np.ndarray], inputs: int, form: str) -> Numbers:
    options = {"approximate": form}
    return Numbers(function=function, reference=right, inputs=(SHAPE,) * inputs, out=SHAPE, options=options)


def tanh_form(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Return the function with ``approximate="tanh"``, the only form of the call."""
    return partial(function, approximate="tanh")


BACK = ("gradOut", "self", "gradInput")
BACK_V2 = ("gradOutput", "self", "gradInput")
CASES = [
    HostCase(
        name="Gelu",
        call={"self": View(DIMS), "out": View(DIMS)},
        refusals=forward_refusals("self", "out"),
        fuzz=elements("Gelu", ("self",), ("out",), tanh_form(reference.gelu)),
        numbers=numbers(partial(first_calls, "Gelu"), reference.gelu, 1, "tanh"),
    ),
    HostCase(
        name="GeluV2",
        call={"x": View(DIMS), "approximate": 0, "y": View(DIMS)},
        refusals=[*forward_refusals("x", "y"), *NUMBER_REFUSALS],
        fuzz=elements("GeluV2", ("x",), ("y",), reference.gelu, (0, 1)),
        numbers=numbers(host.gelu, reference.gelu, 1, "none"),
    ),
    HostCase(
        name="GeluBackward",
        call={name: View(DIMS) for name in BACK},
        refusals=backward_refusals("gradOut"),
        fuzz=elements("GeluBackward", BACK[:2], BACK[2:], tanh_form(reference.gelu_backward)),
        numbers=numbers(partial(first_calls, "GeluBackward"), reference.gelu_backward, 2, "tanh"),
    ),
    HostCase(
        name="GeluBackwardV2",
        call={"gradOutput": View(DIMS), "self": View(DIMS), "approximate": b"none", "gradInput": View(DIMS)},
        refusals=[*backward_refusals("gradOutput"), *WORD_REFUSALS],
        fuzz=elements("GeluBackwardV2", BACK_V2[:2], BACK_V2[2:], reference.gelu_backward, (b"none", b"tanh")),
        numbers=numbers(host.gelu_backward, reference.gelu_backward, 2, "none"),
    ),
]
