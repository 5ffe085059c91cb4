"""Cast: every documented pair of types with every rounding mode, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from thoroughness import examples
from twin_support import (
    BF16,
    COUNT,
    FORMS,
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
from gn_tutorial.errors import KernelFault

MODES = ("NONE", "RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "ODD")
NONE, FIVE = (0,), (1, 2, 3, 4, 5)
# The table of Atlas A2, but int4b_t (not on the twin yet) and int32 to half (its mode is ignored).
PAIRS = {
    ("int8", "half"): NONE,
    ("uint8", "half"): NONE,
    ("int16", "half"): NONE + FIVE,
    ("int16", "float"): NONE,
    ("half", "int8"): NONE + FIVE,
    ("half", "uint8"): NONE + FIVE,
    ("half", "int16"): FIVE,
    ("half", "int32"): FIVE,
    ("half", "float"): NONE,
    ("bfloat16", "int32"): FIVE,
    ("bfloat16", "float"): NONE,
    ("int32", "int16"): NONE,
    ("int32", "float"): NONE + FIVE,
    ("int32", "int64"): NONE,
    ("float", "int16"): FIVE,
    ("float", "half"): (*NONE, *FIVE, 6),
    ("float", "bfloat16"): FIVE,
    ("float", "int32"): FIVE,
    ("float", "float"): FIVE,
    ("float", "int64"): FIVE,
    ("int64", "int32"): NONE,
    ("int64", "float"): FIVE,
}
CASES = [(source, to, mode) for (source, to), modes in PAIRS.items() for mode in modes]


def integral(x: Fraction, mode: int) -> int:
    """x rounded to an integer."""
    down = x.numerator // x.denominator
    if down == x:
        return down
    if mode == 2:
        return down
    if mode == 3:
        return down + 1
    if mode == 5:
        return down if x > 0 else down + 1
    rest = x - down
    if rest != Fraction(1, 2):
        return down + (rest > Fraction(1, 2))
    if mode == 4:  # ties away from zero
        return down + 1 if x > 0 else down
    return down if down % 2 == 0 else down + 1


def to_float(x: Fraction, dtype: np.dtype, mode: int) -> np.generic:
    """x rounded to a binary floating-point type; the next step after the largest finite value is infinity."""
    size = dtype.itemsize
    unsigned = np.dtype(f"u{size}")
    digits, exponents, bias = {"float16": (10, 31, 15), "bfloat16": (7, 255, 127), "float32": (23, 255, 127)}[
        dtype.name
    ]
    magnitude = abs(x)
    exponent = max(ilog2(magnitude), 1 - bias) if magnitude else 1 - bias
    step = Fraction(2) ** (exponent - digits)
    units = magnitude / step
    low = units.numerator // units.denominator
    if mode == 6 and low != units:
        chosen = low if low % 2 else low + 1
    elif mode in (2, 3):
        chosen = integral(units, mode if x > 0 else 5 - mode)
    else:
        chosen = integral(units, 1 if mode == 0 else mode)
    if chosen == 2 ** (digits + 1):
        chosen, exponent = chosen // 2, exponent + 1
    field = exponent + bias if chosen >= 2**digits else 0
    if field >= exponents:  # towards infinity, or to the largest finite value where the mode never moves away from zero
        away = mode in (0, 1, 4) or (mode == 2 and x < 0) or (mode == 3 and x > 0)
        bits = exponents << digits if away else (exponents << digits) - 1
    else:
        bits = (field << digits) + chosen - (2**digits if field else 0)
    return np.array(bits | (int(x < 0) << (8 * size - 1)), unsigned).view(dtype)[()]


def ilog2(x: Fraction) -> int:
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1


def convert(value: np.generic, to: np.dtype, mode: int) -> np.generic:
    """One element as the documentation describes it: integers saturate, NaN becomes 0 in an integer."""
    if value.dtype.kind not in "iu" and not np.isfinite(value):
        if to.kind not in "iu":
            return value.astype(to)
        info = np.iinfo(to)
        return to.type(0 if np.isnan(value) else info.max if value > 0 else info.min)
    x = Fraction(int(value)) if value.dtype.kind in "iu" else Fraction(float(value))
    if to.kind in "iu":
        info = np.iinfo(to)
        return to.type(min(max(integral(x, mode), info.min), info.max))
    if x == 0:
        return value.astype(to)
    if value.dtype == to:  # float to float: to an integral value
        whole = integral(x, mode)
        return np.copysign(np.float32(whole), value)
    return to_float(x, to, mode)


def interesting(source: np.dtype, to: np.dtype) -> np.ndarray:
    """Values on and beside the boundaries where one mode differs from another."""
    rng = np.random.default_rng(5)
    if source.kind in "iu":
        info = np.iinfo(source)
        if source.itemsize == 1:
            return np.arange(info.min, info.max + 1).astype(source)
        powers = [s * 2**k + d for k in range(8 * source.itemsize - 1) for d in (-1, 0, 1) for s in (-1, 1)]
        ties = [
            s * (2**k + j * 2 ** (k - 24))
            for k in range(24, 8 * source.itemsize - 1)
            for j in (1, 2, 3)
            for s in (-1, 1)
        ]
        ties += [
            s * (2**k + j * 2 ** (k - 11))
            for k in range(11, 8 * source.itemsize - 1)
            for j in (1, 2, 3)
            for s in (-1, 1)
        ]
        numbers = [info.min, info.max, *powers, *ties, *rng.integers(info.min, info.max, 200).tolist()]
        return np.array([n for n in numbers if info.min <= n <= info.max], source)
    if source.itemsize == 2:
        every = np.arange(0, 65536, 13, dtype=np.uint16).view(source)
        edges = np.array(
            [v + d for v in (127, 128, 255, 256, 32767, 32768) for d in (-1, -0.5, 0, 0.5)] * 2, np.float64
        )
        edges[: len(edges) // 2] *= -1
        return np.concatenate([every, edges.astype(source), specials(source)])
    halves = np.arange(0, 65536, 131, dtype=np.uint16).view(np.float16 if to != BF16 else BF16).astype(np.float32)
    with quiet():
        upper = np.nextafter(halves, np.float32(np.inf))
        between = (halves + np.roll(halves, -1)) / 2
        numbers = [k + d for k in range(-5, 6) for d in (0, 0.25, 0.5, 0.75)]
        numbers += [
            s * v
            for s in (1, -1)
            for v in (32767.5, 32768, 65504, 65519.99, 65520, 2**-24, 2**-25, 1.5 * 2**-25, 2**-26)
        ]
        numbers += [s * float(2**k) for s in (1, -1) for k in (15, 16, 31, 32, 62, 63, 64, 127)]
        wide = rng.standard_normal(200) * 10.0 ** rng.uniform(-9, 20, 200)
    parts = [halves, upper, between, np.array(numbers, np.float32), wide.astype(np.float32), specials(source)]
    return np.concatenate([part.astype(np.float32) for part in parts])


@pytest.mark.parametrize(("source", "to", "mode"), CASES, ids=[f"{s}-{t}-{MODES[m]}" for s, t, m in CASES])
def test_every_pair_and_mode(source: str, to: str, mode: int) -> None:
    (code, kind), (code2, kind2) = TYPES[source], TYPES[to]
    values = interesting(kind, kind2)
    per_launch = 16384 // max(kind.itemsize, kind2.itemsize)
    for start in range(0, len(values), per_launch):
        part = values[start : start + per_launch]
        actual = run(
            "cast", pattern(kind2), buffer_of(part), type=code, type2=code2, mode=mode, form=COUNT, count=len(part)
        )
        expected = pattern(kind2)
        with quiet():
            expected[: len(part)] = [convert(value, kind2, mode) for value in part]
        assert_same(actual, expected)


@pytest.mark.parametrize(("source", "to"), PAIRS, ids=[f"{s}-{t}" for s, t in PAIRS])
def test_lanes_are_those_of_the_wider_type(source: str, to: str) -> None:
    (code, kind), (code2, kind2) = TYPES[source], TYPES[to]
    width = REPEAT // max(kind.itemsize, kind2.itemsize)
    mode = PAIRS[source, to][0]
    forms = FORMS if {source, to} == {"half", "float"} else (COUNT, LANES)

    @settings(max_examples=examples(30), deadline=None)
    @given(call=calls(width, forms=forms, limit=16384 // 8), values=data())
    def check(call: Call, values: Data) -> None:
        if max(kind.itemsize, kind2.itemsize) == 8:  # the strides of calls() are meant for up to 4 bytes
            call = Call(call.form, call.count, call.low, call.high, min(call.repeat, 4), call.blk, call.rep)
        dst, src = pattern(kind2, 1), values.array(kind)
        actual = run("cast", dst, src, type=code, type2=code2, mode=mode, **call.fields())
        with quiet():
            expected = fold(
                call, lambda a: np.array([convert(v, kind2, mode) for v in a], kind2), dst, src, width=width
            )
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("scale", [1.0, 0.5, -3.0, 1 / 1024])
def test_int32_to_half_multiplies_with_the_deq_scale(scale: float) -> None:
    (code, kind), (code2, kind2) = TYPES["int32"], TYPES["half"]
    values = np.array([0, 1, -1, 7, 2047, 2048, 2049, 65504, -70000, 123456], kind)
    args = {"type": code, "type2": code2, "count": len(values), "flag": 1, "scalar": scalar_bits(scale, kind2)}
    with quiet():
        expected = (values.astype(np.float64) * float(np.float16(scale))).astype(kind2)
    for mode in (0, 2):  # any mode: it is ignored
        actual = run("cast", pattern(kind2), buffer_of(values), mode=mode, **args)
        assert_same(actual[: len(values)], expected)


def test_int32_to_half_without_a_deq_scale_stops() -> None:
    (code, kind), (code2, kind2) = TYPES["int32"], TYPES["half"]
    with pytest.raises(KernelFault) as caught:
        run("cast", pattern(kind2), pattern(kind), type=code, type2=code2, count=16)
    assert [d.id for d in caught.value.diagnostics] == ["cast-no-deq-scale"]


@pytest.mark.parametrize(("source", "to"), PAIRS, ids=[f"{s}-{t}" for s, t in PAIRS])
def test_a_mode_outside_the_table_stops(source: str, to: str) -> None:
    (code, kind), (code2, kind2) = TYPES[source], TYPES[to]
    for mode in set(range(7)) - set(PAIRS[source, to]):
        with pytest.raises(KernelFault) as caught:
            run("cast", pattern(kind2), pattern(kind), type=code, type2=code2, mode=mode, count=16)
        (found,) = caught.value.diagnostics
        assert found.id == "cast-unsupported"
        assert MODES[mode] in found.fields["mode"]
        offered = found.fields["modes"].split(", ")
        assert [mode for mode in range(7) if f"CAST_{MODES[mode]}" in offered] == sorted(PAIRS[source, to])


@pytest.mark.parametrize("form", [COUNT, LANES])
def test_option_half_overflow(form: int) -> None:
    (code, kind), (code2, kind2) = TYPES["float"], TYPES["half"]
    values = np.array([1e6, -1e6, np.inf, -np.inf, np.nan, 2.5], kind)
    call = Call(form=form, count=6, low=6, repeat=1, rep=(4, 8, 0))
    for setting, expected in (
        ("infinity", [np.inf, -np.inf, np.inf, -np.inf, np.nan, 2.5]),
        ("saturate", [65504, -65504, 65504, -65504, 0, 2.5]),
    ):
        options = TwinOptions(half_overflow=setting)
        actual = run(
            "cast", pattern(kind2), buffer_of(values), type=code, type2=code2, mode=0, options=options, **call.fields()
        )
        assert_same(actual[:6], np.array(expected, kind2))
