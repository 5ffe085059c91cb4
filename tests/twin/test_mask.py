"""What calls leave in the mask register, counter mode, and repeats that meet in one destination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_reference import (
    ADD,
)
from twin_support import (
    BUFFER_BYTES,
    COUNTER,
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

from gn_tutorial.abi.options import TwinOptions

# Mirrors enum Op and struct Step of families/mask.cpp.
OPS = (
    "counter",
    "normal",
    "reset",
    "bits",
    "lanes",
    "total",
    "add-count",
    "add-lanes",
    "add-bits",
    "add-outside",
    "end",
)
STEP = np.dtype([("op", np.int64), ("half", np.int64), ("low", np.uint64), ("high", np.uint64), ("repeat", np.int64)])
ALL = 2**64 - 1
#: What to do, whether on half (128 lanes) or on float (64), the two words of the mask, repeats.
Step = tuple[str, bool, int, int, int]


@dataclass
class Register:
    """The documented mask register: a mode, and 128 bits that are a number of elements in counter mode."""

    counter: bool = False
    low: int = ALL
    high: int = ALL

    def leading(self, lanes: int, width: int) -> None:
        bits = 2**lanes - 1 if lanes < width else 2**128 - 1
        self.low, self.high = bits & ALL, bits >> 64

    def active(self, width: int, repeat: int) -> np.ndarray:
        """Elements that a call without a mask of its own processes, where repeats lie one behind the other."""
        if self.counter:
            return np.arange(min(self.low % 2**32, BUFFER_BYTES))  # more is past every buffer anyway
        bits = self.low | self.high << 64
        lanes = np.array([lane for lane in range(width) if bits >> lane & 1], np.int64)
        return (np.arange(repeat)[:, None] * width + lanes).ravel()


def obey(register: Register, one: Step) -> np.ndarray | None:
    """The elements that one call processes, or None if it only sets the register."""
    op, wide, low, high, repeat = one
    width = 128 if wide else 64
    if op in ("counter", "normal"):
        register.counter = op == "counter"
    elif op == "reset":
        register.low = register.high = ALL
    elif op == "bits":
        register.low, register.high = low, high
    elif op == "lanes":
        register.leading(low, width)
    elif op == "total":
        register.low, register.high = low, 0
    elif op == "add-count":
        register.counter, register.low, register.high = False, ALL, ALL
        return np.arange(low)
    else:
        if op == "add-lanes":
            register.leading(low, width)
        if op == "add-bits":
            register.low, register.high = low, high if wide else 0
        return register.active(width, repeat)
    return None


def steps() -> st.SearchStrategy[Step]:
    bits = st.one_of(st.integers(0, ALL), st.sampled_from([0, 1, 63, 200, 1000, 2**63, 2**32, ALL]))
    small = st.sampled_from(
        [0, 1, 2, 5, 16, 33, 63, 64, 64, 65, 100, 127, 128, 128, 140]
    )  # a whole repeat is 64 or 128

    def of(op: str) -> st.SearchStrategy[Step]:
        low = bits if op in ("bits", "add-bits") else st.integers(0, 2048) if op in ("total", "add-count") else small
        return st.tuples(st.just(op), st.booleans(), low, bits, st.integers(1, 5))

    # A call that shows what the register holds follows often.
    return st.sampled_from((*OPS[:-1], *["add-outside"] * 8)).flatmap(of)


@settings(max_examples=examples(250), deadline=None)
@given(program=st.lists(steps(), min_size=10, max_size=40), observed=st.booleans())
@example(
    program=[("bits", False, 1, 0, 1), ("add-lanes", False, 64, 0, 1), ("add-outside", False, 0, 0, 1)], observed=False
)
@example(program=[("bits", False, 63, 0, 1), ("add-lanes", False, 63, 0, 2)], observed=False)
def test_any_order_of_calls_that_touch_the_register(program: list[Step], observed: bool) -> None:
    dst = pattern(np.uint8)
    floats, halves = np.arange(2048, dtype=np.float32), np.arange(4096, dtype=np.float16) % 100
    dst[:8192], dst[8192:] = floats.view(np.uint8), halves.view(np.uint8)
    register, done = Register(), []
    for one in program:
        before = Register(**vars(register))
        places = obey(register, one)
        target = halves if one[1] else floats
        if places is not None and places.size and places.max() >= target.size:  # past the buffer: a diagnostic
            register = before
            continue
        done.append((OPS.index(one[0]), *one[1:]))
        if places is not None:
            target[places] += target.dtype.type(1)
    records = np.array([*done, (OPS.index("end"), 0, 0, 0, 0)], STEP)
    actual = run("mask", dst, src1=np.resize(records.view(np.uint8), dst.size), observed=observed)
    assert_same(actual[:8192].view(np.float32), floats)
    assert_same(actual[8192:].view(np.float16), halves)


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


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("blk", [0, 1])
@pytest.mark.parametrize("setting", ["ascending", "descending"])
@pytest.mark.parametrize("form", [LANES, COUNTER])
def test_option_repeat_order(form: int, setting: str, blk: int, observed: bool) -> None:
    # Three repeats into one destination (repeat stride 0), with blk 0 also the eight blocks of each: the last one
    # written stays.
    code, kind = TYPES["float"]
    src = Data(4, special=False).array(kind)
    call = Call(form=form, low=64, count=3 * 64, repeat=3, blk=(blk, 1, 1), rep=(0, 8, 8))
    actual = run(
        "scalar",
        pattern(kind),
        src,
        op=0,
        type=code,
        scalar=scalar_bits(0.0, kind),
        options=TwinOptions(repeat_order=setting),
        observed=observed,
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
