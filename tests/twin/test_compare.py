"""Compare and Select: bits, their order, the lanes they decide, and what the tail keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import (
    BITS,
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
    quiet,
    run,
    scalar_bits,
)

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

MODES = {
    "LT": np.less,
    "GT": np.greater,
    "EQ": np.equal,
    "LE": np.less_equal,
    "GE": np.greater_equal,
    "NE": np.not_equal,
}
OPS = {"Compare": 0, "CompareScalar": 1, "Compares": 2}


def bits_of(held: np.ndarray) -> np.ndarray:
    return np.packbits(held, bitorder="little")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "types", [("half", "uint8"), ("float", "uint8"), ("float", "int8"), ("int32", "uint8")], ids="-".join
)
@pytest.mark.parametrize("name", OPS)
def test_comparisons(name: str, types: tuple[str, str], mode: str) -> None:
    if types[0] == "int32" and mode != "EQ":
        return
    (code, kind), (code2, _) = TYPES[types[0]], TYPES[types[1]]
    width = REPEAT // kind.itemsize
    compare = MODES[mode]

    @settings(max_examples=20, deadline=None)
    @given(
        form=st.sampled_from([COUNT, LANES, BITS]),
        repeats=st.integers(0, 8),
        low=st.integers(0, 2**64 - 1),
        blk=st.tuples(st.just(1), st.integers(0, 4), st.integers(0, 4)),
        rep=st.tuples(st.just(8), st.integers(0, 40), st.integers(0, 40)),
        values=data(),
    )
    def check(form: int, repeats: int, low: int, blk: tuple, rep: tuple, values: Data) -> None:
        a, b = values.array(kind), Data(values.seed + 1, values.special).array(kind)
        b[::3] = a[::3]  # equal pairs, NaN among them
        scalar = a[7]
        call = Call(form, repeats * width, low % (width + 1) if form == LANES else low, low, repeats, blk, rep)
        actual = run(
            "compare",
            pattern(np.uint8, 1),
            a,
            b,
            op=OPS[name],
            type=code,
            type2=code2,
            mode=list(MODES).index(mode),
            scalar=scalar_bits(scalar, kind),
            **call.fields(),
        )
        # The mask plays no part: whole repeats, one after the other.
        whole = Call(COUNT if form == COUNT else LANES, repeats * width, width, 0, repeats, blk, rep)
        left = a[np.concatenate([np.empty(0, np.int64), *whole.indices(width, kind.itemsize, 1)])]
        right = b[np.concatenate([np.empty(0, np.int64), *whole.indices(width, kind.itemsize, 2)])]
        with quiet():
            held = compare(left, right if name == "Compare" else scalar)
        expected = pattern(np.uint8, 1)
        expected[: repeats * width // 8] = bits_of(held)
        np.testing.assert_array_equal(actual, expected)

    check()


@pytest.mark.parametrize("name", OPS)
def test_int32_compares_for_equality_only(name: str) -> None:
    code, kind = TYPES["int32"]
    for mode in ("LT", "GT", "LE", "GE", "NE"):
        with pytest.raises(KernelFault) as caught:
            run(
                "compare",
                pattern(np.uint8),
                pattern(kind),
                pattern(kind),
                op=OPS[name],
                type=code,
                type2=8,
                mode=list(MODES).index(mode),
                count=64,
            )
        assert [d.id for d in caught.value.diagnostics] == ["compare-int32-mode"]


@pytest.mark.parametrize("observed", [True, False])
def test_a_count_that_is_no_whole_repeat(observed: bool) -> None:
    code, kind = TYPES["float"]
    call = {"op": 0, "type": code, "type2": 8, "mode": 5, "form": COUNT, "count": 64 + 63}
    if observed:
        with pytest.raises(KernelFault) as caught:
            run("compare", pattern(np.uint8), pattern(kind), pattern(kind, 3), **call)
        assert [d.id for d in caught.value.diagnostics] == ["compare-not-whole-repeats"]
        return
    # Bare, as on the device: the last 63 elements are not compared, their bytes keep what they held.
    actual = run("compare", pattern(np.uint8), pattern(kind), pattern(kind, 3), observed=False, **call)
    expected = pattern(np.uint8)
    expected[:8] = 0xFF
    np.testing.assert_array_equal(actual, expected)


SELECT_TYPES = [("half", "uint8"), ("half", "uint16"), ("float", "uint8"), ("float", "uint32"), ("float", "int64")]


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["CMPMASK_SPR", "TENSOR_SCALAR", "TENSOR_TENSOR"])
@pytest.mark.parametrize("types", SELECT_TYPES, ids="-".join)
def test_select(types: tuple[str, str], mode: int) -> None:
    (code, kind), (code2, _) = TYPES[types[0]], TYPES[types[1]]
    width = REPEAT // kind.itemsize

    @settings(max_examples=examples(25), deadline=None)
    @given(call=calls(width, forms=(COUNT, LANES, BITS)), values=data())
    def check(call: Call, values: Data) -> None:
        a, b = values.array(kind), Data(values.seed + 1, values.special).array(kind)
        tail = b.view(np.uint8)[BUFFER_BYTES - 2048 :]
        tail[:] = Data(values.seed + 2).array(np.uint8)[:2048]
        chosen = np.unpackbits(tail, bitorder="little").astype(bool)
        scalar = np.array(-2.5, kind)
        dst = pattern(kind, 1)
        actual = run(
            "compare",
            dst,
            a,
            b,
            op=4 if mode == 1 else 3,
            type=code,
            type2=code2,
            mode=mode,
            scalar=scalar_bits(scalar, kind),
            **call.fields(),
        )
        expected = dst.copy()
        places, first, second = (call.indices(width, kind.itemsize, i) for i in range(3))
        for r, lanes in enumerate(call.lanes(width)):
            bit = chosen[lanes + (0 if mode == 0 else r * width)]
            other = np.full(len(lanes), scalar) if mode == 1 else b[second[r]]
            expected[places[r]] = np.where(bit, a[first[r]], other)
        assert_same(actual, expected)

    check()


def test_compare_then_select_is_where() -> None:
    # The two agree on the order of bits: a kernel's usual pair of calls.
    code, kind = TYPES["float"]
    a, b = Data(1).array(kind, 1024), Data(2).array(kind, 1024)
    full_a, full_b = pattern(kind), pattern(kind)
    full_a[:1024], full_b[:1024] = a, b
    bits = run("compare", pattern(np.uint8), full_a, full_b, op=0, type=code, type2=8, mode=1, count=1024)
    full_b.view(np.uint8)[BUFFER_BYTES - 2048 :] = bits[:2048]
    picked = run("compare", pattern(kind), full_a, full_b, op=3, type=code, type2=8, mode=2, count=1024)
    with quiet():
        expected = fold(Call(COUNT, 1024), lambda x, y: np.where(x > y, x, y), pattern(kind), full_a, full_b, width=64)
    assert_same(picked, expected)


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("count", [1, 8, 64, 101, 64 + 63])
def test_option_compare_tail(count: int, observed: bool) -> None:
    """All elements are compared; the bits of the last repeat behind them are zeros."""
    code, kind = TYPES["float"]
    a, b = pattern(kind), pattern(kind, 3)
    call = {"op": 0, "type": code, "type2": 8, "mode": list(MODES).index("LT"), "form": COUNT, "count": count}
    options = TwinOptions(compare_tail="compared")
    actual = run("compare", pattern(np.uint8), a, b, observed=observed, options=options, **call)
    repeats = -(-count // 64)
    bits = np.zeros(repeats * 64, np.uint8)
    bits[:count] = a[:count] < b[:count]
    expected = pattern(np.uint8)
    expected[: repeats * 8] = np.packbits(bits, bitorder="little")
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("setting", ["ieee", "false"])
def test_option_compare_nan(setting: str, name: str) -> None:
    code, kind = TYPES["float"]
    a = np.full(BUFFER_BYTES // 4, 1, kind)
    a[:64:2] = np.nan
    options = TwinOptions(compare_nan=setting)
    for mode, with_nan in (("NE", setting == "ieee"), ("EQ", False), ("LT", False), ("GE", False)):
        actual = run(
            "compare",
            pattern(np.uint8),
            a,
            a,
            op=OPS[name],
            type=code,
            type2=8,
            mode=list(MODES).index(mode),
            count=64,
            scalar=scalar_bits(1.0, kind),
            options=options,
        )
        held = np.where(np.isnan(a[:64]), with_nan, MODES[mode](1.0, 1.0))
        np.testing.assert_array_equal(actual[:8], bits_of(held))


@pytest.mark.parametrize("name", ["Compare", "CompareScalar"])
@pytest.mark.parametrize("setting", ["repeats", "counter"])
def test_option_counter_compare(setting: str, name: str) -> None:
    # 100 elements in counter mode are two repeats of 64; repeatTime says three.
    code, kind = TYPES["float"]
    zeros = np.zeros(BUFFER_BYTES // 4, kind)
    call = Call(COUNTER, 100, repeat=3)
    actual = run(
        "compare",
        np.full(BUFFER_BYTES, 7, np.uint8),
        zeros,
        zeros,
        op=OPS[name],
        type=code,
        type2=8,
        mode=list(MODES).index("EQ"),
        options=TwinOptions(counter_compare=setting),
        **call.fields(),
    )
    done = 24 if setting == "repeats" else 16
    assert actual[:done].tolist() == [0xFF] * done
    assert set(actual[done:].tolist()) == {7}
