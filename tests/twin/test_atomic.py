"""Atomic stores: every type and operation, rows of any length, and blocks that combine into the same place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import BLOCK, BUFFER_BYTES, COUNT, LANES, TYPES, Data, ask, assert_same, data, launch_family, quiet

OPS = {"Add": 0, "Max": 1, "Min": 2}
ATOMIC = ("int8", "int16", "half", "bfloat16", "int32", "float")
FEW = settings(max_examples=examples(30), deadline=None)


def combine(op: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """One combination: sums round once and integers wrap; a value that compares neither way leaves the old one."""
    with quiet():
        if op == "Add" and old.dtype.kind in "iu":
            return (old.astype(np.int64) + new.astype(np.int64)).astype(old.dtype)
        a, b = old.astype(np.float64), new.astype(np.float64)
        if op == "Add":
            return (a.astype(np.float32) + b.astype(np.float32)).astype(old.dtype)
        return np.where(b > a if op == "Max" else b < a, new, old)


def store(dst: np.ndarray, src: np.ndarray, *, blocks: int = 1, **fields: object) -> np.ndarray:
    launched = launch_family("atomic", dst, src, np.zeros(BUFFER_BYTES, np.uint8), ask(**fields), blocks=blocks)
    return launched.arrays["dst"].view(dst.dtype)


@pytest.mark.parametrize("dtype", ATOMIC)
@pytest.mark.parametrize("op", OPS)
def test_whole_copies(op: str, dtype: str) -> None:
    code, kind = TYPES[dtype]

    @FEW
    @given(inputs=data(), wholes=st.integers(0, BUFFER_BYTES // BLOCK), blocks=st.integers(1, 4))
    def check(inputs: Data, wholes: int, blocks: int) -> None:
        dst, src = inputs.array(kind), Data(inputs.seed + 1, inputs.special).array(kind)
        count = wholes * BLOCK // kind.itemsize
        actual = store(dst, src, op=OPS[op], type=code, form=COUNT, count=count, blocks=blocks)
        expected = dst.copy()
        for _ in range(blocks):
            expected[:count] = combine(op, expected[:count], src[:count])
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", ATOMIC)
def test_rows_of_any_length(dtype: str) -> None:
    code, kind = TYPES[dtype]

    @FEW
    @given(inputs=data(), rows=st.integers(0, 8), length=st.integers(0, 40), gap=st.integers(0, 5),
           first=st.integers(0, 9), blocks=st.integers(1, 3), op=st.sampled_from(sorted(OPS)))  # fmt: skip
    def check(inputs: Data, rows: int, length: int, gap: int, first: int, blocks: int, op: str) -> None:
        size = kind.itemsize
        dst, src = inputs.array(kind), Data(inputs.seed + 1, inputs.special).array(kind)
        actual = store(dst, src, op=OPS[op], type=code, form=LANES, low=rows, high=length * size, dst_blk=gap * size,
                       extra=[first * size, 0, 0, 0], blocks=blocks)  # fmt: skip
        expected = dst.copy()
        source_pitch = -(-length * size // BLOCK) * BLOCK // size
        for _ in range(blocks):
            for row in range(rows):
                to, start = first + row * (length + gap), row * source_pitch
                expected[to : to + length] = combine(op, expected[to : to + length], src[start : start + length])
        assert_same(actual, expected)

    check()


def test_set_atomic_none_ends_it() -> None:
    code, kind = TYPES["float"]
    dst, src = Data(1, False).array(kind), Data(2, False).array(kind)
    actual = store(dst, src, op=OPS["Add"], type=code, form=COUNT, count=64, flag=1)
    expected = dst.copy()
    expected[:64] = combine("Add", expected[:64], src[:64])
    expected[-32:] = src[:32]
    assert_same(actual, expected)
