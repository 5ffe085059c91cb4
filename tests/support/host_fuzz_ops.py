"""GroupNorm's operators in random calls: what a right call is, how one is spoilt, what is allowed, what comes out.

The rules are those of docs/host-api.md, written a second time and without looking at the API's own checks.
``host_fuzz_cases`` has those of GELU and Linear.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from host_fuzz_views import DTYPES, View, apart, in_64_bits, room, some_layout

from gn_tutorial import reference
from gn_tutorial.operators.registry import find_kernel

HUGE = (1 << 31, 1 << 40, (1 << 62) + 3, (1 << 63) - 1)
SIZES = ("N", "C", "HxW", "group")
Call = dict[str, Any]
Arrays = Mapping[str, np.ndarray | None]


@dataclass(frozen=True)
class Op:
    """One operator. inputs, numbers and outputs: its arguments in their order. data: the tensors of x's type.

    right: a call that is allowed as long as nothing overlaps. allowed: whether a call is. expected: the outputs, from
    the inputs in float64. near: whether an output is what was expected.
    """

    name: str
    inputs: tuple[str, ...]
    numbers: tuple[str, ...]
    outputs: tuple[str, ...]
    right: Callable[[random.Random], Call]
    allowed: Callable[[Call], bool]
    expected: Callable[[Call, Arrays], tuple[np.ndarray | None, ...]]
    near: Callable[[np.ndarray, np.ndarray, np.dtype], bool]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.inputs, *self.outputs)


def sizes(rng: random.Random) -> tuple[Call, tuple[int, ...], int]:
    """N, C, HxW and group of a right call, the shape of x, and a type."""
    groups, n = rng.randint(1, 4), rng.choice((0, 1, 2, 3))
    channels = groups * rng.randint(1, 4)
    space = tuple(rng.randint(1, 5) for _ in range(rng.randint(0, 3)))
    call: Call = {"N": n, "C": channels, "HxW": math.prod(space), "group": groups}
    return call, (n, channels, *space), rng.choice(list(DTYPES))


def lay_out(rng: random.Random, call: Call, shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, int]) -> None:
    for slot, (name, shape) in enumerate(shapes.items()):
        call[name] = some_layout(rng, shape, types[name], room(slot))


def spoil(rng: random.Random, op: Op, call: dict[str, Any]) -> None:
    """One change, which may or may not make the call wrong."""
    given = [name for name in SIZES if name in op.numbers]
    if given and rng.random() < 0.25:
        name = rng.choice(given)
        value = rng.choice((0, -1, call[name] + 1, call[name] * 2, call[name] - 1, rng.choice(HUGE), -(1 << 63)))
        call[name] = in_64_bits(value)
        return
    if "outputMask" in call and rng.random() < 0.1:
        call["outputMask"] = tuple(rng.randint(0, 1) for _ in range(rng.choice((2, 3, 3, 3, 4))))
        return
    if "eps" in call and rng.random() < 0.06:
        call["eps"] = rng.choice((0.0, -1.0, math.nan, math.inf, 1e-50, 1e300, 0.25, 1e-12))
        return
    name = rng.choice(op.names)
    view = call[name]
    if view is None or rng.random() < 0.06:
        call[name] = rng.choice((None, "gone"))
        return
    if view == "gone":
        return

    def changed(numbers: tuple[int, ...]) -> tuple[int, ...]:
        if not numbers:
            return (rng.choice((0, 1, 2)),)
        at = rng.randrange(len(numbers))
        new = rng.choice((0, 1, -1, numbers[at] + 1, max(numbers[at] - 1, 0), numbers[at] * 2, rng.choice(HUGE)))
        return (*numbers[:at], in_64_bits(new), *numbers[at + 1 :])

    kind = rng.randrange(9)
    if kind == 0:
        view = replace(view, dims=changed(view.dims)[: len(view.dims)])
    elif kind == 1:
        view = replace(view, strides=changed(view.strides)[: len(view.strides)])
    elif kind == 2:
        view = replace(view, offset=in_64_bits(rng.choice((-1, 0, 1, view.offset + 7, rng.choice(HUGE)))))
    elif kind == 3:
        view = replace(view, storage=changed(view.storage))
    elif kind == 4:
        view = replace(view, dtype=rng.choice((0, 1, 27, 3, 11, 99, -1)))
    elif kind == 5:
        other = call[rng.choice(op.names)]
        if isinstance(other, View):  # into another's memory, or just beside it
            view = replace(view, at=max(other.at + rng.choice((0, 2, 4, 8, 200, 1, 4 * math.prod(other.dims))), 0))
    elif kind == 6:
        extra = rng.choice((1, 1, 2))
        view = replace(view, dims=(*view.dims, extra), strides=(*view.strides, 1))
    elif kind == 7:
        while len(view.dims) < rng.choice((8, 9)):
            view = replace(view, dims=(*view.dims, 1), strides=(*view.strides, rng.choice((0, 1, 1 << 40))))
    else:
        view = replace(view, dims=view.dims[:-1], strides=view.strides[:-1])
    call[name] = view


def sizes_fit(call: Call) -> bool:
    n, channels, space, groups = (call[name] for name in SIZES)
    if min(n, channels, space) < 0 or groups <= 0 or channels == 0 or channels % groups or (space == 0 and n > 0):
        return False
    most = (1 << 31) - 1
    return max(channels // groups * space, n * groups) <= most and channels * space < 1 << 63


# --- forward ---------------------------------------------------------------------------------------------------------

FORWARD_INPUTS, FORWARD_OUTPUTS = ("self", "gamma", "beta"), ("out", "meanOut", "rstdOut")
OF_X = ("self", "gamma", "beta", "out")


def right_forward(rng: random.Random) -> Call:
    call, data, dtype = sizes(rng)
    affine, statistics = data[1:2], (data[0], call["group"])
    shapes = dict(
        zip((*FORWARD_INPUTS, *FORWARD_OUTPUTS), (data, affine, affine, data, *[statistics] * 2), strict=True)
    )
    lay_out(rng, call, shapes, {name: dtype if name in OF_X else 0 for name in shapes})
    call["eps"] = 1e-5
    for name in ("gamma", "beta"):
        if rng.random() < 0.2:
            call[name] = None
    return call


def allowed_forward(call: Call) -> bool:
    views = {name: call[name] for name in (*FORWARD_INPUTS, *FORWARD_OUTPUTS)}
    if any(views[name] is None for name in ("self", *FORWARD_OUTPUTS)) or "gone" in views.values():
        return False
    here = {name: view for name, view in views.items() if view is not None}
    n, channels, space, groups = (call[name] for name in SIZES)
    dims, dtype = here["self"].dims, here["self"].dtype
    affine, statistics = (channels,), (n, groups)
    shapes = dict(zip(views, (dims, affine, affine, dims, statistics, statistics), strict=True))
    types = {name: dtype if name in OF_X else 0 for name in here}
    if dtype not in DTYPES or any(v.dtype != types[name] or v.dims != shapes[name] for name, v in here.items()):
        return False
    with np.errstate(all="ignore"):
        small = np.float32(call["eps"])
    if len(dims) < 2 or (n, channels, space) != (*dims[:2], math.prod(dims[2:])) or not 0 < small < np.inf:
        return False
    return sizes_fit(call) and apart(here, FORWARD_OUTPUTS)


def sizes_of_self(call: Call) -> Call:
    """The call with the sizes that GroupNormSilu reads from self."""
    dims = call["self"].dims if isinstance(call["self"], View) else ()
    if len(dims) < 2:
        return {**call, "C": 0}
    return {**call, "N": dims[0], "C": dims[1], "HxW": math.prod(dims[2:])}


def forward(name: str, kernel: str, compute: Callable[..., Any], numbers: tuple[str, ...]) -> Op:
    tolerance = find_kernel(kernel)[1].tolerance

    def expected(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
        if 0 in call["self"].dims:
            return tuple(np.zeros(call[name].dims) for name in FORWARD_OUTPUTS)  # no elements
        how = {"num_groups": call["group"], "eps": float(np.float32(call["eps"]))}
        return tuple(compute(*(read[one] for one in FORWARD_INPUTS), **how))

    def near(found: np.ndarray, right: np.ndarray, dtype: np.dtype) -> bool:
        limit = tolerance.of(dtype.name)
        return np.allclose(found, right, rtol=limit.rtol, atol=limit.atol)

    def allowed(call: Call) -> bool:
        return allowed_forward(call if "N" in numbers else sizes_of_self(call))

    return Op(name, FORWARD_INPUTS, numbers, FORWARD_OUTPUTS, right_forward, allowed, expected, near)


# --- backward --------------------------------------------------------------------------------------------------------

BACKWARD_INPUTS, GRADIENTS = ("gradOut", "input", "mean", "rstd", "gamma"), ("gradInput", "gradGammaOut", "gradBetaOut")


def right_backward(rng: random.Random) -> Call:
    call, data, dtype = sizes(rng)
    affine, statistics = data[1:2], (data[0], call["group"])
    given = (data, data, statistics, statistics, affine, data, affine, affine)
    shapes = dict(zip((*BACKWARD_INPUTS, *GRADIENTS), given, strict=True))
    lay_out(rng, call, shapes, {name: 0 if name in ("mean", "rstd") else dtype for name in shapes})
    call["outputMask"] = some_mask(rng)
    if rng.random() < 0.2:
        call["gamma"] = None
    return call


def wanted(call: Call, gradients: tuple[str, ...] = GRADIENTS) -> tuple[str, ...]:
    return tuple(name for name, one in zip(gradients, call["outputMask"], strict=False) if one)


def some_mask(rng: random.Random) -> tuple[int, ...]:
    return (1, 1, 1) if rng.random() < 0.5 else tuple(rng.randint(0, 1) for _ in range(3))


def allowed_backward(call: Call) -> bool:
    if len(call["outputMask"]) != 3:
        return False
    views = {name: call[name] for name in (*BACKWARD_INPUTS, *wanted(call))}  # the others are not looked at
    if any(view is None for name, view in views.items() if name != "gamma") or "gone" in views.values():
        return False
    here = {name: view for name, view in views.items() if view is not None}
    dtype = here["gradOut"].dtype
    if dtype not in DTYPES or not sizes_fit(call):
        return False
    n, channels, space, groups = (call[name] for name in SIZES)
    counts = dict.fromkeys(("gradOut", "input"), n * channels * space)
    counts |= dict.fromkeys(("mean", "rstd"), n * groups) | {"gamma": channels}
    affine = here["gamma"].dims if "gamma" in here else (channels,)
    shapes = dict(zip(GRADIENTS, (here["input"].dims, affine, affine), strict=True))
    for name, view in here.items():
        if view.dtype != (0 if name in ("mean", "rstd") else dtype):
            return False
        if math.prod(view.dims) != counts[name] if name in counts else view.dims != shapes[name]:
            return False
    return apart(here, wanted(call))


def expected_backward(call: Call, read: Arrays) -> tuple[np.ndarray | None, ...]:
    shape = (call["N"], call["C"], call["HxW"])
    if call["N"] == 0:  # a sum of nothing
        return tuple(np.zeros(call[name].dims) if name in wanted(call) else None for name in GRADIENTS)
    data = [read[name].reshape(shape) for name in ("gradOut", "input")]
    statistics = [read[name].reshape(call["N"], call["group"]) for name in ("mean", "rstd")]
    gamma = None if read["gamma"] is None else read["gamma"].reshape(-1)
    made = reference.group_norm_backward(*data, *statistics, gamma, num_groups=call["group"])
    return tuple(
        one.reshape(call[name].dims) if name in wanted(call) else None
        for name, one in zip(GRADIENTS, made, strict=True)
    )


def near_gradient(found: np.ndarray, right: np.ndarray, dtype: np.dtype) -> bool:
    # Statistics here are random numbers, and terms are larger than their sum; half a unit of a narrow type besides.
    unit = {"float32": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype.name]
    with np.errstate(over="ignore"):
        right = right if dtype == np.float32 else np.where(np.abs(right) < 65000, right, np.nan)
    scale = np.nanmax(np.abs(right), initial=0.0)
    close = np.isclose(found, right, rtol=1e-4 + unit, atol=1e-4 * (1 + scale))
    return bool((close | np.isnan(right)).all())


GROUP_NORM_OPS = (
    forward("GroupNorm", "group_norm/any", reference.group_norm, (*SIZES, "eps")),
    forward("GroupNormSilu", "group_norm_silu/fused", reference.group_norm_silu, ("group", "eps")),
    Op(
        "GroupNormBackward", BACKWARD_INPUTS, (*SIZES, "outputMask"), GRADIENTS, right_backward, allowed_backward,
        expected_backward, near_gradient,
    ),
)  # fmt: skip
