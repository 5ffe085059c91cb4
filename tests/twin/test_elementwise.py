"""Element-wise instructions against NumPy: every form, dtype and special value; masked lanes keep their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_reference import (
    ADD,
    DIV,
    MUL,
    SUB,
    no_zero_sign,
    relu,
)
from twin_support import (
    COUNT,
    COUNTER,
    LANES,
    REPEAT,
    TYPES,
    Call,
    Data,
    assert_same,
    buffer_of,
    calls,
    data,
    fold,
    pattern,
    quiet,
    run,
    scalar_bits,
    specials,
)

from gn_tutorial.abi.options import TwinOptions

FEW = settings(max_examples=examples(40), deadline=None)


def wrap(exact: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return exact.astype(np.uint64).astype(dtype) if exact.dtype == np.uint64 else exact.astype(dtype)


def bigger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.maximum(a, b)


def smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.minimum(a, b)


ARITHMETIC = ("int16", "half", "int32", "float")


BINARY = {
    "Add": (0, ADD, ARITHMETIC),
    "Sub": (1, SUB, ARITHMETIC),
    "Mul": (2, MUL, ARITHMETIC),
    "Div": (3, DIV, ("half", "float")),
    "Max": (4, bigger, ARITHMETIC),
    "Min": (5, smaller, ARITHMETIC),
    "AddRelu": (6, lambda a, b: relu(ADD(a, b)), ("int16", "half", "float")),
    "SubRelu": (7, lambda a, b: relu(SUB(a, b)), ("int16", "half", "float")),
    "And": (8, np.bitwise_and, ("int16", "uint16")),
    "Or": (9, np.bitwise_or, ("int16", "uint16")),
}


@pytest.mark.parametrize(("name", "dtype"), [(name, t) for name, (_, _, types) in BINARY.items() for t in types])
def test_two_sources(name: str, dtype: str) -> None:
    op, operation, _ = BINARY[name]
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width), values=data(), observed=st.booleans())
    def check(call: Call, values: Data, observed: bool) -> None:
        dst, a, b = pattern(kind, 1), values.array(kind), Data(values.seed + 1, values.special).array(kind)
        actual = run("binary", dst, a, b, observed=observed, op=op, type=code, **call.fields())
        expected = fold(call, operation, dst, a, b, width=width)
        same = no_zero_sign if name in ("Max", "Min", "AddRelu", "SubRelu") else np.asarray
        assert_same(same(actual), same(expected))

    check()


SCALAR = {
    "Adds": (0, ADD, ARITHMETIC),
    "Muls": (1, MUL, ARITHMETIC),
    "Maxs": (2, bigger, ARITHMETIC),
    "Mins": (3, smaller, ARITHMETIC),
    "LeakyRelu": (4, lambda a, s: np.where(a >= 0, a, MUL(a, np.broadcast_to(s, a.shape))), ("half", "float")),
}


@pytest.mark.parametrize(("name", "dtype"), [(name, t) for name, (_, _, types) in SCALAR.items() for t in types])
def test_tensor_and_scalar(name: str, dtype: str) -> None:
    op, operation, _ = SCALAR[name]
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize
    choices = [v for v in specials(kind) if name != "LeakyRelu" or np.isfinite(v)]

    @FEW
    @given(call=calls(width), values=data(), scalar=st.sampled_from(choices), flag=st.integers(0, 1))
    def check(call: Call, values: Data, scalar: np.generic, flag: int) -> None:
        if flag == 1 and call.form == COUNTER:  # Adds<T, false>(dst, src, s, 1): no strides in this form
            call = Call(form=COUNTER, count=call.count)
        dst, a = pattern(kind, 1), values.array(kind)
        actual = run("scalar", dst, a, op=op, type=code, flag=flag, scalar=scalar_bits(scalar, kind), **call.fields())
        with quiet():
            expected = fold(call, lambda x: operation(x, np.full_like(x, scalar)), dst, a, width=width)
        same = no_zero_sign if name in ("Maxs", "Mins") else np.asarray
        assert_same(same(actual), same(expected))

    check()


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("name", ["ShiftLeft", "ShiftRight", "ShiftRight rounding"])
def test_shifts(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    def left(a: np.ndarray, by: int) -> np.ndarray:
        return (a.astype(np.int64) << by).astype(kind)

    def right(a: np.ndarray, by: int) -> np.ndarray:
        return (a.astype(np.int64) >> by).astype(kind)

    def rounding(a: np.ndarray, by: int) -> np.ndarray:
        last = (a.astype(np.int64) >> max(by - 1, 0)) & (1 if by else 0)
        return ((a.astype(np.int64) >> by) + last).astype(kind)

    op, operation, flag = {
        "ShiftLeft": (5, left, 0),
        "ShiftRight": (6, right, 0),
        "ShiftRight rounding": (6, rounding, 2),
    }[name]
    forms = (LANES,) if flag == 2 else (0, 1, 2, 3, 4)

    @FEW
    @given(call=calls(width, forms=forms), values=data(), by=st.integers(0, 8 * kind.itemsize - 1))
    def check(call: Call, values: Data, by: int) -> None:
        dst, a = pattern(kind, 1), values.array(kind)
        actual = run("scalar", dst, a, op=op, type=code, flag=flag, scalar=scalar_bits(by, kind), **call.fields())
        assert_same(actual, fold(call, lambda x: operation(x, by), dst, a, width=width))

    check()


def accumulate(name: str, fused: bool, scalar: np.generic | None) -> Callable:
    """Axpy, MulAddDst, FusedMulAdd(Relu): the product is rounded to the result's type before the sum, unless fused."""

    def apply(dst: np.ndarray, *sources: np.ndarray) -> np.ndarray:
        wide = [source.astype(np.float64) for source in sources]
        with quiet():
            if name == "Axpy":
                product, other = wide[0] * float(scalar), dst.astype(np.float64)
            elif name == "MulAddDst":
                product, other = wide[0] * wide[1], dst.astype(np.float64)
            else:
                product, other = wide[0] * dst.astype(np.float64), wide[1]
            rounded = product if fused else product.astype(dst.dtype).astype(np.float64)
            total = (rounded + other).astype(dst.dtype)
            return relu(total) if name.endswith("Relu") else total

    return apply


@pytest.mark.parametrize("types", [("float", "float"), ("half", "half"), ("float", "half")], ids="-".join)
@pytest.mark.parametrize("name", ["Axpy", "MulAddDst", "FusedMulAdd", "FusedMulAddRelu"])
def test_multiply_and_accumulate(name: str, types: tuple[str, str]) -> None:
    if name.startswith("Fused") and types[0] != types[1]:
        return
    op = {"Axpy": 9, "MulAddDst": 10, "FusedMulAdd": 11, "FusedMulAddRelu": 12}[name]
    (code, kind), (code2, kind2) = TYPES[types[0]], TYPES[types[1]]
    width = REPEAT // kind.itemsize
    sources = 1 if name == "Axpy" else 2

    @FEW
    @given(call=calls(width), values=data(), scalar=st.sampled_from([0.0, 1.0, -1.5, 0.1, 300.0]))
    def check(call: Call, values: Data, scalar: float) -> None:
        dst = Data(values.seed + 2, special=False).array(kind)
        inputs = [Data(values.seed + i, values.special).array(kind2) for i in range(sources)]
        number = np.float64(scalar).astype(kind2)
        actual = run(
            "unary", dst, *inputs, op=op, type=code, type2=code2, scalar=scalar_bits(number, kind2), **call.fields()
        )
        operation = accumulate(name, fused=False, scalar=number)
        expected = dst.copy()
        places = call.indices(width, kind.itemsize, 0)
        reads = [call.indices(width, kind2.itemsize, i + 1) for i in range(sources)]
        for r, at in enumerate(places):
            expected[at] = operation(
                expected[at], *(array[index[r]] for array, index in zip(inputs, reads, strict=True))
            )
        same = no_zero_sign if name.endswith("Relu") else np.asarray
        assert_same(same(actual), same(expected))

    check()


@pytest.mark.parametrize("dtype", ["int16", "int32"])
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Adds", "Muls"])
def test_option_integer_overflow(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    a = buffer_of(specials(kind))
    b = buffer_of(specials(kind)[::-1])
    n = len(specials(kind))
    exact = {"A": np.add, "S": np.subtract, "M": np.multiply}[name[0]]
    scalar = name in SCALAR
    with quiet():
        wide = exact(a[:n].astype(object), kind.type(-77).astype(object) if scalar else b[:n].astype(object))
    info = np.iinfo(kind)
    span = info.max - info.min + 1
    wrapped = [(int(v) - info.min) % span + info.min for v in wide]
    clamped = [min(max(int(v), info.min), info.max) for v in wide]
    assert wrapped != clamped
    family, op = ("scalar", SCALAR[name][0]) if scalar else ("binary", BINARY[name][0])
    for setting, expected in (("wrap", wrapped), ("saturate", clamped)):
        options = TwinOptions(integer_overflow=setting)
        actual = run(
            family, pattern(kind), a, b, op=op, type=code, count=n, scalar=scalar_bits(-77, kind), options=options
        )
        assert actual[:n].tolist() == expected


@pytest.mark.parametrize("name", ["Max", "Min", "Maxs", "Mins"])
@pytest.mark.parametrize("dtype", ["half", "float"])
def test_option_minmax_nan(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    a = buffer_of(np.array([np.nan, 1, np.nan, 2, -np.inf], kind))
    b = buffer_of(np.array([3, np.nan, np.nan, -5, np.nan], kind))
    if name.endswith("s"):
        family, op, b = "scalar", SCALAR[name][0], buffer_of(np.full(5, np.nan, kind))
    else:
        family, op = "binary", BINARY[name][0]
    bigger = name.startswith("Max")
    for setting, expected in (
        ("nan", (np.maximum if bigger else np.minimum)(a[:5], b[:5])),
        ("other", (np.fmax if bigger else np.fmin)(a[:5], b[:5])),
    ):
        options = TwinOptions(minmax_nan=setting)
        actual = run(
            family, pattern(kind), a, b, op=op, type=code, count=5, scalar=scalar_bits(np.nan, kind), options=options
        )
        assert_same(actual[:5], expected)


@pytest.mark.parametrize("form", [COUNT, LANES])
def test_option_half_overflow(form: int) -> None:
    code, kind = TYPES["half"]
    a = buffer_of(np.array([60000, -60000, np.inf, -np.inf, np.nan, 1], kind))
    b = buffer_of(np.array([60000, -60000, 1, 1, 1, 2], kind))
    call = Call(form=form, count=6, low=6, repeat=1)
    for setting, expected in (
        ("infinity", [np.inf, -np.inf, np.inf, -np.inf, np.nan, 3]),
        ("saturate", [65504, -65504, 65504, -65504, 0, 3]),
    ):
        options = TwinOptions(half_overflow=setting)
        actual = run("binary", pattern(kind, 1), a, b, op=0, type=code, options=options, **call.fields())
        assert_same(actual, np.concatenate([np.array(expected, kind), pattern(kind, 1)[6:]]))


def test_option_axpy_fused() -> None:
    # 1 + 2^-23 times itself needs 47 bits: the rounded product loses the last, the fused one keeps it until the sum.
    code, kind = TYPES["float"]
    one = np.float32(1) + np.float32(2.0**-23)
    dst, src = buffer_of(np.full(8, -1, kind)), buffer_of(np.full(8, one, kind))
    exact = float(one) * float(one) - 1
    for fused, expected in ((False, np.float32(float(np.float32(float(one) ** 2)) - 1)), (True, np.float32(exact))):
        options = TwinOptions(axpy_fused=fused)
        actual = run(
            "unary", dst, src, op=9, type=code, type2=code, count=8, scalar=scalar_bits(one, kind), options=options
        )
        assert actual[0] == expected


@pytest.mark.thorough
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize(("form", "whole"), [(COUNT, False), (LANES, False), (LANES, True)])
@pytest.mark.parametrize("dtype", ["half", "float"])
def test_option_denormals(dtype: str, form: int, whole: bool, observed: bool) -> None:
    # Half of the smallest normal number is subnormal: kept, or flushed to a zero of the same sign.
    code, kind = TYPES[dtype]
    tiny = np.finfo(kind).tiny
    lanes = REPEAT // kind.itemsize if whole else 4
    src = buffer_of(np.resize(np.array([tiny, -tiny, 4 * tiny, 1], kind), lanes))
    call = Call(form=form, count=lanes, low=lanes, repeat=1)
    for setting, expected in (("keep", [tiny / 2, -tiny / 2, 2 * tiny, 0.5]), ("flush", [0.0, -0.0, 2 * tiny, 0.5])):
        options = TwinOptions(denormals=setting)
        actual = run(
            "scalar",
            pattern(kind, 1),
            src,
            op=1,
            type=code,
            scalar=scalar_bits(0.5, kind),
            options=options,
            observed=observed,
            **call.fields(),
        )
        assert_same(actual, np.concatenate([np.resize(np.array(expected, kind), lanes), pattern(kind, 1)[lanes:]]))
