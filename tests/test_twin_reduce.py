"""Reductions: the order of additions bit for bit, the lowest index on ties, where results land, and what stays untouched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_support import (
    BITS,
    BLOCK,
    COUNT,
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
    quiet,
    run,
    specials,
)

from gn_tutorial.errors import KernelFault
from gn_tutorial.options import TwinOptions

OPS = {name: op for op, name in enumerate(
    ["ReduceSum", "ReduceMax", "ReduceMin", "WholeReduceSum", "WholeReduceMax", "WholeReduceMin",
     "BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum", "RepeatReduceSum"]
)}  # fmt: skip
FEW = settings(max_examples=40, deadline=None)


def pair_sum(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """One level of the tree; an absent lane (None in the mask) is -0, which changes no sum."""
    with quiet():
        return (a.astype(np.float64) + b.astype(np.float64)).astype(dtype)


def tree(lanes: dict[int, np.generic], width: int, dtype: np.dtype, *, adjacent: bool = True, rounds: bool = True) -> np.generic:
    """Sum of the present lanes, pairs of neighbours first; ``rounds=False`` adds half in float and rounds once."""
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
    """Value and lane of the extreme; the lowest lane on ties; NaN wins."""
    best: tuple[np.generic, int] | None = None
    for lane, value in lanes.items():
        if best is None:
            best = value, lane
            continue
        better = value > best[0] if largest else value < best[0]
        if better or (np.isnan(value) and not np.isnan(best[0])):
            best = value, lane
    return best


def lanes_of(call: Call, src: np.ndarray) -> list[dict[int, np.generic]]:
    """Each repeat's present lanes with their values."""
    width = REPEAT // src.dtype.itemsize
    places = call.indices(width, src.dtype.itemsize, 1)
    return [dict(zip(lanes.tolist(), src[at], strict=True)) for lanes, at in zip(call.lanes(width), places, strict=True)]


def index_bits(index: int, dtype: np.dtype) -> np.generic:
    return np.array(index, f"u{dtype.itemsize}").view(dtype)[()]


@pytest.mark.parametrize("dtype", ["half", "float"])
def test_reduce_sum_count(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(count=st.integers(1, 20 * width), values=data(), at=st.integers(0, 9))
    def check(count: int, values: Data, at: int) -> None:
        src, dst = values.array(kind), pattern(kind, 1)
        call = Call(COUNT, count)
        actual = run("reduce", dst, src, pattern(kind), op=OPS["ReduceSum"], type=code, extra=[at, 0, 0, 0], **call.fields())
        total = kind.type(-0.0)
        for lanes in lanes_of(call, src):
            total = pair_sum(np.array(total), np.array(tree(lanes, width, kind)), kind)[()]
        expected = dst.copy()
        expected[at] = total
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", ["half", "float"])
def test_reduce_sum_mask_and_repeat(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width, forms=(LANES, BITS)), repeat=st.integers(0, 300), values=data())
    def check(call: Call, repeat: int, values: Data) -> None:
        # Up to 300 repeats: this form may pass the 255 of one instruction, and the second round has more than one repeat.
        rep = call.rep[1] if repeat <= 8 else 1
        call = Call(call.form, 0, call.low, call.high, repeat, (1, 1, 1), (8, rep, 8))
        src, dst = values.array(kind), pattern(kind, 1)
        actual = run("reduce", dst, src, pattern(kind), op=OPS["ReduceSum"], type=code, **call.fields())
        expected = dst.copy()
        partial = [tree(lanes, width, kind) for lanes in lanes_of(call, src)]
        if partial and lanes_of(call, src)[0]:
            while len(partial) > 1:
                groups = [partial[i : i + width] for i in range(0, len(partial), width)]
                partial = [tree(dict(enumerate(group)), width, kind) for group in groups]
            expected[0] = partial[0]
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin"])
def test_reduce_extreme(name: str, dtype: str, index: bool) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width, forms=(COUNT, LANES, BITS)), values=data(), ties=st.booleans())
    def check(call: Call, values: Data, ties: bool) -> None:
        call = Call(call.form, max(call.count, 1), call.low, call.high, call.repeat, (1, 1, 1), call.rep)
        src, dst = values.array(kind), pattern(kind, 1)
        if ties:
            src = np.round(np.nan_to_num(src, posinf=1, neginf=2)) % 3
        actual = run("reduce", dst, src, pattern(kind), op=OPS[name], type=code, flag=int(index), **call.fields())
        expected = dst.copy()
        every = {r * width + lane: v for r, lanes in enumerate(lanes_of(call, src)) for lane, v in lanes.items()}
        found = extreme(every, largest=name == "ReduceMax")
        if found is not None:
            expected[0] = found[0]
            if index:
                expected[1] = index_bits(found[1], kind)
        if index and found is not None:  # bits of a position may look like a NaN: compare them as integers
            assert actual.view(f"u{kind.itemsize}")[1] == found[1]
            actual, expected = np.delete(actual, 1), np.delete(expected, 1)
        same = positive_zero if not index else np.asarray
        assert_same(same(actual), same(expected))

    check()


def positive_zero(values: np.ndarray) -> np.ndarray:
    """Which of two zeros of different sign is the larger is nobody's promise."""
    return np.where(values == 0, np.zeros_like(values), values)


def whole(name: str, dtype: str, write: Callable[[np.ndarray, int, dict, np.dtype], None], units: tuple[int, ...], order: int = 0) -> None:
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
        actual = run("reduce", dst, src, pattern(kind), op=OPS[name], type=code, mode=order,
                     extra=[first, stride, 0, 0], **call.fields())  # fmt: skip
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
            result = tree(members, group, kind) if name.endswith("Sum") else extreme(members, largest=name.endswith("Max"))[0]
            put(out[place * size :], result)

    whole(name, dtype, write, (unit, BLOCK))


def test_sum_order_matters() -> None:
    # The reference would be useless if any order gave the same bits.
    src = Data(3, special=False).array(np.float32)[:640]
    by_tree = np.float32(0)
    for i in range(0, 640, 64):
        by_tree = by_tree + tree(dict(enumerate(src[i : i + 64])), 64, np.dtype(np.float32))
    in_order = np.float32(0)
    for value in src:
        in_order = in_order + value
    assert by_tree != in_order
    code, kind = TYPES["float"]
    whole_src = pattern(kind)
    whole_src[:640] = src
    actual = run("reduce", pattern(kind), whole_src, op=OPS["ReduceSum"], type=code, form=COUNT, count=640)
    assert actual[0] == by_tree


def test_scratch_is_used_by_the_repeat_form_only() -> None:
    # A scratch tensor that is too small stops the one and does not disturb the other: here it starts past the buffer's end.
    code, kind = TYPES["float"]
    for form, stops in ((COUNT, False), (LANES, True)):
        args = {"op": OPS["ReduceSum"], "type": code, "form": form, "count": 640, "low": 64, "repeat": 9000, "src0_rep": 0}
        if stops:
            with pytest.raises(KernelFault) as caught:
                run("reduce", pattern(kind), pattern(kind), **args)
            (found,) = caught.value.diagnostics
            assert (found.id, found.fields["role"]) == ("ub-out-of-bounds", "sharedTmpBuffer")
        else:
            run("reduce", pattern(kind), pattern(kind), **args)


@pytest.mark.parametrize("count", [0, -1])
@pytest.mark.parametrize("name", ["ReduceSum", "ReduceMax", "ReduceMin"])
def test_count_below_one_stops(name: str, count: int) -> None:
    code, kind = TYPES["float"]
    with pytest.raises(KernelFault) as caught:
        run("reduce", pattern(kind), pattern(kind), op=OPS[name], type=code, form=COUNT, count=count)
    assert [d.id for d in caught.value.diagnostics] == ["reduce-count"]


@pytest.mark.parametrize("name", ["WholeReduceSum", "WholeReduceMax", "BlockReduceMin", "PairReduceSum"])
def test_more_repeats_than_an_instruction_has_stop(name: str) -> None:
    code, kind = TYPES["float"]
    args = {"op": OPS[name], "type": code, "form": LANES, "low": 1, "src0_blk": 1, "src0_rep": 1, "extra": [0, 1, 0, 0]}
    run("reduce", pattern(kind), pattern(kind), repeat=100, **args)
    with pytest.raises(KernelFault) as caught:
        run("reduce", pattern(kind), pattern(kind), repeat=256, **args)
    assert [d.id for d in caught.value.diagnostics] == ["repeat-range"]


# Both settings of what public text does not decide.


@pytest.mark.parametrize("name", ["ReduceSum", "WholeReduceSum", "BlockReduceSum"])
@pytest.mark.parametrize("lanes", ["adjacent", "halves"])
@pytest.mark.parametrize("half_tree", ["half", "float"])
def test_options_half_tree_and_reduce_lanes(half_tree: str, lanes: str, name: str) -> None:
    code, kind = TYPES["half"]
    src = Data(11, special=False).array(kind)
    group = 16 if name == "BlockReduceSum" else 128

    def sums(lanes: str, half_tree: str) -> list[np.generic]:
        parts = [dict(enumerate(src[i : i + group])) for i in range(0, 128, group)]
        return [tree(part, group, kind, adjacent=lanes == "adjacent", rounds=half_tree == "half") for part in parts]

    settings_differ = {tuple(sums(a, b)) for a in ("adjacent", "halves") for b in ("half", "float")}
    assert len(settings_differ) >= 3
    options = TwinOptions(half_tree=half_tree, reduce_lanes=lanes)
    call = Call(COUNT if name == "ReduceSum" else LANES, 128, 128, 0, 1)
    actual = run("reduce", pattern(kind), src, op=OPS[name], type=code, extra=[0, 1, 0, 0], options=options, **call.fields())
    expected = sums(lanes, half_tree)
    assert_same(actual[: len(expected)], np.array(expected, kind))


@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin", "WholeReduceMax", "BlockReduceMin"])
@pytest.mark.parametrize("setting", ["nan", "other"])
def test_option_minmax_nan(setting: str, name: str) -> None:
    code, kind = TYPES["float"]
    src = pattern(kind)
    src[:8] = [np.nan, 3, -7, np.nan, 5, 2, 1, 0]
    call = Call(COUNT if name.startswith("Reduce") else LANES, 8, 8, 0, 1)
    actual = run("reduce", pattern(kind), src, op=OPS[name], type=code, mode=2, extra=[0, 1, 0, 0],
                 options=TwinOptions(minmax_nan=setting), **call.fields())  # fmt: skip
    expected = np.nan if setting == "nan" else 5.0 if "Max" in name else -7.0
    assert_same(actual[:1], np.array([expected], kind))


@pytest.mark.parametrize("name", ["ReduceSum", "WholeReduceSum", "BlockReduceSum", "PairReduceSum"])
@pytest.mark.parametrize("setting", ["infinity", "saturate"])
def test_option_half_overflow(setting: str, name: str) -> None:
    code, kind = TYPES["half"]
    src = pattern(kind)
    src[:2] = 60000
    call = Call(COUNT if name == "ReduceSum" else LANES, 2, 2, 0, 1)
    actual = run("reduce", pattern(kind), src, op=OPS[name], type=code, extra=[0, 1, 0, 0],
                 options=TwinOptions(half_overflow=setting), **call.fields())  # fmt: skip
    assert actual[0] == (np.inf if setting == "infinity" else 65504)


def test_documented_example_of_a_saturating_sum() -> None:
    # ReduceDataBlock's page adds [60000, 60000, -30000, 100] in saturating mode: 65504 first, then -29900, then their sum, in exact
    # numbers. Without saturation of the first step, or with other pairs, the result is infinity or far off.
    code, kind = TYPES["half"]
    src = pattern(kind)
    src[:16] = 0
    src[:4] = [60000, 60000, -30000, 100]
    call = Call(LANES, 0, 16, 0, 1)
    actual = run("reduce", pattern(kind), src, op=OPS["BlockReduceSum"], type=code, extra=[0, 1, 0, 0],
                 options=TwinOptions(half_overflow="saturate"), **call.fields())  # fmt: skip
    assert actual[0] == kind.type(65504.0 + float(kind.type(-30000.0 + 100.0)))
    assert abs(float(actual[0]) - 35604) <= 32  # of the page, whose numbers are not all halves


def test_specials_survive_a_sum() -> None:
    code, kind = TYPES["float"]
    for values, expected in (([np.inf, 1], np.inf), ([np.inf, -np.inf], np.nan), ([-0.0, -0.0], -0.0), ([0.0, -0.0], 0.0)):
        src = pattern(kind)
        src[:2] = values
        actual = run("reduce", pattern(kind), src, op=OPS["ReduceSum"], type=code, form=COUNT, count=2)
        assert_same(actual[:1], np.array([expected], kind))
    assert specials(kind).size > 20


@pytest.mark.parametrize("setting", ["fixed", "packed"])
def test_option_pair_unit(setting: str) -> None:
    # 20 of 64 lanes give 10 sums per repeat: the next repeat's start 128 bytes, or 40 bytes, further on.
    code, kind = TYPES["float"]
    src = Data(9, special=False).array(kind)
    call = Call(LANES, 0, 20, 0, 3)
    actual = run("reduce", pattern(kind), src, op=OPS["PairReduceSum"], type=code, extra=[0, 1, 0, 0],
                 options=TwinOptions(pair_unit=setting), **call.fields())  # fmt: skip
    expected = pattern(kind)
    for r in range(3):
        start = r * (32 if setting == "fixed" else 10)
        expected[start : start + 10] = src[64 * r : 64 * r + 20 : 2] + src[64 * r + 1 : 64 * r + 20 : 2]
    assert_same(actual, expected)
