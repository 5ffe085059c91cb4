"""The references against exact rational arithmetic, hand-computed numbers, their limits, and random shapes.

Everything later is compared with these functions, so here they are compared with something that shares no code with
them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference import add, copy, group_norm, instance_norm, layer_norm

EPS = 1e-5
# A handful of float64 roundings, of relative size 2**-53 each, on values of size 10 at most.
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


def asymmetric(shape: tuple[int, ...], seed: int = 7) -> np.ndarray:
    """Numbers for which swapped axes, groups or channels cannot give the right answer by accident."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, 1.5, shape)
    per_channel = (1, -1) + (1,) * (len(shape) - 2)
    return x * np.linspace(0.5, 3.0, shape[1]).reshape(per_channel) + np.arange(shape[0]).reshape(
        (-1, 1) + (1,) * (len(shape) - 2)
    )


def exact_group_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, groups: int, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """GroupNorm one element at a time in rational arithmetic; only the square root is rounded."""
    batch, channels, *spatial = x.shape
    size = channels // groups
    y, mean, rstd = np.empty(x.shape), np.empty((batch, groups)), np.empty((batch, groups))
    for n, g in product(range(batch), range(groups)):
        places = [(n, c, *s) for c in range(g * size, (g + 1) * size) for s in product(*map(range, spatial))]
        values = [Fraction(float(x[place])) for place in places]
        m = sum(values) / len(values)
        v = sum((value - m) ** 2 for value in values) / len(values)
        r = 1.0 / math.sqrt(v + Fraction(eps))
        mean[n, g], rstd[n, g] = float(m), r
        for place, value in zip(places, values, strict=True):
            c = place[1]
            y[place] = math.fsum((float(value - m) * r * float(gamma[c]), float(beta[c])))
    return y, mean, rstd


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("spatial", [(), (1,), (5,), (3, 2), (2, 3, 2)], ids=str)
def test_group_norm_agrees_with_rational_arithmetic(spatial: tuple[int, ...], groups: int) -> None:
    x = asymmetric((2, 6, *spatial))
    gamma, beta = np.linspace(-1.5, 2.0, 6), np.linspace(3.0, -1.0, 6) ** 2
    result = group_norm(x, gamma, beta, num_groups=groups, eps=EPS)
    for got, want in zip(result, exact_group_norm(x, gamma, beta, groups, EPS), strict=True):
        assert got.shape == want.shape
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, want, **CLOSE)


def test_group_norm_gives_the_numbers_computed_by_hand() -> None:
    # Group 0 holds 1 3 5 7: mean 4, variance (9 + 1 + 1 + 9) / 4 = 5. Group 1 holds 0 0 8 0: mean 2, variance 12.
    # With eps = 4 the two rstd are 1/3 and 1/4.
    x = np.array([[[1, 3], [5, 7], [0, 0], [8, 0]]])
    result = group_norm(x, gamma=[3, 6, 2, 4], beta=[0, 1, 10, 20], num_groups=2, eps=4)
    np.testing.assert_allclose(result.mean, [[4, 2]], **CLOSE)
    np.testing.assert_allclose(result.rstd, [[1 / 3, 1 / 4]], **CLOSE)
    np.testing.assert_allclose(result.y, [[[-3, -1], [3, 7], [9, 9], [26, 18]]], **CLOSE)


def test_the_variance_is_the_biased_one() -> None:
    x = np.array([[[0.0, 2.0]]])
    assert group_norm(x, num_groups=1, eps=1e-12).rstd == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(3, 8), (3, 8, 5), (2, 8, 3, 4), (2, 4, 3, 2, 5)], ids=str)
def test_one_group_is_layer_norm(shape: tuple[int, ...]) -> None:
    x = asymmetric(shape)
    gamma, beta = np.linspace(0.5, 2.0, shape[1]), np.linspace(-1.0, 1.0, shape[1])
    per_channel = (-1,) + (1,) * (len(shape) - 2)
    ours = group_norm(x, gamma, beta, num_groups=1)
    limit = layer_norm(
        x,
        np.broadcast_to(gamma.reshape(per_channel), shape[1:]),
        np.broadcast_to(beta.reshape(per_channel), shape[1:]),
    )
    np.testing.assert_allclose(ours.y, limit.y, **CLOSE)
    np.testing.assert_allclose(ours.mean[:, 0], limit.mean, **CLOSE)
    np.testing.assert_allclose(ours.rstd[:, 0], limit.rstd, **CLOSE)


@pytest.mark.parametrize("shape", [(3, 8), (3, 8, 5), (2, 8, 3, 4), (2, 4, 3, 2, 5)], ids=str)
def test_a_group_for_each_channel_is_instance_norm(shape: tuple[int, ...]) -> None:
    x = asymmetric(shape)
    gamma, beta = np.linspace(0.5, 2.0, shape[1]), np.linspace(-1.0, 1.0, shape[1])
    ours, limit = group_norm(x, gamma, beta, num_groups=shape[1]), instance_norm(x, gamma, beta)
    for got, want in zip(ours, limit, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, **CLOSE)


def test_layer_norm_scales_each_element_by_its_own_gamma() -> None:
    x, gamma = asymmetric((2, 3, 4)), np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(layer_norm(x, gamma).y, layer_norm(x).y * gamma, **CLOSE)


@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.lists(st.integers(1, 4), max_size=3), st.integers(0, 99)
)
@settings(max_examples=examples(60), deadline=None)
def test_each_group_ends_with_mean_0_and_variance_just_below_1(
    batch: int, groups: int, size: int, spatial: list[int], seed: int
) -> None:
    x = asymmetric((batch, groups * size, *spatial), seed)
    result = group_norm(x, num_groups=groups, eps=EPS)
    assert result.y.shape == x.shape
    assert result.mean.shape == result.rstd.shape == (batch, groups)
    grouped, normal = x.reshape(batch, groups, -1), result.y.reshape(batch, groups, -1)
    variance = grouped.var(axis=2)
    np.testing.assert_allclose(normal.mean(axis=2), 0.0, atol=1e-11)
    np.testing.assert_allclose(normal.var(axis=2), variance / (variance + EPS), atol=1e-9)


@given(st.floats(0.01, 100.0), st.floats(-1000.0, 1000.0))
@settings(max_examples=examples(40), deadline=None)
def test_scaling_and_shifting_the_input_changes_only_the_statistics(scale: float, shift: float) -> None:
    x = asymmetric((2, 4, 6))
    plain, moved = group_norm(x, num_groups=2, eps=1e-12), group_norm(scale * x + shift, num_groups=2, eps=1e-12)
    # Beside 1000 the input keeps 13 digits after the point; 0.01 takes two of them, and eps some parts in 10**8.
    np.testing.assert_allclose(moved.y, plain.y, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(moved.mean, scale * plain.mean + shift, rtol=1e-9, atol=1e-9)


def test_an_offset_of_a_million_million_does_not_spoil_the_variance() -> None:
    # The one-pass formula E[x**2] - E[x]**2 squares 1e12 and keeps nothing of a variance near 1.
    x = asymmetric((1, 4, 50)) + 1e12
    want = exact_group_norm(x, np.ones(4), np.zeros(4), 2, EPS)
    got = group_norm(x, num_groups=2, eps=EPS)
    np.testing.assert_allclose(got.rstd, want[2], rtol=1e-12)
    # The mean is a float64 near 1e12, so y carries half a unit in its last place, 6e-5, at most.
    np.testing.assert_allclose(got.y, want[0], atol=2e-4)
    assert not np.allclose(np.square(x).mean() - x.mean() ** 2, x.var(), rtol=0.1)


def test_a_constant_group_is_zero_and_not_a_division_by_zero() -> None:
    result = group_norm(np.full((1, 2, 3), 7.25), num_groups=1, eps=4e-4)
    assert np.all(result.y == 0.0)
    assert result.rstd == pytest.approx(50.0)


def test_one_element_per_group_gives_beta() -> None:
    result = group_norm(np.array([[3.0, -4.0]]), beta=[0.5, 2.0], num_groups=2)
    np.testing.assert_array_equal(result.y, [[0.5, 2.0]])


@pytest.mark.parametrize("shape", [(0, 4), (0, 4, 3, 2)], ids=str)
def test_an_empty_batch_gives_empty_results(shape: tuple[int, ...]) -> None:
    for result in (
        group_norm(np.empty(shape), num_groups=2),
        instance_norm(np.empty(shape)),
        layer_norm(np.empty(shape)),
    ):
        assert result.y.shape == shape
        assert result.mean.size == result.rstd.size == 0
    assert group_norm(np.empty(shape), num_groups=2).mean.shape == (0, 2)


def test_a_single_channel_works() -> None:
    x = asymmetric((2, 1, 9))
    np.testing.assert_allclose(group_norm(x, num_groups=1).y, instance_norm(x).y, **CLOSE)


def test_not_a_number_stays_inside_its_group() -> None:
    x = asymmetric((2, 4, 3))
    x[1, 2, 0] = np.nan
    result = group_norm(x, num_groups=2)
    assert np.isnan(result.y[1, 2:]).all()
    assert np.isnan(result.mean[1, 1])
    assert np.isfinite(result.y[1, :2]).all()
    assert np.isfinite(result.y[0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32], ids=str)
def test_any_real_dtype_is_computed_in_float64(dtype: type) -> None:
    x = (asymmetric((2, 4, 5)) * 10).astype(dtype)
    result = group_norm(x, num_groups=2)
    assert result.y.dtype == np.float64
    np.testing.assert_array_equal(result.y, group_norm(x.astype(np.float64), num_groups=2).y)


def test_results_come_in_the_dtype_asked_for() -> None:
    result = group_norm(asymmetric((2, 4, 5)), num_groups=2, dtype=np.float32)
    assert {array.dtype for array in result} == {np.dtype(np.float32)}
    np.testing.assert_allclose(result.y, group_norm(asymmetric((2, 4, 5)), num_groups=2).y, rtol=1e-6, atol=1e-6)


def test_inputs_are_left_alone_and_need_not_be_contiguous() -> None:
    whole = asymmetric((2, 8, 6))
    view, before = whole[:, ::2, ::-1], whole.copy()
    np.testing.assert_array_equal(group_norm(view, num_groups=2).y, group_norm(view.copy(), num_groups=2).y)
    np.testing.assert_array_equal(whole, before)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_groups": 4}, "use a divisor of 6: 1, 2, 3, 6"),
        ({"num_groups": 0}, "num_groups is 0"),
        ({"num_groups": -2}, "num_groups is -2"),
        ({"num_groups": 2.0}, "num_groups is 2.0; a whole number is needed"),
        ({"eps": 0.0}, "eps is 0.0"),
        ({"eps": -1e-5}, "greater than zero"),
        ({"eps": math.nan}, "eps is nan"),
        ({"eps": "small"}, "eps is 'small'"),
        ({"gamma": np.ones(5)}, r"gamma has shape \(5,\); \(6,\) is needed"),
        ({"beta": np.ones((6, 1))}, r"beta has shape \(6, 1\)"),
        ({"gamma": ["a"] * 6}, "gamma has dtype"),
        ({"x": np.ones(6)}, "at least two axes"),
        ({"x": np.ones((2, 6, 0))}, "hold no elements"),
        ({"x": np.ones((2, 6), complex)}, "x has dtype complex128"),
    ],
)
def test_group_norm_refuses_what_does_not_fit(change: dict[str, Any], words: str) -> None:
    arguments = {"x": np.ones((2, 6, 3)), "num_groups": 2} | change
    with pytest.raises(ArgumentError, match=words):
        group_norm(arguments.pop("x"), **arguments)


def test_the_limits_refuse_what_does_not_fit() -> None:
    with pytest.raises(ArgumentError, match=r"gamma has shape \(6,\); \(6, 3\) is needed"):
        layer_norm(np.ones((2, 6, 3)), np.ones(6))
    with pytest.raises(ArgumentError, match=r"beta has shape \(3,\); \(6,\) is needed"):
        instance_norm(np.ones((2, 6, 3)), beta=np.ones(3))
    with pytest.raises(ArgumentError, match="eps"):
        instance_norm(np.ones((2, 6, 3)), eps=0)


def test_copy_keeps_every_bit_in_an_array_of_its_own() -> None:
    x = np.array([np.nan, -0.0, np.inf, 1e-45], np.float32)[::-1]
    result = copy(x)
    assert result.dtype == x.dtype
    assert result.flags.c_contiguous
    assert not np.shares_memory(result, x)
    assert result.tobytes() == x.tobytes()


def test_add_rounds_once() -> None:
    x, y = np.array([1.0, 1e8], np.float32), np.array([2.0**-24, 1.0], np.float32)
    assert add(x, y).tolist() == [1.0 + 2.0**-24, 1e8 + 1.0]
    np.testing.assert_array_equal(add(x, y).astype(np.float32), x + y)


def test_add_of_integers_wraps_round_in_their_own_dtype() -> None:
    result = add(np.array([2**31 - 1, -5], np.int32), np.array([1, 3], np.int32))
    assert result.dtype == np.int32
    assert result.tolist() == [-(2**31), -2]


@pytest.mark.parametrize("other", [np.ones((4, 3), np.float32), np.ones((3, 1), np.float32), np.ones((3, 4))])
def test_add_refuses_two_shapes_or_two_dtypes(other: np.ndarray) -> None:
    with pytest.raises(ArgumentError, match="one shape and one dtype"):
        add(np.ones((3, 4), np.float32), other)
