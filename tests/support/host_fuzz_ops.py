"""Random calls of the host API: the type of an operator's model, random changes to a right call, shared functions.

The rules are those of docs/host-api.md, written a second time without looking at the API's own checks. The models
are in ``host_cases``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from host_fuzz_views import DTYPES, View, in_64_bits, room, some_layout

HUGE = (1 << 31, 1 << 40, (1 << 62) + 3, (1 << 63) - 1)
Call = dict[str, Any]
Arrays = Mapping[str, np.ndarray | None]


@dataclass(frozen=True)
class Op:
    """One operator. inputs, numbers and outputs: its arguments in their order. data: the tensors of x's type.

    right: makes a call that is allowed as long as nothing overlaps. allowed: whether a call is allowed. A text among
    the numbers is bytes. expected: returns the outputs for inputs in float64. near: whether an output is close enough
    to the expected one. saved: returns the inputs that a forward pass would have saved, for which random numbers do not
    do; it takes a call, a function that reads an input's numbers, and a generator.
    """

    name: str
    inputs: tuple[str, ...]
    numbers: tuple[str, ...]
    outputs: tuple[str, ...]
    right: Callable[[random.Random], Call]
    allowed: Callable[[Call], bool]
    expected: Callable[[Call, Arrays], tuple[np.ndarray | None, ...]]
    near: Callable[[np.ndarray, np.ndarray, np.dtype], bool]
    saved: Callable[[Call, Callable[[str], np.ndarray], np.random.Generator], Arrays] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.inputs, *self.outputs)


def lay_out(rng: random.Random, call: Call, shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, int]) -> None:
    """Put tensors of these shapes and types into the call, each with a random layout and far from the others."""
    for slot, (name, shape) in enumerate(shapes.items()):
        call[name] = some_layout(rng, shape, types[name], room(slot))


def spoil(rng: random.Random, op: Op, call: dict[str, Any]) -> None:
    """Make one random change, after which the call may be wrong or still right."""
    given = [name for name in op.numbers if isinstance(call[name], int)]
    if given and rng.random() < 0.25:
        name = rng.choice(given)
        value = rng.choice((0, -1, call[name] + 1, call[name] * 2, call[name] - 1, rng.choice(HUGE), -(1 << 63)))
        call[name] = in_64_bits(value)
        return
    if "outputMask" in call and rng.random() < 0.1:
        call["outputMask"] = tuple(rng.randint(0, 1) for _ in range(rng.choice((2, 3, 3, 3, 4))))
        return
    eps = next((name for name in ("eps", "epsilon") if name in call), None)
    if eps and rng.random() < 0.06:
        call[eps] = rng.choice((0.0, -1.0, math.nan, math.inf, 1e-50, 1e300, 0.25, 1e-12))
        return
    words = [name for name in op.numbers if isinstance(call[name], bytes)]
    if words and rng.random() < 0.2:
        call[rng.choice(words)] = rng.choice((None, b"", b"non", b"tanh ", b"Tanh", b"erf", b"%s%n", b"t" * 5000))
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
        if isinstance(other, View):  # move it into the other tensor's memory, or just beside it
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


def wanted(call: Call, gradients: tuple[str, ...]) -> tuple[str, ...]:
    """Return the gradients that the mask of a call selects."""
    return tuple(name for name, one in zip(gradients, call["outputMask"], strict=False) if one)


def some_mask(rng: random.Random) -> tuple[int, ...]:
    """Return a mask of three gradients; half of all masks select all of them."""
    return (1, 1, 1) if rng.random() < 0.5 else tuple(rng.randint(0, 1) for _ in range(3))


def here(call: Call, needed: Sequence[str], others: Sequence[str] = ()) -> dict[str, View] | None:
    """Return a call's tensors; None if a needed one is missing, one is destroyed, or types differ or are unknown."""
    views = {name: call[name] for name in (*needed, *others) if name in needed or call[name] is not None}
    if None in views.values() or "gone" in views.values():
        return None
    types = {view.dtype for view in views.values()}
    return views if len(types) == 1 and types <= DTYPES.keys() else None


def near(found: np.ndarray, right: np.ndarray, dtype: np.dtype) -> bool:
    """Whether an output is close enough: half a unit of a narrow type, plus the error of float32 sums that cancel."""
    unit = {"float32": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype.name]
    scale = np.abs(right).max(initial=0.0)
    return np.allclose(found, right, rtol=2e-6 + unit, atol=2e-6 * (1 + scale))
