"""Instructions with one source against NumPy: exact ones bit for bit, the others within the error the twin promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from thoroughness import examples
from twin_reference import (
    DIV,
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
    calls,
    data,
    fold,
    pattern,
    quiet,
    run,
    specials,
    ulps,
)

from gn_tutorial.abi.options import TwinOptions

FEW = settings(max_examples=examples(40), deadline=None)


UNARY_EXACT = {
    "Abs": (0, np.abs, ("half", "float")),
    "Sqrt": (3, lambda a: np.sqrt(a.astype(np.float64)).astype(a.dtype), ("half", "float")),
    "Reciprocal": (5, lambda a: DIV(np.ones_like(a), a), ("half", "float")),
    "Relu": (6, relu, ("half", "int32", "float")),
    "Not": (7, np.bitwise_not, ("int16", "uint16")),
}


@pytest.mark.parametrize(("name", "dtype"), [(name, t) for name, (_, _, types) in UNARY_EXACT.items() for t in types])
def test_one_source(name: str, dtype: str) -> None:
    op, operation, _ = UNARY_EXACT[name]
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(call=calls(width), values=data())
    def check(call: Call, values: Data) -> None:
        dst, a = pattern(kind, 1), values.array(kind)
        actual = run("unary", dst, a, op=op, type=code, **call.fields())
        with quiet():
            expected = fold(call, operation, dst, a, width=width)
        same = no_zero_sign if name == "Relu" else np.asarray
        assert_same(same(actual), same(expected))

    check()


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


# The documentation gives no error bound for these. The twin's own promise: the nearest float, give or take 1 %; Sigmoid
# and Rsqrt take two or three roundings.
TRANSCENDENTAL = {
    "Exp": (1, np.exp, 0.51),
    "Ln": (2, np.log, 0.51),
    "Rsqrt": (4, lambda a: 1 / np.sqrt(a), 1.0),
    "Sigmoid": (8, sigmoid, 3.0),
}


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_transcendental(name: str, dtype: str) -> None:
    op, function, bound = TRANSCENDENTAL[name]
    code, kind = TYPES[dtype]
    n = 16384 // kind.itemsize
    if dtype == "half":
        every = np.arange(65536, dtype=np.uint16).view(np.float16)
        sources = list(every.reshape(-1, n))
    else:
        rng = np.random.default_rng(7)
        # Below -87 the intermediate exp(-x) of Sigmoid leaves the range of float, and the result is 0.
        low, high = (-104, 89) if name == "Exp" else (-87, 88)
        sources = [rng.uniform(low, high, n).astype(kind), rng.uniform(-2, 2, n).astype(kind)]
        if name in ("Ln", "Rsqrt"):
            sources = [np.exp(sources[0].astype(np.float64)).astype(kind), (1 + sources[1] / 4).astype(kind)]
        sources.append(np.resize(specials(kind), n))
    for source in sources:
        actual = run("unary", pattern(kind), source, op=op, type=code, form=COUNT, count=n)
        with quiet():
            exact = function(source.astype(np.float64))
            rounded = exact.astype(kind)
        finite = np.isfinite(rounded)
        assert_same(actual[~finite], rounded[~finite])
        error = ulps(actual[finite], exact[finite])
        assert error.max(initial=0.0) <= bound, source[finite][np.argmax(error)]


@pytest.mark.parametrize("form", [LANES, COUNTER])
@pytest.mark.parametrize("name", ["Exp", "Ln", "Rsqrt"])
def test_transcendental_forms_agree(name: str, form: int) -> None:
    op = TRANSCENDENTAL[name][0]
    code, kind = TYPES["float"]
    source = np.abs(Data(3, special=False).array(kind)) + np.float32(0.125)
    call = Call(form=form, count=300, low=50, repeat=5, blk=(1, 2, 0), rep=(8, 17, 0))
    whole = run("unary", pattern(kind), source, op=op, type=code, form=COUNT, count=len(source))
    strided = run("unary", pattern(kind), source, op=op, type=code, **call.fields())
    picked = call.indices(64, 4, 1)
    values = iter(picked)
    assert_same(strided, fold(call, lambda _: whole[next(values)], pattern(kind), source, width=64))


def test_option_sigmoid_half() -> None:
    code, kind = TYPES["half"]
    src = np.linspace(-9, 9, 8192).astype(kind)
    with quiet():
        power = np.exp(-src.astype(np.float64))
        stepwise = (1 / (1 + power.astype(kind).astype(np.float64)).astype(kind).astype(np.float64)).astype(kind)
        once = (1 / (1 + power)).astype(kind)
    assert np.count_nonzero(stepwise != once) > 100
    for setting, expected in (("float", once), ("half", stepwise)):
        options = TwinOptions(sigmoid_half=setting)
        actual = run("unary", pattern(kind), src, op=8, type=code, count=len(src), options=options)
        assert np.count_nonzero(actual != expected) <= 3  # ties of the two roundings on the way to half


@pytest.mark.parametrize(("dtype", "standard"), [("half", 1e-3), ("float", 1e-4)])
@pytest.mark.parametrize("name", ["Rsqrt", "Reciprocal"])
def test_option_approximate(name: str, dtype: str, standard: float) -> None:
    """The documentation: errors above the standard in more elements than the standard allows."""
    op = {"Rsqrt": 4, "Reciprocal": 5}[name]
    code, kind = TYPES[dtype]
    n = 16384 // kind.itemsize
    source = np.random.default_rng(5).uniform(0.3, 90, n).astype(kind)
    source[:3] = 0, np.inf, np.nan
    exact = (1 / np.sqrt(source[3:].astype(np.float64))) if name == "Rsqrt" else 1 / source[3:].astype(np.float64)
    fields = {"op": op, "type": code, "form": COUNT, "count": n}
    shares = {}
    for choice in ("exact", "documented"):
        actual = run("unary", pattern(kind), source, options=TwinOptions(approximate=choice), **fields)
        np.testing.assert_array_equal(actual[:3], np.array([np.inf, 0, np.nan], kind))
        error = np.abs(actual[3:].astype(np.float64) - exact) / exact
        assert error.max() < 2.5 * standard
        shares[choice] = np.mean(error > standard)
    assert shares["exact"] == 0
    assert shares["documented"] > standard
