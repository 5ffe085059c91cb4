"""Fill and gather: Duplicate, CreateVecIndex, Brcb, Gather, Copy. Each element lands where the strides say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import (
    BITS,
    BLOCK,
    BUFFER_BYTES,
    COUNT,
    COUNTER,
    LANES,
    REPEAT,
    TYPES,
    Call,
    Data,
    assert_same,
    calls,
    data,
    fold,
    pattern,
    run,
    scalar_bits,
    specials,
)

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

OPS = {name: op for op, name in enumerate(
    ["Duplicate", "CreateVecIndex", "Brcb", "Gather", "Copy", "CopyInside", "CopyIn", "CopyOut", "PadIn", "PadOut",
     "PadInLegacy", "PadOutLegacy"]
)}  # fmt: skip


WORDS = ("int16", "uint16", "half", "bfloat16", "int32", "uint32", "float")


FEW = settings(max_examples=examples(40), deadline=None)


def as_bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("dtype", WORDS)
def test_duplicate(dtype: str) -> None:
    code, kind = TYPES[dtype]

    @FEW
    @given(call=calls(REPEAT // kind.itemsize), scalar=st.sampled_from(list(specials(kind))))
    def check(call: Call, scalar: np.generic) -> None:
        dst = pattern(kind, 1)
        actual = run("move", dst, op=OPS["Duplicate"], type=code, scalar=scalar_bits(scalar, kind), **call.fields())
        expected = dst.copy()
        for at in call.indices(REPEAT // kind.itemsize, kind.itemsize, 0):
            expected[at] = scalar
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", ["int16", "half", "int32", "float"])
def test_create_vec_index(dtype: str) -> None:
    code, kind = TYPES[dtype]
    firsts = {
        "int16": [0, -7, 30000],
        "half": [0, -7, 2000],
        "int32": [0, -7, 2**24 + 1, 2**31 - 5000],
        "float": [0, -7, 2**24 - 64],
    }
    for first in firsts[dtype]:
        for count in (0, 1, 8, 16, 63, 64, 65, 129, 1000):
            dst = pattern(kind, 1)
            actual = run("move", dst, op=OPS["CreateVecIndex"], type=code, count=count, scalar=scalar_bits(first, kind))
            expected = dst.copy()
            expected[:count] = (first + np.arange(count, dtype=np.int64)).astype(kind)
            assert_same(actual[count:], expected[count:])
            if (
                dtype != "half" or first + count < 2048
            ):  # above 2048 not every integer is a half: the order of additions would show
                assert_same(actual, expected)


@pytest.mark.parametrize("dtype", ["int16", "half", "int32", "float"])
def test_create_vec_index_with_mask_and_repeat(dtype: str) -> None:
    # The index counts lanes: one that the mask leaves out keeps its place.
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width, forms=(LANES, BITS)), first=st.integers(-50, 500))
    def check(call: Call, first: int) -> None:
        dst = pattern(kind, 1)
        actual = run("move", dst, op=OPS["CreateVecIndex"], type=code, scalar=scalar_bits(first, kind), **call.fields())
        expected = dst.copy()
        for r, at in enumerate(call.indices(width, kind.itemsize, 0)):
            expected[at] = (first + r * width + call.lanes(width)[r]).astype(kind)
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", WORDS)
def test_brcb(dtype: str) -> None:
    code, kind = TYPES[dtype]
    per_block = BLOCK // kind.itemsize

    @FEW
    @given(repeat=st.integers(0, 12), blk=st.integers(1, 4), rep=st.integers(0, 40), values=data())
    def check(repeat: int, blk: int, rep: int, values: Data) -> None:
        dst, src = pattern(kind, 1), values.array(kind)
        actual = run("move", dst, src, op=OPS["Brcb"], type=code, repeat=repeat, dst_blk=blk, dst_rep=rep)
        expected = dst.copy()
        for r in range(repeat):
            for block in range(8):
                start = (r * rep + block * blk) * per_block
                expected[start : start + per_block] = src[8 * r + block]
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", WORDS)
def test_gather(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width, forms=(COUNT, LANES, BITS), limit=2048), values=data(), base=st.integers(0, 100))
    def check(call: Call, values: Data, base: int) -> None:
        call = Call(call.form, call.count, call.low, call.high, call.repeat, (1, 1, 1), call.rep)
        dst, src = pattern(kind, 1), values.array(kind)
        base *= kind.itemsize
        rng = np.random.default_rng(values.seed)
        offsets = (rng.integers(0, (BUFFER_BYTES - base) // kind.itemsize, BUFFER_BYTES // 4) * kind.itemsize).astype(
            np.uint32
        )
        actual = run("move", dst, src, offsets, op=OPS["Gather"], type=code, extra=[base, 0, 0, 0], **call.fields())
        expected = dst.copy()
        for r, at in enumerate(call.indices(width, kind.itemsize, 0)):
            expected[at] = src[(base + offsets[r * width + call.lanes(width)[r]]) // kind.itemsize]
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("offset", [2, BUFFER_BYTES - 3, BUFFER_BYTES])
def test_gather_offset_outside_or_between_elements_stops(offset: int) -> None:
    code, kind = TYPES["float"]
    offsets = np.zeros(BUFFER_BYTES // 4, np.uint32)
    offsets[5] = offset
    with pytest.raises(KernelFault) as caught:
        run("move", pattern(kind), pattern(kind), offsets, op=OPS["Gather"], type=code, count=8)
    (found,) = caught.value.diagnostics
    assert (found.id, found.fields["index"]) == ("gather-offset", 5)


@pytest.mark.parametrize("dtype", WORDS)
def test_copy(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width, forms=(LANES, BITS)), values=data())
    def check(call: Call, values: Data) -> None:
        dst, src = pattern(kind, 1), values.array(kind)
        actual = run("move", dst, src, op=OPS["Copy"], type=code, **call.fields())
        assert_same(actual, fold(call, lambda a: a, dst, src, width=width))

    check()


@pytest.mark.parametrize("count", [1, 37, 64])
def test_copy_in_counter_mode_counts_per_repeat(count: int) -> None:
    # Unlike other instructions: the register holds the elements of each repeat, and repeatTime still counts.
    code, kind = TYPES["float"]
    dst, src = pattern(kind, 1), pattern(kind, 2)
    fields = Call(COUNTER, count, repeat=3, blk=(1, 1, 1), rep=(9, 8, 8)).fields()
    actual = run("move", dst, src, op=OPS["Copy"], type=code, **fields)
    expected = fold(Call(LANES, 0, count, 0, 3, (1, 1, 1), (9, 8, 8)), lambda a: a, dst, src, width=64)
    assert_same(actual, expected)


@pytest.mark.parametrize("name", ["Duplicate", "Copy"])
def test_options_on_arithmetic_leave_moved_bits_alone(name: str) -> None:
    code, kind = TYPES["half"]
    src = np.resize(specials(kind), BUFFER_BYTES // 2)
    options = TwinOptions(half_overflow="saturate", denormals="flush")
    for value in (np.inf, -np.inf, np.finfo(kind).smallest_subnormal):
        actual = run(
            "move",
            pattern(kind),
            src,
            op=OPS[name],
            type=code,
            form=LANES,
            low=128,
            repeat=2,
            dst_blk=1,
            src0_blk=1,
            dst_rep=8,
            src0_rep=8,
            scalar=scalar_bits(value, kind),
            options=options,
        )
        expected = src[:256] if name == "Copy" else np.full(256, value, kind)
        assert_same(actual[:256], expected)


@pytest.mark.parametrize("setting", ["repeats", "counter"])
def test_option_counter_compare_for_brcb(setting: str) -> None:
    code, kind = TYPES["float"]
    src = pattern(kind, 2)
    call = Call(COUNTER, 100, repeat=3, blk=(1, 1, 1), rep=(8, 8, 8))
    actual = run(
        "move",
        pattern(kind, 1),
        src,
        op=OPS["Brcb"],
        type=code,
        options=TwinOptions(counter_compare=setting),
        **call.fields(),
    )
    done = 24 if setting == "repeats" else 16
    assert_same(actual, np.concatenate([np.repeat(src[:done], 8), pattern(kind, 1)[8 * done :]]))
