"""Reductions of a whole tensor: the order of additions bit for bit, the lowest index on ties, what stays untouched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_reference import (
    extreme,
    index_bits,
    lanes_of,
    no_zero_sign,
    pair_sum,
    tree,
)
from twin_support import (
    BITS,
    COUNT,
    LANES,
    REPEAT,
    TYPES,
    Call,
    Data,
    assert_same,
    calls,
    data,
    pattern,
    run,
    specials,
)

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

OPS = {name: op for op, name in enumerate(
    ["ReduceSum", "ReduceMax", "ReduceMin", "WholeReduceSum", "WholeReduceMax", "WholeReduceMin",
     "BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum", "RepeatReduceSum"]
)}  # fmt: skip


FEW = settings(max_examples=examples(40), deadline=None)


@pytest.mark.parametrize("dtype", ["half", "float"])
def test_reduce_sum_count(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(count=st.integers(1, 20 * width), values=data(), at=st.integers(0, 9))
    def check(count: int, values: Data, at: int) -> None:
        src, dst = values.array(kind), pattern(kind, 1)
        call = Call(COUNT, count)
        actual = run(
            "reduce", dst, src, pattern(kind), op=OPS["ReduceSum"], type=code, extra=[at, 0, 0, 0], **call.fields()
        )
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
        # Up to 300 repeats: this form may pass the 255 of one instruction, and the second round has more than one
        # repeat.
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
        same = no_zero_sign if not index else np.asarray
        assert_same(same(actual), same(expected))

    check()


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
    # A scratch tensor that is too small stops the one and does not disturb the other: here it starts past the buffer's
    # end.
    code, kind = TYPES["float"]
    for form, stops in ((COUNT, False), (LANES, True)):
        args = {
            "op": OPS["ReduceSum"],
            "type": code,
            "form": form,
            "count": 640,
            "low": 64,
            "repeat": 9000,
            "src0_rep": 0,
        }
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
    actual = run(
        "reduce", pattern(kind), src, op=OPS[name], type=code, extra=[0, 1, 0, 0], options=options, **call.fields()
    )
    expected = sums(lanes, half_tree)
    assert_same(actual[: len(expected)], np.array(expected, kind))


@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin", "WholeReduceMax", "BlockReduceMin"])
@pytest.mark.parametrize("setting", ["nan", "other"])
def test_option_minmax_nan(setting: str, name: str) -> None:
    code, kind = TYPES["float"]
    src = pattern(kind)
    src[:8] = [np.nan, 3, -7, np.nan, 5, 2, 1, 0]
    call = Call(COUNT if name.startswith("Reduce") else LANES, 8, 8, 0, 1)
    actual = run(
        "reduce",
        pattern(kind),
        src,
        op=OPS[name],
        type=code,
        mode=2,
        extra=[0, 1, 0, 0],
        options=TwinOptions(minmax_nan=setting),
        **call.fields(),
    )
    expected = np.nan if setting == "nan" else 5.0 if "Max" in name else -7.0
    assert_same(actual[:1], np.array([expected], kind))


@pytest.mark.parametrize("zeros", [[-0.0, 0.0], [0.0, -0.0]])
@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin", "WholeReduceMax", "WholeReduceMin"])
@pytest.mark.parametrize("width", ["float", "half"])
def test_zeros_of_both_signs_are_equal(width: str, name: str, zeros: list[float]) -> None:
    """The first of them is taken, as it is."""
    code, kind = TYPES[width]
    src = pattern(kind)
    worse = 1 if name.endswith("Min") else -1
    src[:8] = [3 * worse, zeros[0], 2 * worse, zeros[1], worse, 4 * worse, 2 * worse, worse]
    call = Call(COUNT if name.startswith("Reduce") else LANES, 8, 8, 0, 1)
    actual = run("reduce", pattern(kind), src, op=OPS[name], type=code, mode=2, extra=[0, 1, 0, 0], **call.fields())
    assert actual[:1].tobytes() == np.array(zeros[:1], kind).tobytes()


@pytest.mark.parametrize("name", ["ReduceSum", "WholeReduceSum", "BlockReduceSum", "PairReduceSum"])
@pytest.mark.parametrize("setting", ["infinity", "saturate"])
def test_option_half_overflow(setting: str, name: str) -> None:
    code, kind = TYPES["half"]
    src = pattern(kind)
    src[:2] = 60000
    call = Call(COUNT if name == "ReduceSum" else LANES, 2, 2, 0, 1)
    actual = run(
        "reduce",
        pattern(kind),
        src,
        op=OPS[name],
        type=code,
        extra=[0, 1, 0, 0],
        options=TwinOptions(half_overflow=setting),
        **call.fields(),
    )
    assert actual[0] == (np.inf if setting == "infinity" else 65504)


def test_specials_survive_a_sum() -> None:
    code, kind = TYPES["float"]
    for values, expected in (
        ([np.inf, 1], np.inf),
        ([np.inf, -np.inf], np.nan),
        ([-0.0, -0.0], -0.0),
        ([0.0, -0.0], 0.0),
    ):
        src = pattern(kind)
        src[:2] = values
        actual = run("reduce", pattern(kind), src, op=OPS["ReduceSum"], type=code, form=COUNT, count=2)
        assert_same(actual[:1], np.array([expected], kind))
    assert specials(kind).size > 20
