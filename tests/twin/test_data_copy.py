"""Fill, gather and copy: every element lands where the strides and gaps say, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import (
    BITS,
    BLOCK,
    BUFFER_BYTES,
    COUNT,
    LANES,
    TYPES,
    Data,
    assert_same,
    pattern,
    run,
    scalar_bits,
)

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

OPS = {name: op for op, name in enumerate(
    ["Duplicate", "CreateVecIndex", "Brcb", "Gather", "Copy", "CopyInside", "CopyIn", "CopyOut", "PadIn", "PadOut",
     "PadInLegacy", "PadOutLegacy"]
)}  # fmt: skip


COPIED = ("int8", "int16", "float", "int64")


FEW = settings(max_examples=examples(40), deadline=None)


@pytest.mark.parametrize("dtype", COPIED)
@pytest.mark.parametrize("name", ["CopyInside", "CopyIn", "CopyOut"])
def test_data_copy_count(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    per_block = BLOCK // kind.itemsize

    @settings(max_examples=15, deadline=None)
    @given(blocks=st.integers(0, 300), skip=st.integers(0, 40))
    def check(blocks: int, skip: int) -> None:
        dst, src = pattern(kind, 1), pattern(kind, 2)
        skip = 0 if name == "CopyInside" else skip  # global memory needs element alignment only
        n = blocks * per_block
        actual = run(
            "move", dst, src, op=OPS[name], type=code, form=COUNT, count=n, extra=[skip * kind.itemsize, 0, 0, 0]
        )
        expected = dst.copy()
        if name == "CopyOut":
            expected[skip : skip + n] = src[:n]
        else:
            expected[:n] = src[skip : skip + n]
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("observed", [True, False])
def test_data_copy_of_a_broken_block(observed: bool) -> None:
    code, kind = TYPES["float"]
    args = {"op": OPS["CopyIn"], "type": code, "form": COUNT, "count": 21}
    if observed:
        with pytest.raises(KernelFault) as caught:
            run("move", pattern(kind, 1), pattern(kind, 2), **args)
        (found,) = caught.value.diagnostics
        assert (found.id, found.fields["bytes"], found.fields["moved"]) == ("copy-not-whole-blocks", 84, 64)
        return
    actual = run("move", pattern(kind, 1), pattern(kind, 2), observed=False, **args)
    expected = pattern(kind, 1)
    expected[:16] = pattern(kind, 2)[:16]  # as on the device: rounded down to whole blocks
    assert_same(actual, expected)


def rows(count: int, row: int, dst_pitch: int, src_pitch: int) -> list[tuple[slice, slice]]:
    return [
        (slice(r * dst_pitch, r * dst_pitch + row), slice(r * src_pitch, r * src_pitch + row)) for r in range(count)
    ]


@pytest.mark.parametrize("dtype", COPIED)
@pytest.mark.parametrize("name", ["CopyInside", "CopyIn", "CopyOut"])
def test_data_copy_rows(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]

    @FEW
    @given(count=st.integers(0, 12), blocks=st.integers(0, 12), src_gap=st.integers(0, 12), dst_gap=st.integers(0, 12))
    def check(count: int, blocks: int, src_gap: int, dst_gap: int) -> None:
        dst, src = pattern(kind, 1), pattern(kind, 2)
        actual = run(
            "move",
            dst,
            src,
            op=OPS[name],
            type=code,
            form=LANES,
            low=count,
            high=blocks,
            src0_blk=src_gap,
            dst_blk=dst_gap,
        )
        expected = dst.copy()
        to, source = expected.view(np.uint8), src.view(np.uint8)
        for into, out_of in rows(count, blocks * BLOCK, (blocks + dst_gap) * BLOCK, (blocks + src_gap) * BLOCK):
            to[into] = source[out_of]
        assert_same(actual, expected)

    check()


def up(n: int) -> int:
    return -(-n // BLOCK) * BLOCK


@pytest.mark.parametrize("dtype", COPIED)
@pytest.mark.parametrize("name", ["PadIn", "PadInLegacy"])
def test_data_copy_pad_in(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    size = kind.itemsize

    @settings(max_examples=examples(60), deadline=None)
    @given(
        count=st.integers(0, 10),
        elements=st.integers(0, 90),
        src_gap=st.integers(0, 70),
        dst_gap=st.integers(0, 5),
        pads=st.tuples(st.integers(0, BLOCK // size), st.integers(0, BLOCK // size)),
        is_pad=st.booleans(),
        skip=st.integers(0, 20),
    )
    def check(
        count: int, elements: int, src_gap: int, dst_gap: int, pads: tuple[int, int], is_pad: bool, skip: int
    ) -> None:
        left, right = pads
        set_value = 9 if not is_pad and left + right > 0 else 0  # else the content of padding and dummy lanes is random
        value = 0 if dtype == "int64" else -3
        row = elements * size
        whole = up((left + right) * size + row)
        assume(count * (whole + dst_gap * BLOCK) <= BUFFER_BYTES and skip + count * (row + src_gap) <= BUFFER_BYTES)
        dst, src = pattern(kind, 1), pattern(kind, 2)
        actual = run(
            "move",
            dst,
            src,
            op=OPS[name],
            type=code,
            low=count,
            high=row,
            src0_blk=src_gap,
            dst_blk=dst_gap,
            flag=int(is_pad),
            scalar=scalar_bits(value, kind),
            extra=[skip, left, right, set_value],
        )
        expected = dst.copy()
        to, source = expected.view(np.uint8), src.view(np.uint8)
        if row > 0:
            for r in range(count):
                at = skip + r * (row + src_gap)
                first = source[at : at + size].view(kind)[0]
                fill = value if is_pad else set_value if set_value else first
                line = np.full(whole // size, fill, kind)
                line[left : left + elements] = source[at : at + row].view(kind)
                to[r * (whole + dst_gap * BLOCK) :][:whole] = line.view(np.uint8)
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", COPIED)
@pytest.mark.parametrize("name", ["PadOut", "PadOutLegacy"])
def test_data_copy_pad_out(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]

    @settings(max_examples=examples(60), deadline=None)
    @given(
        count=st.integers(0, 10),
        row=st.integers(0, 300),
        src_gap=st.integers(0, 5),
        dst_gap=st.integers(0, 70),
        skip=st.integers(0, 40),
    )
    def check(count: int, row: int, src_gap: int, dst_gap: int, skip: int) -> None:
        # To global memory a row may be any number of bytes and start at any byte.
        dst, src = pattern(kind, 1), pattern(kind, 2)
        actual = run(
            "move",
            dst,
            src,
            op=OPS[name],
            type=code,
            low=count,
            high=row,
            src0_blk=src_gap,
            dst_blk=dst_gap,
            extra=[skip, 0, 0, 0],
        )
        expected = dst.copy()
        to, source = expected.view(np.uint8)[skip:], src.view(np.uint8)
        for into, out_of in rows(count, row, row + dst_gap, up(row) + src_gap * BLOCK):
            to[into] = source[out_of]
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"op": OPS["PadIn"], "low": 1, "high": 6}, "pad-row-not-whole"),
        ({"op": OPS["PadIn"], "low": 1, "high": 8, "extra": [0, 9, 0, 0]}, "pad-too-wide"),
        ({"op": OPS["PadIn"], "low": 1, "high": 8, "extra": [0, 0, 9, 0]}, "pad-too-wide"),
        ({"op": OPS["PadIn"], "low": 1, "high": 2097152}, "pad-row-too-long"),
        ({"op": OPS["PadOut"], "low": 1, "high": 2097152}, "pad-row-too-long"),
        ({"op": OPS["PadIn"], "low": 4096, "high": 4}, "copy-too-many-rows"),
        ({"op": OPS["CopyIn"], "form": LANES, "low": 4096, "high": 1}, "copy-too-many-rows"),
        ({"op": OPS["CopyIn"], "form": COUNT, "count": 8, "extra": [2, 0, 0, 0]}, "gm-misaligned"),
        ({"op": OPS["CopyOut"], "form": COUNT, "count": 8, "extra": [2, 0, 0, 0]}, "gm-misaligned"),
        ({"op": OPS["CopyIn"], "form": LANES, "low": 1, "high": 1, "extra": [2, 0, 0, 0]}, "gm-misaligned"),
        ({"op": OPS["CopyIn"], "form": COUNT, "count": 4096, "extra": [36, 0, 0, 0]}, "gm-out-of-bounds"),
        ({"op": OPS["CopyOut"], "form": LANES, "low": 2, "high": 256, "dst_blk": 2}, "gm-out-of-bounds"),
        ({"op": OPS["CopyIn"], "form": LANES, "low": 2, "high": 256, "dst_blk": 1}, "ub-out-of-bounds"),
        ({"op": OPS["PadOut"], "low": 2, "high": 8192, "src0_blk": 1}, "ub-out-of-bounds"),
    ],
)
def test_refused_copies(fields: dict, expected: str) -> None:
    code, kind = TYPES["float"]
    with pytest.raises(KernelFault) as caught:
        run("move", pattern(kind), pattern(kind), type=code, **fields)
    assert [d.id for d in caught.value.diagnostics] == [expected]


def test_a_padding_value_of_64_bits_must_be_zero() -> None:
    code, kind = TYPES["int64"]
    args = {"op": OPS["PadIn"], "type": code, "low": 1, "high": 8, "flag": 1}
    run("move", pattern(kind), pattern(kind), scalar=0, **args)
    with pytest.raises(KernelFault) as caught:
        run("move", pattern(kind), pattern(kind), scalar=1, **args)
    assert [d.id for d in caught.value.diagnostics] == ["pad-value-64-bit"]


def test_padding_without_a_value_is_poison() -> None:
    # isPad=false, left or right padding, SetPadValue never called: the documentation says random.
    code, kind = TYPES["float"]
    actual = run(
        "move", pattern(kind, 1), pattern(kind, 2), op=OPS["PadIn"], type=code, low=1, high=20, extra=[0, 1, 0, 0]
    )
    assert_same(actual[1:6], pattern(kind, 2)[:5])
    assert np.isnan(actual[[0, 6, 7]]).all()


@pytest.mark.parametrize("setting", ["first", "poison"])
def test_option_pad_dummy(setting: str) -> None:
    code, kind = TYPES["float"]
    actual = run(
        "move",
        pattern(kind, 1),
        pattern(kind, 2),
        op=OPS["PadIn"],
        type=code,
        low=2,
        high=20,
        options=TwinOptions(pad_dummy=setting),
    )
    for r in range(2):
        assert_same(actual[8 * r : 8 * r + 5], pattern(kind, 2)[5 * r : 5 * r + 5])
        dummy = actual[8 * r + 5 : 8 * r + 8]
        if setting == "first":
            assert_same(dummy, np.full(3, pattern(kind, 2)[5 * r]))
        else:
            assert np.isnan(dummy).all()
    assert_same(actual[16:], pattern(kind, 1)[16:])


ATOMIC = ("int8", "int16", "half", "bfloat16", "int32", "float")


@pytest.mark.parametrize("dtype", ATOMIC)
@pytest.mark.parametrize("how", ["Add", "Max", "Min"])
@pytest.mark.parametrize("name", ["CopyOut", "PadOut"])
def test_atomic_stores(name: str, how: str, dtype: str) -> None:
    # Read, combine, write: rows of 3 blocks (DataCopy) or of 41 elements (DataCopyPad), with gaps that stay as they
    # were.
    code, kind = TYPES[dtype]
    size = kind.itemsize
    dst, src = Data(3, special=False, scale=2).array(kind), Data(4, special=False, scale=2).array(kind)
    row = 3 * BLOCK if name == "CopyOut" else 41 * size
    gap = 2 * BLOCK if name == "CopyOut" else 3 * size
    length, gap_units = (3, 2) if name == "CopyOut" else (row, gap)
    actual = run(
        "move",
        dst,
        src,
        op=OPS[name],
        type=code,
        form=LANES,
        low=5,
        high=length,
        dst_blk=gap_units,
        mode=["", "Add", "Max", "Min"].index(how),
    )
    expected = dst.copy()
    for r in range(5):
        at, source = r * (row + gap) // size, r * up(row) // size
        old, new = expected[at : at + row // size], src[source : source + row // size]
        if how == "Add" and kind.kind not in "iu":
            expected[at : at + row // size] = (old.astype(np.float64) + new.astype(np.float64)).astype(kind)
        elif how == "Add":
            expected[at : at + row // size] = (old.astype(np.int64) + new).astype(kind)
        else:
            expected[at : at + row // size] = (np.maximum if how == "Max" else np.minimum)(old, new)
    assert_same(actual, expected)


def test_atomic_setting_does_not_touch_copies_into_local_memory() -> None:
    code, kind = TYPES["float"]
    actual = run("move", pattern(kind, 1), pattern(kind, 2), op=OPS["CopyIn"], type=code, form=COUNT, count=64, mode=1)
    assert_same(actual[:64], pattern(kind, 2)[:64])


@pytest.mark.parametrize("name", OPS)
def test_bare_libraries_give_the_same_bits(name: str) -> None:
    code, kind = TYPES["float"]
    offsets = (np.arange(BUFFER_BYTES // 4) * 28 % 4096).astype(np.uint32)
    for form in (COUNT, LANES, BITS):
        fields = {
            "op": OPS[name],
            "type": code,
            "form": form,
            "count": 200,
            "low": 5,
            "high": 12,
            "repeat": 3,
            "dst_blk": 2,
        }
        fields |= {"src0_blk": 4, "dst_rep": 20, "src0_rep": 9, "scalar": scalar_bits(2.5, kind)}
        arrays = pattern(kind, 1), pattern(kind, 2), offsets
        assert_same(run("move", *arrays, observed=False, **fields), run("move", *arrays, **fields))
