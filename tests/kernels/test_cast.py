"""The casts that the host API launches around a kernel with float32 statistics: every bit, any number of elements."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.operators.arguments import as_dtype

HALVES = {"float16": "narrow/half", "bfloat16": "narrow/bfloat16"}
SIZES = [1, 15, 16, 255, 257, 4096, 4097, 9001]


def every_half(dtype: str) -> np.ndarray:
    """All 65536 numbers of the type."""
    return np.arange(1 << 16, dtype=np.uint16).view(as_dtype(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_every_number_becomes_the_float_that_it_is(dtype: str) -> None:
    x = every_half(dtype)
    result = gnt.kernel("widen/queue")(x)
    assert result.diagnostics == ()
    np.testing.assert_array_equal(result.y, x.astype(np.float32))


@pytest.mark.parametrize("dtype", HALVES)
def test_the_way_back_rounds_to_the_nearest(dtype: str) -> None:
    """Every number of the type, all midpoints between two of them, and what is a little beside a midpoint."""
    exact = every_half(dtype).astype(np.float32)
    exact = np.sort(exact[np.isfinite(exact)])
    with np.errstate(over="ignore"):
        middle = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)
    x = np.concatenate([exact, middle, np.nextafter(middle, np.float32(np.inf)), [np.inf, -np.inf, np.nan]])
    result = gnt.kernel(HALVES[dtype])(x.astype(np.float32))
    assert result.diagnostics == ()
    with np.errstate(over="ignore"):
        right = x.astype(as_dtype(dtype))
    # As floats: NumPy compares no NaN of bfloat16.
    np.testing.assert_array_equal(result.y.astype(np.float32), right.astype(np.float32))


@pytest.mark.parametrize("size", SIZES)
def test_any_number_of_elements_and_blocks(size: int) -> None:
    x = np.random.default_rng(size).normal(0, 3, size).astype(np.float32)
    for blocks in (1, 3, 40):
        narrow = gnt.kernel("narrow/bfloat16")(x, blocks=blocks)
        assert narrow.diagnostics == ()
        np.testing.assert_array_equal(narrow.y, x.astype(as_dtype("bfloat16")))
        np.testing.assert_array_equal(gnt.kernel("widen/queue")(narrow.y, blocks=blocks).y, narrow.y.astype(np.float32))
