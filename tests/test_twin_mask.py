"""What calls leave in the mask register, counter mode, and repeats that meet in one destination."""

from __future__ import annotations

import numpy as np
import pytest
from twin_reference import (
    ADD,
)
from twin_support import (
    LANES,
    REPEAT,
    TYPES,
    Call,
    Data,
    assert_same,
    buffer_of,
    pattern,
    run,
    scalar_bits,
)

from gn_tutorial.options import TwinOptions


def test_accumulate_idiom_folds_over_repeats() -> None:
    # dstRepStride 0 and dst == src1: every repeat adds to what the one before it left, in order.
    for dtype in ("half", "float", "int32"):
        code, kind = TYPES[dtype]
        width = REPEAT // kind.itemsize
        rows = Data(5, special=False).array(kind)[: 9 * width].reshape(9, width)
        call = Call(form=LANES, low=width, repeat=9, blk=(1, 1, 1), rep=(0, 8, 0))
        start = pattern(kind, 3)
        actual = run("accumulate", start, buffer_of(rows), op=0, type=code, **call.fields())
        expected = start.copy()
        for row in rows:
            expected[:width] = ADD(expected[:width], row)
        assert_same(actual, expected)


@pytest.mark.parametrize("name", ["Add", "Adds", "Exp", "Cast", "Duplicate", "Axpy", "ReduceSum"])
def test_count_form_leaves_a_full_mask_in_normal_mode(name: str) -> None:
    # A later call with isSetMask = false then processes whole repeats, whatever SetVectorMask had said before.
    op = ["Add", "Adds", "Exp", "Cast", "Duplicate", "Axpy", "ReduceSum"].index(name)
    dst = pattern(np.float32, 1)
    actual = run("accumulate", dst, pattern(np.float32, 2), op=100 + op)
    expected = dst.copy()
    expected[2048 : 2048 + 64] = np.float32(7.0)
    assert_same(actual[2048:], expected[2048:])


@pytest.mark.parametrize("name", ["Compare", "CompareScalar"])
def test_comparisons_leave_the_mask_alone(name: str) -> None:
    dst = pattern(np.float32, 1)
    actual = run("accumulate", dst, pattern(np.float32, 2), op=107 + ["Compare", "CompareScalar"].index(name))
    expected = dst.copy()
    expected[2048 : 2048 + 5] = np.float32(7.0)
    assert_same(actual[2048:], expected[2048:])


def test_counter_mode_with_a_mask_argument_takes_its_bits_as_the_count() -> None:
    # SetMaskCount, then a call that sets mask = 7 itself: the register holds (1 << 7) - 1, so 127 elements are
    # processed.
    dst = pattern(np.float32, 1)
    actual = run("accumulate", dst, pattern(np.float32, 2), op=120)
    expected = dst.copy()
    expected[2048 : 2048 + 127] = np.float32(7.0)
    assert_same(actual[2048:], expected[2048:])


@pytest.mark.parametrize("blk", [0, 1])
@pytest.mark.parametrize("setting", ["ascending", "descending"])
def test_option_repeat_order(setting: str, blk: int) -> None:
    # Three repeats into one destination (repeat stride 0), with blk 0 also the eight blocks of each: the last one
    # written stays.
    code, kind = TYPES["float"]
    src = Data(4, special=False).array(kind)
    call = Call(form=LANES, low=64, repeat=3, blk=(blk, 1, 1), rep=(0, 8, 8))
    actual = run(
        "scalar",
        pattern(kind),
        src,
        op=0,
        type=code,
        scalar=scalar_bits(0.0, kind),
        options=TwinOptions(repeat_order=setting),
        **call.fields(),
    )
    repeat = 2 if setting == "ascending" else 0
    rows = src[64 * repeat : 64 * repeat + 64].reshape(8, 8)
    kept = rows.ravel() if blk else rows[7 if setting == "ascending" else 0]
    assert_same(actual, np.concatenate([kept, pattern(kind)[len(kept) :]]))


def test_a_mask_of_a_whole_repeat_fills_the_register() -> None:
    dst = pattern(np.float32, 1)
    actual = run("accumulate", dst, pattern(np.float32, 2), op=119).view(np.float16)
    expected = dst.copy().view(np.float16)
    expected[4096 : 4096 + 128] = 7
    assert_same(actual[4096:], expected[4096:])
