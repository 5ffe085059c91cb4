"""Reductions of each repeat, block or pair: one result per group, and none for a group without active lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_reference import (
    extreme,
    index_bits,
    lanes_of,
    tree,
)
from twin_support import (
    BITS,
    BLOCK,
    LANES,
    OUTSIDE,
    REPEAT,
    TYPES,
    Call,
    Data,
    assert_same,
    calls,
    data,
    pattern,
    run,
)

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

OPS = {name: op for op, name in enumerate(
    ["ReduceSum", "ReduceMax", "ReduceMin", "WholeReduceSum", "WholeReduceMax", "WholeReduceMin",
     "BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum", "RepeatReduceSum"]
)}  # fmt: skip


FEW = settings(max_examples=examples(40), deadline=None)


def whole(
    name: str,
    dtype: str,
    write: Callable[[np.ndarray, int, dict, np.dtype], None],
    units: tuple[int, ...],
    order: int = 0,
) -> None:
    """Compares a per-repeat reduction over random calls; ``write`` puts one repeat's result at a byte offset."""
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize
    forms = (LANES,) if name == "RepeatReduceSum" else (LANES, BITS, OUTSIDE)

    @FEW
    @given(call=calls(width, forms=forms), values=data(), stride=st.integers(1, 6), at=st.integers(0, 3))
    def check(call: Call, values: Data, stride: int, at: int) -> None:
        src, dst = values.array(kind), pattern(kind, 1)
        unit, align = units
        first = at * align // kind.itemsize
        actual = run(
            "reduce",
            dst,
            src,
            pattern(kind),
            op=OPS[name],
            type=code,
            mode=order,
            extra=[first, stride, 0, 0],
            **call.fields(),
        )
        expected = dst.copy()
        for r, lanes in enumerate(lanes_of(call, src)):
            if lanes:
                write(expected.view(np.uint8)[first * kind.itemsize + r * stride * unit :], width, lanes, kind)
        unsigned = f"u{kind.itemsize}"
        both_nan = np.isnan(actual) & np.isnan(expected)
        np.testing.assert_array_equal(actual.view(unsigned)[~both_nan], expected.view(unsigned)[~both_nan])

    check()


def put(out: np.ndarray, value: np.generic) -> None:
    raw = np.frombuffer(np.asarray(value).tobytes(), np.uint8)
    out[: len(raw)] = raw


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("name", ["WholeReduceSum", "RepeatReduceSum"])
def test_whole_reduce_sum(name: str, dtype: str) -> None:
    size = TYPES[dtype][1].itemsize
    whole(name, dtype, lambda out, width, lanes, kind: put(out, tree(lanes, width, kind)), (size, size))


@pytest.mark.parametrize("order", range(4), ids=["VALUE_INDEX", "INDEX_VALUE", "ONLY_VALUE", "ONLY_INDEX"])
@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("name", ["WholeReduceMax", "WholeReduceMin"])
def test_whole_reduce_extreme(name: str, dtype: str, order: int) -> None:
    size = TYPES[dtype][1].itemsize
    unit = {0: 2 * size, 1: 2 * size, 2: size, 3: 4}[order]

    def write(out: np.ndarray, width: int, lanes: dict, kind: np.dtype) -> None:
        value, lane = extreme(lanes, largest=name == "WholeReduceMax")
        bits = index_bits(lane, kind)
        if order == 3:
            put(out, np.uint32(lane))
        else:
            for i, part in enumerate({0: (value, bits), 1: (bits, value), 2: (value,)}[order]):
                put(out[i * size :], part)

    whole(name, dtype, write, (unit, unit), order)


def groups(lanes: dict[int, np.generic], size: int) -> dict[int, dict[int, np.generic]]:
    result: dict[int, dict[int, np.generic]] = {}
    for lane, value in lanes.items():
        result.setdefault(lane // size, {})[lane % size] = value
    return result


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("name", ["BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum"])
def test_group_reduce(name: str, dtype: str) -> None:
    size = TYPES[dtype][1].itemsize
    group = 2 if name == "PairReduceSum" else BLOCK // size
    unit = 128 if name == "PairReduceSum" else 8 * size

    def write(out: np.ndarray, width: int, lanes: dict, kind: np.dtype) -> None:
        for place, members in groups(lanes, group).items():  # a group that is masked out whole writes nothing
            result = (
                tree(members, group, kind)
                if name.endswith("Sum")
                else extreme(members, largest=name.endswith("Max"))[0]
            )
            put(out[place * size :], result)

    whole(name, dtype, write, (unit, BLOCK))


@pytest.mark.parametrize("lanes", range(8, 64, 8))
def test_a_mask_that_leaves_out_whole_blocks(lanes: int) -> None:
    """Lines shorter than a repeat are summed like this; the twin has a way of its own for it."""
    code, kind = TYPES["float"]
    call, src, dst = Call(LANES, 0, lanes, 0, 3), Data(lanes, special=False).array(kind), pattern(kind, 1)
    call_extra = [0, 1, 0, 0]
    actual = run(
        "reduce", dst, src, pattern(kind), op=OPS["BlockReduceSum"], type=code, extra=call_extra, **call.fields()
    )
    expected = dst.copy()
    for repeat, members in enumerate(lanes_of(call, src)):
        for block, values in groups(members, 8).items():
            put(expected.view(np.uint8)[(repeat * 8 + block) * 4 :], tree(values, 8, kind))
    assert_same(actual, expected)


@pytest.mark.parametrize("name", ["WholeReduceSum", "WholeReduceMax", "BlockReduceMin", "PairReduceSum"])
def test_more_repeats_than_an_instruction_has_stop(name: str) -> None:
    code, kind = TYPES["float"]
    args = {"op": OPS[name], "type": code, "form": LANES, "low": 1, "src0_blk": 1, "src0_rep": 1, "extra": [0, 1, 0, 0]}
    run("reduce", pattern(kind), pattern(kind), repeat=100, **args)
    with pytest.raises(KernelFault) as caught:
        run("reduce", pattern(kind), pattern(kind), repeat=256, **args)
    assert [d.id for d in caught.value.diagnostics] == ["repeat-range"]


def test_documented_example_of_a_saturating_sum() -> None:
    # ReduceDataBlock's page adds [60000, 60000, -30000, 100] in saturating mode: 65504 first, then -29900, then their
    # sum, in exact numbers. Without saturation of the first step, or with other pairs, the result is infinity or far
    # off.
    code, kind = TYPES["half"]
    src = pattern(kind)
    src[:16] = 0
    src[:4] = [60000, 60000, -30000, 100]
    call = Call(LANES, 0, 16, 0, 1)
    actual = run(
        "reduce",
        pattern(kind),
        src,
        op=OPS["BlockReduceSum"],
        type=code,
        extra=[0, 1, 0, 0],
        options=TwinOptions(half_overflow="saturate"),
        **call.fields(),
    )
    assert actual[0] == kind.type(65504.0 + float(kind.type(-30000.0 + 100.0)))
    assert abs(float(actual[0]) - 35604) <= 32  # of the page, whose numbers are not all halves


@pytest.mark.parametrize("setting", ["fixed", "packed"])
def test_option_pair_unit(setting: str) -> None:
    # 20 of 64 lanes give 10 sums per repeat: the next repeat's start 128 bytes, or 40 bytes, further on.
    code, kind = TYPES["float"]
    src = Data(9, special=False).array(kind)
    call = Call(LANES, 0, 20, 0, 3)
    actual = run(
        "reduce",
        pattern(kind),
        src,
        op=OPS["PairReduceSum"],
        type=code,
        extra=[0, 1, 0, 0],
        options=TwinOptions(pair_unit=setting),
        **call.fields(),
    )
    expected = pattern(kind)
    for r in range(3):
        start = r * (32 if setting == "fixed" else 10)
        expected[start : start + 10] = src[64 * r : 64 * r + 20 : 2] + src[64 * r + 1 : 64 * r + 20 : 2]
    assert_same(actual, expected)
