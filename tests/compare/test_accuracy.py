"""MERE, MARE and the rule for small values: worked by hand, on spaces of inputs, and refused where they say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gn_tutorial.compare.accuracy import STANDARDS, Accuracy, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import as_dtype

DTYPES = st.sampled_from(sorted(STANDARDS))


def values(low: float, high: float, size: int = 20) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, st.integers(1, size), elements=st.floats(low, high))


def test_three_numbers_by_hand() -> None:
    out = np.array([1.5, -1.96875, 4.0], np.float16)
    golden = np.array([1.5, -2.0, 4.004])
    found = accuracy(out, golden)
    errors = [0.0, 0.03125 / (2.0 + 1e-7), 0.004 / (4.004 + 1e-7)]
    assert found.mere == pytest.approx(sum(errors) / 3, rel=1e-12)
    assert found.mare == found.mare_all == pytest.approx(errors[1], rel=1e-12)
    assert (found.elements, found.near_zero, found.misses) == (3, 0, 0)
    # 0.0055 is more than 2^-10; 0.0156 is more than 10 * 2^-10.
    assert not found.ok
    assert found.mere > found.standard.unit
    assert found.mare > found.mare_limit == 10 * 2.0**-10


@pytest.mark.parametrize(("dtype", "unit"), [("float16", 2.0**-10), ("bfloat16", 2.0**-7), ("float32", 2.0**-13)])
def test_mere_stops_at_t_and_mare_at_ten_t(dtype: str, unit: float) -> None:
    golden = np.full(1000, 1.0)
    out = np.ones(1000, as_dtype(dtype))
    golden[0] = 1 / (1 + 9.9 * unit)  # one element 9.9 T too large: MARE alone is near its limit
    assert accuracy(out, golden).ok
    golden[0] = 1 / (1 + 10.1 * unit)
    assert not accuracy(out, golden).ok
    golden[:] = 1 / (1 + 0.99 * unit)  # all of them nearly T too large
    assert accuracy(out, golden).ok
    golden[:] = 1 / (1 + 1.01 * unit)
    found = accuracy(out, golden)
    assert found.mare < found.mare_limit
    assert not found.ok


def test_a_limit_itself_is_not_allowed() -> None:
    found = Accuracy("float16", 1, 2.0**-10, 0.0, 0.0, 0, 0)
    assert not found.ok
    assert not Accuracy("float16", 1, 0.0, 10 * 2.0**-10, 0.0, 0, 0).ok


def test_near_zero_absolute_errors_are_counted() -> None:
    # 2^-12 is below 2^-11, so near zero. Errors: 2^-17 (fine), 2^-15 (a miss); relative 2^-5 and 2^-3, over 10 T.
    golden = np.array([2.0**-12, 2.0**-12, 1.0])
    out = np.array([2.0**-12 + 2.0**-17, 2.0**-12 + 2.0**-15, 1.0]).astype(np.float16)
    found = accuracy(out, golden)
    assert (found.near_zero, found.misses) == (2, 1)
    assert found.mare == 0.0
    assert found.mare_all == pytest.approx(2.0**-3, rel=1e-3)
    assert not found.strict


def test_misses_are_allowed_up_to_twice_those_of_a_baseline() -> None:
    golden = np.concatenate([np.full(10, 2.0**-12), np.full(10_000, 1.0)])
    exact = golden.astype(np.float16)

    def missing(count: int) -> np.ndarray:
        out = exact.copy()
        out[:count] += np.float16(2.0**-14)
        return out

    assert [accuracy(missing(count), golden).ok for count in (1, 2, 3)] == [True, True, False]
    assert [accuracy(missing(count), golden, missing(3)).ok for count in (3, 6, 7)] == [True, True, False]
    assert accuracy(missing(3), golden, missing(3)).baseline.misses == 3


def test_a_baseline_s_own_mare_widens_the_limit_but_never_mere() -> None:
    golden = np.full(1000, 1.0)
    off = np.ones(1000, np.float32)
    off[0] = 1.01  # 82 T
    worse = np.ones(1000, np.float32)
    worse[0] = 1.03
    assert not accuracy(off, golden).ok
    assert accuracy(off, golden, off).ok
    assert not accuracy(worse, golden, off).ok
    assert not accuracy(off * np.float32(1.001), golden, off).ok
    broken = np.full(1000, np.nan, np.float32)
    assert not accuracy(broken, golden, broken).ok


def test_what_the_dtype_cannot_hold_is_right_as_infinity_and_wrong_as_anything_else() -> None:
    golden = np.array([7e4, -np.inf, np.nan, 1.0])
    right = np.array([np.inf, -np.inf, np.nan, 1.0], np.float16)
    assert accuracy(right, golden).ok
    for place, bad in ((0, 65504), (1, np.inf), (2, 0.0), (3, np.nan), (3, np.inf)):
        wrong = right.copy()
        wrong[place] = bad
        found = accuracy(wrong, golden)
        assert not found.ok, (place, bad)
        assert found.mere > 0.01


def test_bfloat16_is_judged_by_its_own_bounds() -> None:
    golden = np.array([1.0, 3.0])
    out = (golden * (1 + 2.0**-8)).astype(as_dtype("bfloat16"))
    assert out.dtype.name == "bfloat16"
    found = accuracy(out, golden)
    assert found.standard.unit == 2.0**-7
    assert found.ok


def test_nothing_has_no_error() -> None:
    found = accuracy(np.zeros((0, 3), np.float32), np.zeros((0, 3)))
    assert (found.elements, found.mere, found.mare) == (0, 0.0, 0.0)
    assert found.ok


@given(dtype=DTYPES, golden=values(-100, 100))
def test_the_golden_rounded_once_always_passes(dtype: str, golden: np.ndarray) -> None:
    """The error is half a unit in the last place, which every implementation must be allowed."""
    golden = np.where(np.abs(golden) < STANDARDS[dtype].small, 1.0, golden)
    found = accuracy(golden.astype(as_dtype(dtype)), golden)
    assert found.ok
    assert found.mare <= found.standard.unit / 2


@given(golden=values(0.5, 100), factor=st.floats(-0.4, 0.4))
def test_a_common_factor_is_both_mere_and_mare(golden: np.ndarray, factor: float) -> None:
    found = accuracy((golden * (1 + factor)).astype(np.float32), golden)
    assert found.mere == pytest.approx(abs(factor), abs=2e-7)
    assert found.mare == pytest.approx(abs(factor), abs=2e-7)
    assert found.mere <= found.mare * (1 + 1e-12)


@given(golden=values(-10, 10), out=values(-10, 10), seed=st.integers(0, 9))
def test_order_and_shape_and_sign_change_nothing(golden: np.ndarray, out: np.ndarray, seed: int) -> None:
    size = min(golden.size, out.size)
    golden, out = golden[:size], out[:size].astype(np.float32)
    found = accuracy(out, golden)
    order = np.random.default_rng(seed).permutation(size)
    for again in (accuracy(out[order], golden[order]), accuracy(-out, -golden), accuracy(out[None], golden[None])):
        assert (again.mare, again.misses, again.near_zero) == (found.mare, found.misses, found.near_zero)
        assert again.mere == pytest.approx(found.mere)
        assert again.ok == found.ok or again.mere == pytest.approx(again.standard.unit)
    assert found.mare <= found.mare_all
    within = found.mere < found.standard.unit and found.mare < found.mare_limit and found.misses <= found.misses_limit
    assert found.ok == (found.used < 1) == within
    if found.strict and found.misses <= found.misses_limit:
        assert found.ok


def test_one_number_without_axes_is_held_to_the_standard() -> None:
    assert accuracy(np.array(1.0, np.float32), np.array(1.0)).ok
    assert accuracy(np.array(np.inf, np.float32), np.array(1.0)).mare == np.inf


def test_it_shows_the_verdict_and_each_bound() -> None:
    found = accuracy(np.array([1.0, np.nan], np.float16), np.ones(2))
    text = repr(found)
    assert "float16, 2 elements: FAILS the accuracy standard" in text
    assert "infinite" in text
    assert "< 9.77e-04" in text
    assert "0 of 0" in text
    assert "FAILS the accuracy standard" in found._repr_html_()


@pytest.mark.parametrize(
    ("out", "golden", "baseline", "message"),
    [
        (np.zeros(2), np.zeros(2), None, "no bounds for float64"),
        (np.zeros(2, np.int32), np.zeros(2), None, "no bounds for int32"),
        (np.zeros(2, np.float16), np.zeros(2, np.float32), None, "golden is float32"),
        (np.zeros(2, np.float16), np.zeros((2, 1)), None, r"golden has the shape \(2, 1\), out \(2,\)"),
        (np.zeros(2, np.float16), np.zeros(2), np.zeros(2, np.float32), "baseline is float32, out is float16"),
        (np.zeros(2, np.float16), np.zeros(2), np.zeros(3, np.float16), r"baseline has the shape \(3,\)"),
    ],
)
def test_what_says_nothing_is_refused(
    out: np.ndarray, golden: np.ndarray, baseline: np.ndarray | None, message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        accuracy(out, golden, baseline)
