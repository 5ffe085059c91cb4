"""High-level functions against float64: elementary functions, activations, powers, broadcasts, row sums, filling."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import (
    BLOCK,
    BUFFER_BYTES,
    TYPES,
    Data,
    assert_same,
    buffer_of,
    pattern,
    quiet,
    run,
    scalar_bits,
    ulps,
)

import gn_tutorial as gnt

FEW = settings(max_examples=examples(30), deadline=None)
erf, erfc = np.vectorize(math.erf, otypes=[np.float64]), np.vectorize(math.erfc, otypes=[np.float64])


def swish(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x / (1 + np.exp(-scale * x))


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


# The functions in the order of families/maths.cpp: their float64 reference and the range that is tried.
FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float, float]] = {
    "Sin": (np.sin, -65504, 65504),
    "Cos": (np.cos, -65504, 65504),
    "Tan": (np.tan, -65504, 65504),
    "Asin": (np.arcsin, -1, 1),
    "Acos": (np.arccos, -1, 1),
    "Atan": (np.arctan, -1e4, 1e4),
    "Sinh": (np.sinh, -88, 88),
    "Cosh": (np.cosh, -88, 88),
    "Tanh": (np.tanh, -20, 20),
    "Asinh": (np.arcsinh, -6e4, 6e4),
    "Acosh": (np.arccosh, 1, 6e4),
    "Atanh": (np.arctanh, -1, 1),
    "Log2": (np.log2, 1e-6, 6e4),
    "Log10": (np.log10, 1e-6, 6e4),
    "Erf": (erf, -5, 5),
    "Erfc": (erfc, -5, 9),
    "Floor": (np.floor, -1e3, 1e3),
    "Ceil": (np.ceil, -1e3, 1e3),
    "Trunc": (np.trunc, -1e3, 1e3),
    "Frac": (lambda x: x - np.trunc(x), -1e3, 1e3),
    "Sign": (np.sign, -2, 2),
    "Log": (np.log, 1e-6, 6e4),
    "Round": (np.rint, -1e3, 1e3),
    "Silu": (swish(1.0), -60, 60),
    "Swish": (swish(1.5), -50, 50),
    # The tanh form cancels far out on the left, in float64 too: its reference stops where that matters.
    "Gelu": (gelu, -3, 60),
    "FasterGelu": (swish(1.702), -40, 60),
}
OPS = {name: op for op, name in enumerate(FUNCTIONS)}
POWER, BROADCAST, SUM = 30, 31, 32
FOUR_FORMS = [name for name, op in OPS.items() if op <= OPS["Sign"]]


def spread(low: float, high: float, n: int, seed: int = 1) -> np.ndarray:
    """Numbers from low to high, half of them evenly and half with evenly spread exponents."""
    rng = np.random.default_rng(seed)
    even = rng.uniform(low, high, n)
    size = np.exp(rng.uniform(np.log(1e-4), np.log(max(abs(low), abs(high))), n))
    signed = np.clip(np.where(rng.random(n) < 0.5, size, -size), low, high)
    return np.where(rng.random(n) < 0.5, even, signed)


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_half_a_unit_of_the_exact_value(name: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    reference, low, high = FUNCTIONS[name]
    src = spread(low, high, BUFFER_BYTES // kind.itemsize).astype(kind)
    scalar = scalar_bits(1.5, kind)
    actual = run("maths", pattern(kind), src, op=OPS[name], type=code, count=src.size, scalar=scalar)
    with quiet():
        exact = reference(src.astype(np.float64))
        shown = np.isfinite(exact.astype(kind)) & np.isfinite(exact)
    assert shown.mean() > 0.4
    assert ulps(actual[shown], exact[shown]).max() < 0.52
    with quiet():
        assert_same(actual[~shown], exact[~shown].astype(kind))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str) -> None:
    src = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 0.5, -0.5, 1e-42, -1e-42], np.float32)
    actual = run("maths", pattern(np.float32), buffer_of(src), op=OPS[name], type=TYPES["float"][0], count=src.size,
                 scalar=scalar_bits(1.5, np.dtype(np.float32)))[: src.size]  # fmt: skip
    with quiet():
        expected = FUNCTIONS[name][0](src.astype(np.float64)).astype(np.float32)
    if name in ("Silu", "Swish", "Gelu", "FasterGelu"):  # minus infinity times zero: the formula has no value there
        actual[5] = expected[5] = 0
    if name == "Frac":
        expected[4:6] = np.nan  # infinity minus itself
    np.testing.assert_allclose(actual, expected, rtol=1e-7)
    finite = expected == expected
    np.testing.assert_array_equal(actual[finite] == 0, expected[finite] == 0)


@pytest.mark.parametrize("name", FOUR_FORMS)
def test_the_four_forms(name: str) -> None:
    kind = np.dtype(np.float32)
    n = BUFFER_BYTES // 4
    src = spread(*FUNCTIONS[name][1:], n).astype(kind)
    whole = run("maths", pattern(kind), src, op=OPS[name], type=TYPES["float"][0], count=n)
    for flag in (1, 2, 3):
        again = run("maths", pattern(kind), src, op=OPS[name], type=TYPES["float"][0], count=n, flag=flag)
        np.testing.assert_array_equal(again.view(np.uint32), whole.view(np.uint32))
    part = run("maths", pattern(kind), src, op=OPS[name], type=TYPES["float"][0], count=37)
    np.testing.assert_array_equal(part[:37].view(np.uint32), whole[:37].view(np.uint32))
    np.testing.assert_array_equal(part[37:], pattern(kind)[37:])


def test_whole_powers_have_whole_logarithms() -> None:
    n = np.arange(-38, 39)
    tens = np.array([float(f"1e{e}") for e in n], np.float32)
    logs = run("maths", pattern(np.float32), buffer_of(tens), op=OPS["Log10"], type=TYPES["float"][0], count=n.size)
    np.testing.assert_array_equal(logs[: n.size], n)
    e = np.arange(-149, 128)
    twos = np.ldexp(np.float32(1), e)
    logs = run("maths", pattern(np.float32), buffer_of(twos), op=OPS["Log2"], type=TYPES["float"][0], count=e.size)
    np.testing.assert_array_equal(logs[: e.size], e)


def test_sine_outside_the_documented_range_is_nan() -> None:
    src = buffer_of(np.array([65504.0, 65505.0, -1e9], np.float32))
    for name in ("Sin", "Cos", "Tan"):
        actual = run("maths", pattern(np.float32), src, op=OPS[name], type=TYPES["float"][0], count=3)
        assert np.isnan(actual[:3]).tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_power(mode: int, dtype: str) -> None:
    code, kind = TYPES[dtype]

    @FEW
    @given(seed=st.integers(0, 999), scalar=st.sampled_from([-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 7.5, np.inf, np.nan]),
           flag=st.integers(0, 1))  # fmt: skip
    def check(seed: int, scalar: float, flag: int) -> None:
        n = BUFFER_BYTES // kind.itemsize
        x = Data(seed, scale=3.0).array(kind)
        y = np.where(np.arange(n) % 2 == 0, spread(-9, 9, n, seed).round(), spread(-9, 9, n, seed + 1)).astype(kind)
        actual = run("maths", pattern(kind), x, y, op=POWER, type=code, mode=mode, flag=flag, count=n,
                     scalar=scalar_bits(scalar, kind))  # fmt: skip
        a = np.full(n, scalar, kind) if mode == 2 else x
        b = np.full(n, scalar, kind) if mode == 1 else y
        with quiet():
            exact = np.power(a.astype(np.float64), b.astype(np.float64))
            rounded = exact.astype(kind)
        shown = np.isfinite(rounded) & (rounded != 0)
        assert ulps(actual[shown], exact[shown]).max(initial=0) < 0.52
        assert_same(actual[~shown], rounded[~shown])

    check()


def test_power_of_integers() -> None:
    kind = np.dtype(np.int32)
    x = np.tile(np.arange(-8, 8, dtype=np.int32), 256)
    y = np.repeat(np.arange(-2, 14, dtype=np.int32), 256)
    actual = run("maths", pattern(kind), x, y, op=POWER, type=TYPES["int32"][0], mode=0, count=x.size)
    exact = [
        b**e if e >= 0 else (int(b) ** int(-e) if abs(b) == 1 else 0)
        for b, e in zip(x.tolist(), y.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(actual, np.array(exact, np.int64).astype(np.int32))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "half", "float"])
def test_broadcast(dtype: str) -> None:
    code, kind = TYPES[dtype]
    src, dst = Data(7).array(kind), pattern(kind, 1)
    bits = f"u{kind.itemsize}"
    for mode, to, shape in (
        (1, (5, 7), (5, 1)),
        (1, (3, 64), (3, 1)),
        (0, (6, 32), (1, 32)),
        (2, (1, 45), (1, 1)),
        (1, (4, 8), (4, 8)),
    ):
        actual = run("maths", dst, src, op=BROADCAST, type=code, mode=mode, extra=[*to, *shape])
        expected = dst.copy()
        size = to[0] * to[1]
        expected[:size] = np.broadcast_to(src[: shape[0] * shape[1]].reshape(shape), to).ravel()
        np.testing.assert_array_equal(actual.view(bits), expected.view(bits))


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (3, 13), (7, 64), (4, 200), (2, 1024), (1, 4096), (0, 8), (2, 0)])
def test_row_sums(rows: int, n: int, dtype: str) -> None:
    code, kind = TYPES[dtype]
    inner = max(1, -(-n * kind.itemsize // BLOCK)) * BLOCK // kind.itemsize
    src = Data(8, special=False, scale=2.0).array(kind)
    # Whole numbers: every partial sum is exact, so no order can change it. The gaps hold what must not be added.
    src[: rows * inner] = np.resize(np.arange(-3, 5), rows * inner)
    dst = pattern(kind, 1)
    actual = run("maths", dst, src, op=SUM, type=code, extra=[rows, inner, n, 0])
    expected = dst.copy()
    expected[:rows] = [src[r * inner : r * inner + n].astype(np.float64).sum() for r in range(rows)]
    np.testing.assert_array_equal(actual, expected)


def test_row_sums_add_as_trees() -> None:
    # Repeats of 64 lanes; then their sums again: (1e8 + 1) loses the 1, and what is lost shows the order.
    src = np.zeros(4096, np.float32)
    src[:256:64] = [1e8, 1.0, -1e8, 1.0]
    actual = run("maths", pattern(np.float32), src, op=SUM, type=TYPES["float"][0], extra=[1, 256, 256, 0])
    assert actual[0] == (np.float32(1e8) + np.float32(1)) + (np.float32(-1e8) + np.float32(1))


FILL = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void fill(GM_ADDR y, uint32_t n, uint32_t how) {
  TPipe pipe;
  GlobalTensor<half> out;
  out.SetGlobalBuffer((__gm__ half*)y + GetBlockIdx() * n, n);
  SetMaskCount();
  if (how == 0) Fill(out, n, half(2.5f));
  if (how == 1) InitGlobalMemory(out, n, half(2.5f));
  if (how == 2) InitOutput(out, n, half(2.5f));
  if (how == 3) InitOutput<half>(out, n, 2.5f);
  PipeBarrier<PIPE_ALL>();  // they fill through the Unified Buffer, from its start
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<half> ones = buffer.Get<half>();
  // The mask is all lanes in normal mode afterwards.
  Duplicate(ones, half(0.0f), 128);
  Adds<half, false>(ones, ones, half(1.0f), MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  PipeBarrier<PIPE_ALL>();
  if (how == 0) {
    SetAtomicAdd<half>();
    DataCopy(out, ones, 16);
    SetAtomicNone();
  }
}
"""


@pytest.mark.parametrize("n", [16, 17, 100_000])
@pytest.mark.parametrize("how", [0, 1, 2, 3])
def test_fill_global_memory(how: int, n: int) -> None:
    y = gnt.inout(np.zeros(2 * n + 3, np.float16))
    result = gnt.kernel(source=FILL).run(y, n, how, blocks=2, isolated=False)
    expected = np.full(2 * n + 3, 2.5, np.float16)
    expected[2 * n :] = 0
    if how == 0:
        expected[:16] += 1
        expected[n : n + 16] += 1
    np.testing.assert_array_equal(result.y, expected)
