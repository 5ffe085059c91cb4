"""The twin's operations in NumPy, as the documentation describes them: rounding, order of additions, ties."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from twin_support import REPEAT, Call, quiet


def arithmetic(operator: Callable) -> Callable:
    """Return the operator as the twin computes it: integers wrap around; half and float round the exact result once."""

    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with quiet():
            if a.dtype.kind in "iu":
                return operator(a.astype(np.int64), b.astype(np.int64)).astype(a.dtype)
            if a.dtype == np.float32:
                return operator(a, b)  # IEEE: rounds once
            return operator(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)

    return apply


ADD, SUB, MUL, DIV = (arithmetic(f) for f in (np.add, np.subtract, np.multiply, np.divide))


def relu(a: np.ndarray) -> np.ndarray:
    return np.where(a < 0, np.zeros_like(a), a)


def no_zero_sign(values: np.ndarray) -> np.ndarray:
    """Return the values with +0 for each zero: Max, Min and Relu may return either of two zeros of different sign."""
    return np.where(values == 0, np.zeros_like(values), values) if values.dtype.kind == "f" else values


def lanes_of(call: Call, src: np.ndarray) -> list[dict[int, np.generic]]:
    """Return, for each repeat, its present lanes with their values."""
    width = REPEAT // src.dtype.itemsize
    places = call.indices(width, src.dtype.itemsize, 1)
    return [
        dict(zip(lanes.tolist(), src[at], strict=True)) for lanes, at in zip(call.lanes(width), places, strict=True)
    ]


def pair_sum(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return one level of the tree; an absent lane (None in the mask) is -0, which changes no sum."""
    with quiet():
        return (a.astype(np.float64) + b.astype(np.float64)).astype(dtype)


def tree(
    lanes: dict[int, np.generic], width: int, dtype: np.dtype, *, adjacent: bool = True, rounds: bool = True
) -> np.generic:
    """Return the sum of the present lanes. adjacent: add neighbours first. rounds: False adds in float, rounds once."""
    step = dtype if rounds else np.dtype(np.float32)
    level = np.full(width, -0.0, step)
    for lane, value in lanes.items():
        level[lane] = value
    while len(level) > 1:
        half = len(level) // 2
        level = pair_sum(level[0::2], level[1::2], step) if adjacent else pair_sum(level[:half], level[half:], step)
    with quiet():
        return level[0].astype(dtype)


def extreme(lanes: dict[int, np.generic], *, largest: bool) -> tuple[np.generic, int] | None:
    """Return value and lane of the extreme; the lowest lane on ties; NaN wins."""
    best: tuple[np.generic, int] | None = None
    for lane, value in lanes.items():
        if best is None:
            best = value, lane
            continue
        better = value > best[0] if largest else value < best[0]
        if better or (np.isnan(value) and not np.isnan(best[0])):
            best = value, lane
    return best


def index_bits(index: int, dtype: np.dtype) -> np.generic:
    return np.array(index, f"u{dtype.itemsize}").view(dtype)[()]
