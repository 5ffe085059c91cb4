"""Cases of Linear and LinearBackward; of LinearGelu and LinearGeluBackward, with a pre-activation and a form."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
from host_api_support import BFLOAT16, GONE, HALF, INT32, NULL, View, far_views
from host_case import HostCase, Numbers
from host_fuzz_ops import Arrays, Call, Op, here, lay_out, near, some_mask, wanted
from host_fuzz_views import DTYPES, apart
from host_fuzz_views import View as Placed

from gn_tutorial import host, reference
from gn_tutorial.host import Code

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
MOST = (1 << 31) - 1
MOST_FEATURES = 1 << 29
GRADIENTS = ("gradInput", "gradWeight", "gradBias")
#: A tensor without elements, whose number of rows does not fit in 64 bits.
EMPTY = View((1 << 40, 1 << 40, 0), strides=(1, 1, 1), storage=(0,), data=0)

REFUSALS = [
    ("input-null", {"input": NULL}, NULLPTR, "input is null"),
    ("weight-null", {"weight": NULL}, NULLPTR, "weight is null"),
    ("out-null", {"out": NULL}, NULLPTR, "out is null"),
    ("bias-gone", {"bias": GONE}, INVALID, "bias was destroyed, or never made"),
    ("no-data", {"weight": View((4, 10), data=0)}, NULLPTR, "weight has elements, but its tensorData is null"),
    ("input-type", {"input": View((2, 3, 10), INT32)}, INVALID, "input is int32"),
    ("weight-type", {"weight": View((4, 10), HALF)}, INVALID, "weight is float16; it must be float32"),
    ("bias-type", {"bias": View((4,), BFLOAT16)}, INVALID, "bias is bfloat16; it must be float32"),
    ("out-type", {"out": View((2, 3, 4), HALF)}, INVALID, "out is float16; it must be float32"),
    ("no-axis", {"input": View(())}, INVALID, "input has shape (); it needs 1 to 8 axes"),
    ("weight-one-axis", {"weight": View((10,))}, INVALID, "weight has shape (10); it needs 2 axes: (O, K)"),
    ("weight-three-axes", {"weight": View((4, 10, 1))}, INVALID, "weight has shape (4, 10, 1); it needs 2 axes"),
    ("weight-columns", {"weight": View((4, 9))}, INVALID, "weight has shape (4, 9); it must be (4, 10), a column"),
    ("weight-transposed", {"weight": View((10, 4))}, INVALID, "weight has shape (10, 4); it must be (10, 10)"),
    ("bias-count", {"bias": View((3,))}, INVALID, "bias has shape (3); it must be (4), one number for each row"),
    ("bias-axes", {"bias": View((1, 4))}, INVALID, "bias has shape (1, 4); it must be (4)"),
    ("out-columns", {"out": View((2, 3, 10))}, INVALID, "out has shape (2, 3, 10); it must be (2, 3, 4)"),
    ("out-axes", {"out": View((6, 4))}, INVALID, "out has shape (6, 4); it must be (2, 3, 4)"),
    (
        "in-place",
        far_views("input", dims=(2, 3, 10)) | far_views("out", dims=(2, 3, 4)),
        INVALID,
        "out shares memory with ",
    ),
    ("out-on-itself", {"out": View((2, 3, 4), strides=(0, 4, 1))}, INVALID, "two elements of out share memory"),
    (
        "rows-beyond-64-bits",
        {
            "input": EMPTY,
            "weight": View((0, 0)),
            "bias": View((0,)),
            "out": EMPTY,
        },
        INVALID,
        "the product of its axes 0 to 1 does not fit in 64 bits",
    ),
    (
        "too-many-rows",
        {"bias": NULL, "weight": View((1, 1))} | far_views("input", "out", dims=(1 << 31, 1)),
        INVALID,
        "x has more than 2147483647 rows",
    ),
    (
        "too-wide",
        {"bias": NULL, "out": View((1, 1))} | far_views("input", "weight", dims=(1, (1 << 29) + 1)),
        INVALID,
        "more than 536870912 features",
    ),
]
BACKWARD_REFUSALS = [
    ("gradOut-null", {"gradOut": NULL}, NULLPTR, "gradOut is null"),
    ("input-null", {"input": NULL}, NULLPTR, "input is null"),
    ("weight-null", {"weight": NULL}, NULLPTR, "weight is null"),
    ("mask-null", {"outputMask": NULL}, NULLPTR, "outputMask is null"),
    ("mask-length", {"outputMaskSize": 4}, INVALID, "outputMaskSize is 4; it must be 3"),
    ("gradInput-null", {"gradInput": NULL}, NULLPTR, "gradInput is null, and outputMask[0] asks for it"),
    ("gradWeight-null", {"gradWeight": NULL}, NULLPTR, "gradWeight is null, and outputMask[1] asks for it"),
    ("gradBias-null", {"gradBias": NULL}, NULLPTR, "gradBias is null, and outputMask[2] asks for it"),
    ("gradBias-gone", {"gradBias": GONE}, INVALID, "gradBias was destroyed, or never made"),
    ("no-data", {"input": View((2, 3, 10), data=0)}, NULLPTR, "input has elements, but its tensorData is null"),
    ("gradOut-type", {"gradOut": View((2, 3, 4), INT32)}, INVALID, "gradOut is int32"),
    ("input-type", {"input": View((2, 3, 10), HALF)}, INVALID, "input is float16; it must be float32"),
    ("weight-type", {"weight": View((4, 10), HALF)}, INVALID, "weight is float16; it must be float32"),
    ("gradWeight-type", {"gradWeight": View((4, 10), BFLOAT16)}, INVALID, "gradWeight is bfloat16"),
    ("gradBias-type", {"gradBias": View((4,), HALF)}, INVALID, "gradBias is float16; it must be float32"),
    ("no-axis", {"input": View(())}, INVALID, "input has shape (); it needs 1 to 8 axes"),
    ("weight-columns", {"weight": View((4, 11))}, INVALID, "weight has shape (4, 11); it must be (4, 10)"),
    ("gradOut-shape", {"gradOut": View((3, 2, 4))}, INVALID, "gradOut has shape (3, 2, 4); it must be (2, 3, 4)"),
    (
        "gradOut-columns",
        {"gradOut": View((2, 3, 10))},
        INVALID,
        "gradOut has shape (2, 3, 10); it must be (2, 3, 4",
    ),
    (
        "gradInput-shape",
        {"gradInput": View((6, 10))},
        INVALID,
        "gradInput has shape (6, 10); it must be (2, 3, 10)",
    ),
    ("gradWeight-shape", {"gradWeight": View((10, 4))}, INVALID, "gradWeight has shape (10, 4); it must be (4, 10"),
    (
        "gradBias-shape",
        {"gradBias": View((10,))},
        INVALID,
        "gradBias has shape (10); it must be (4), one number",
    ),
    ("gradWeight-on-itself", {"gradWeight": View((4, 10), strides=(0, 1))}, INVALID, "two elements of gradWeight"),
    (
        "gradients-together",
        far_views("gradInput", dims=(2, 3, 10)) | far_views("gradWeight", dims=(4, 10)),
        INVALID,
        "gradInput and gradWeight share memory",
    ),
    (
        "too-many-rows",
        {"weight": View((1, 1)), "gradWeight": View((1, 1)), "gradBias": View((1,))}
        | far_views("gradOut", "input", "gradInput", dims=(1 << 31, 1)),
        INVALID,
        "x has more than 2147483647 rows",
    ),
]


def right_linear(rng: random.Random, names: Sequence[str]) -> Call:
    """Return a right call. names: of x (..., K), w (O, K), b (O), y (..., O), in their order."""
    rows = tuple(rng.choice((1, 2, 3, 4, 0)) for _ in range(rng.randint(0, 3)))
    inner, outer = (rng.choice((0, 1, 3, 5, 9, 17)) for _ in range(2))
    shapes = {"x": (*rows, inner), "w": (outer, inner), "b": (outer,), "y": (*rows, outer)}
    call: Call = {}
    dtype = rng.choice(list(DTYPES))
    lay_out(rng, call, {name: shapes[LETTERS[name]] for name in names}, dict.fromkeys(names, dtype))
    return call


LETTERS = {
    "input": "x", "weight": "w", "bias": "b", "out": "y", "gradOut": "y", "gradInput": "x", "gradWeight": "w",
    "gradBias": "b", "preactivation": "y", "preactivationOut": "y",
}  # fmt: skip


def fits(views: dict[str, Placed], outputs: Sequence[str]) -> bool:
    x, w = views["input"].dims, views["weight"].dims
    if len(x) < 1 or len(w) != 2:
        return False
    shapes = {"x": x, "w": (w[0], x[-1]), "b": w[:1], "y": (*x[:-1], w[0])}
    if any(view.dims != shapes[LETTERS[name]] for name, view in views.items()):
        return False
    if math.prod(x[:-1]) > MOST or max(w) > MOST_FEATURES or math.prod(x[:-1]) * w[0] // 256 > MOST // 4:
        return False
    return apart(views, outputs)


def allowed_forward(call: Call) -> bool:
    views = here(call, ("input", "weight", "out"), ("bias",))
    return views is not None and fits(views, ("out",))


def expected_forward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    bias = np.zeros(call["weight"].dims[0]) if read["bias"] is None else read["bias"]
    return (reference.linear(read["input"], read["weight"], bias),)


def right_forward(rng: random.Random) -> Call:
    call = right_linear(rng, ("input", "weight", "bias", "out"))
    if rng.random() < 0.2:
        call["bias"] = None
    return call


def right_backward(rng: random.Random) -> Call:
    call = right_linear(rng, ("gradOut", "input", "weight", *GRADIENTS))
    call["outputMask"] = some_mask(rng)
    return call


def allowed_backward(call: Call) -> bool:
    if len(call["outputMask"]) != 3:
        return False
    outputs = wanted(call, GRADIENTS)
    views = here(call, ("gradOut", "input", "weight", *outputs))
    return views is not None and fits(views, outputs)


def expected_backward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    made = reference.linear_backward(read["gradOut"], read["input"], read["weight"])
    outputs = wanted(call, GRADIENTS)
    return tuple(one if name in outputs else None for name, one in zip(GRADIENTS, made, strict=True))


#: The form is checked after null pointers and before anything else.
FORM_REFUSALS = [
    ("form", {"approximate": 2}, INVALID, "approximate is 2; it must be 0 or 1"),
    ("form-negative", {"approximate": -1}, INVALID, "approximate is -1;"),
    ("form-before-types", {"approximate": 2, "input": View((2, 3, 10), INT32)}, INVALID, "approximate is 2;"),
    ("null-before-form", {"approximate": 2, "weight": NULL}, NULLPTR, "weight is null"),
]
GELU_REFUSALS = [
    *FORM_REFUSALS,
    ("out-null", {"out": NULL}, NULLPTR, "out is null"),
    ("saved-gone", {"preactivationOut": GONE}, INVALID, "preactivationOut was destroyed, or never made"),
    ("saved-type", {"preactivationOut": View((2, 3, 4), HALF)}, INVALID, "preactivationOut is float16; it must be fl"),
    ("saved-shape", {"preactivationOut": View((6, 4))}, INVALID, "preactivationOut has shape (6, 4); it must be (2, "),
    ("weight-type", {"weight": View((4, 10), HALF)}, INVALID, "weight is float16; it must be float32"),
    ("bias-count", {"bias": View((3,))}, INVALID, "bias has shape (3); it must be (4), one number for each row"),
    (
        "outputs-together",
        far_views("out", dims=(2, 3, 4)) | far_views("preactivationOut", dims=(2, 3, 4)),
        INVALID,
        "out and preactivationOut share memory",
    ),
    (
        "in-place",
        far_views("input", dims=(2, 3, 10)) | far_views("preactivationOut", dims=(2, 3, 4)),
        INVALID,
        "preactivationOut shares memory with input",
    ),
    (
        "too-many-rows",
        {"bias": NULL, "weight": View((1, 1))} | far_views("input", "out", "preactivationOut", dims=(1 << 31, 1)),
        INVALID,
        "x has more than 2147483647 rows",
    ),
]
GELU_BACKWARD_REFUSALS = [
    *FORM_REFUSALS,
    ("saved-null", {"preactivation": NULL}, NULLPTR, "preactivation is null"),
    ("saved-gone", {"preactivation": GONE}, INVALID, "preactivation was destroyed, or never made"),
    ("saved-type", {"preactivation": View((2, 3, 4), HALF)}, INVALID, "preactivation is float16; it must be float32"),
    ("saved-shape", {"preactivation": View((2, 3, 10))}, INVALID, "preactivation has shape (2, 3, 10); it must be (2"),
    ("mask-length", {"outputMaskSize": 4}, INVALID, "outputMaskSize is 4; it must be 3"),
    ("gradBias-null", {"gradBias": NULL}, NULLPTR, "gradBias is null, and outputMask[2] asks for it"),
    (
        "in-place",
        far_views("preactivation", dims=(2, 3, 4)) | far_views("gradInput", dims=(2, 3, 10)),
        INVALID,
        "gradInput shares memory with preactivation",
    ),
]
SAVED = ("out", "preactivationOut")


def right_gelu(rng: random.Random) -> Call:
    call = right_linear(rng, ("input", "weight", "bias", *SAVED))
    for name in ("bias", "preactivationOut"):
        if rng.random() < 0.2:
            call[name] = None
    return call | {"approximate": rng.randint(0, 1)}


def allowed_gelu(call: Call) -> bool:
    views = here(call, ("input", "weight", "out"), ("bias", "preactivationOut"))
    outputs = [name for name in SAVED if call[name] is not None]
    return call["approximate"] in (0, 1) and views is not None and fits(views, outputs)


def expected_gelu(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    form = ("none", "tanh")[call["approximate"]]
    made = reference.linear_gelu(read["input"], read["weight"], read["bias"], form)
    return made.y, None if call["preactivationOut"] is None else made.preactivation


def right_gelu_backward(rng: random.Random) -> Call:
    call = right_linear(rng, ("gradOut", "preactivation", "input", "weight", *GRADIENTS))
    return call | {"outputMask": some_mask(rng), "approximate": rng.randint(0, 1)}


def allowed_gelu_backward(call: Call) -> bool:
    if len(call["outputMask"]) != 3 or call["approximate"] not in (0, 1):
        return False
    outputs = wanted(call, GRADIENTS)
    views = here(call, ("gradOut", "preactivation", "input", "weight", *outputs))
    return views is not None and fits(views, outputs)


def expected_gelu_backward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    given = (read[name] for name in ("gradOut", "preactivation", "input", "weight"))
    made = reference.linear_gelu_backward(*given, ("none", "tanh")[call["approximate"]])
    outputs = wanted(call, GRADIENTS)
    return tuple(one if name in outputs else None for name, one in zip(GRADIENTS, made, strict=True))


CASES = [
    HostCase(
        name="Linear",
        call={"input": View((2, 3, 10)), "weight": View((4, 10)), "bias": View((4,)), "out": View((2, 3, 4))},
        refusals=REFUSALS,
        null=("bias",),
        fuzz=Op(
            "Linear", ("input", "weight", "bias"), (), ("out",), right_forward, allowed_forward, expected_forward, near
        ),
        numbers=Numbers(
            function=host.linear, reference=reference.linear, inputs=((4, 5, 70), (33, 70), (33,)), out=(4, 5, 33)
        ),
    ),
    HostCase(
        name="LinearBackward",
        call={
    "gradOut": View((2, 3, 4)),
    "input": View((2, 3, 10)),
    "weight": View((4, 10)),
    "outputMask": (1, 1, 1),
    "outputMaskSize": 3,
    "gradInput": View((2, 3, 10)),
    "gradWeight": View((4, 10)),
    "gradBias": View((4,)),
},
        refusals=BACKWARD_REFUSALS,
        gradients=GRADIENTS,
        fuzz=Op(
            "LinearBackward", ("gradOut", "input", "weight"), ("outputMask",), GRADIENTS, right_backward,
            allowed_backward, expected_backward, near,
        ),
        numbers=Numbers(
            function=host.linear_backward,
            reference=reference.linear_backward,
            inputs=((3, 4, 33), (3, 4, 70), (33, 70)),
        ),
    ),
    HostCase(
        name="LinearGelu",
        call={
            "input": View((2, 3, 10)), "weight": View((4, 10)), "bias": View((4,)), "approximate": 0,
            "out": View((2, 3, 4)), "preactivationOut": View((2, 3, 4)),
        },
        refusals=GELU_REFUSALS,
        null=("bias", "preactivationOut"),
        fuzz=Op(
            "LinearGelu", ("input", "weight", "bias"), ("approximate",), SAVED, right_gelu, allowed_gelu, expected_gelu,
            near,
        ),
        numbers=Numbers(
            function=host.linear_gelu, reference=reference.linear_gelu, inputs=((4, 5, 70), (33, 70), (33,)),
            out=(4, 5, 33), outs=2, options={"approximate": "tanh"},
        ),
    ),
    HostCase(
        name="LinearGeluBackward",
        call={
            "gradOut": View((2, 3, 4)), "preactivation": View((2, 3, 4)), "input": View((2, 3, 10)),
            "weight": View((4, 10)), "approximate": 0, "outputMask": (1, 1, 1), "outputMaskSize": 3,
            "gradInput": View((2, 3, 10)), "gradWeight": View((4, 10)), "gradBias": View((4,)),
        },
        refusals=GELU_BACKWARD_REFUSALS,
        gradients=GRADIENTS,
        fuzz=Op(
            "LinearGeluBackward", ("gradOut", "preactivation", "input", "weight"), ("approximate", "outputMask"),
            GRADIENTS, right_gelu_backward, allowed_gelu_backward, expected_gelu_backward, near,
        ),
        numbers=Numbers(
            function=host.linear_gelu_backward,
            reference=reference.linear_gelu_backward,
            inputs=((3, 4, 33), (3, 4, 33), (3, 4, 70), (33, 70)),
        ),
    ),
]  # fmt: skip
