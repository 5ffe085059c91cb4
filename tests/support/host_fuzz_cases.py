"""GELU and Linear in random calls of the host API, as ``host_fuzz_ops`` has GroupNorm's operators."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from host_fuzz_ops import Arrays, Call, Op, lay_out, some_mask, wanted
from host_fuzz_views import DTYPES, View, apart

from gn_tutorial import reference

MOST = (1 << 31) - 1
MOST_FEATURES = 1 << 29
GRADIENTS = ("gradInput", "gradWeight", "gradBias")


def here(call: Call, needed: Sequence[str], others: Sequence[str] = ()) -> dict[str, View] | None:
    """The tensors of a call, if all that it needs are there, none is gone, and they have one type that is supported."""
    views = {name: call[name] for name in (*needed, *others) if name in needed or call[name] is not None}
    if None in views.values() or "gone" in views.values():
        return None
    types = {view.dtype for view in views.values()}
    return views if len(types) == 1 and types <= DTYPES.keys() else None


def near(found: np.ndarray, right: np.ndarray, dtype: np.dtype) -> bool:
    """Half a unit of a narrow type, besides float32 sums whose terms are larger than they are."""
    unit = {"float32": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype.name]
    scale = np.abs(right).max(initial=0.0)
    return np.allclose(found, right, rtol=2e-6 + unit, atol=2e-6 * (1 + scale))


# --- GELU ------------------------------------------------------------------------------------------------------------


def elements(name: str, inputs: tuple[str, ...], output: str, compute: Callable[..., np.ndarray]) -> Op:
    names = (*inputs, output)

    def right(rng: random.Random) -> Call:
        shape = tuple(rng.choice((1, 2, 3, 4, 5, 5, 0)) for _ in range(rng.randint(0, 4)))
        call: Call = {}
        lay_out(rng, call, dict.fromkeys(names, shape), dict.fromkeys(names, rng.choice(list(DTYPES))))
        return call

    def allowed(call: Call) -> bool:
        views = here(call, names)
        if views is None or len({view.dims for view in views.values()}) != 1:
            return False
        return math.prod(views[output].dims) <= MOST and apart(views, (output,))

    def expected(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
        return (compute(*(read[one] for one in inputs)),)

    return Op(name, inputs, (), (output,), right, allowed, expected, near)


# --- Linear ----------------------------------------------------------------------------------------------------------


def right_linear(rng: random.Random, names: Sequence[str]) -> Call:
    """Tensors by their letters: x (..., K), w (O, K), b (O), y (..., O)."""
    rows = tuple(rng.choice((1, 2, 3, 4, 0)) for _ in range(rng.randint(0, 3)))
    inner, outer = (rng.choice((0, 1, 3, 5, 9, 17)) for _ in range(2))
    shapes = {"x": (*rows, inner), "w": (outer, inner), "b": (outer,), "y": (*rows, outer)}
    call: Call = {}
    dtype = rng.choice(list(DTYPES))
    lay_out(rng, call, {name: shapes[LETTERS[name]] for name in names}, dict.fromkeys(names, dtype))
    return call


LETTERS = {
    "input": "x", "weight": "w", "bias": "b", "out": "y", "gradOut": "y", "gradInput": "x", "gradWeight": "w",
    "gradBias": "b",
}  # fmt: skip


def fits(views: dict[str, View], outputs: Sequence[str]) -> bool:
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


CASE_OPS = (
    elements("Gelu", ("self",), "out", reference.gelu),
    elements("GeluBackward", ("gradOut", "self"), "gradInput", reference.gelu_backward),
    Op("Linear", ("input", "weight", "bias"), (), ("out",), right_forward, allowed_forward, expected_forward, near),
    Op(
        "LinearBackward", ("gradOut", "input", "weight"), ("outputMask",), GRADIENTS, right_backward, allowed_backward,
        expected_backward, near,
    ),
)  # fmt: skip
