"""The gradients of GroupNorm and SiLU in one kernel: every regime in three dtypes, extreme numbers, what is saved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.bench.fusion_gain import fusion_gain
from gn_tutorial.reference import group_norm, group_norm_silu, group_norm_silu_backward, silu_backward
from tests.kernels.test_group_norm_kernels import GRID

OP, SPEC = find_kernel("group_norm_silu_backward/fused")
NAMES = ("dx", "dgamma", "dbeta")
#: Small groups without and with a spatial axis, of one row each, of rows of three; a group in pieces of short rows, of
#: a few long ones, of parts of one; pieces that come a second time; groups that cores share; groups of four elements.
SOME = [*(GRID[one] for one in (0, 2, 5, 18, 10, 6, 9, 12, 14)), ((3, 16, 4), 16), ((2, 3, 4500), 1)]
#: Narrow pieces of as many short rows as there are, on as many groups as cores.
FULL = [((48, 227, 16), 1), ((50, 64, 64), 1)]


def inputs(shape: tuple[int, ...], groups: int, dtype: str = "float32") -> dict[str, np.ndarray]:
    """A half's dy is so small that the sums of a channel stay below 65504, the largest of its kind."""
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype, attributes={"num_groups": groups})
    if dtype == "float16":
        arrays["dy"] *= arrays["dy"].dtype.type(2.0**-6)
    return arrays


def run(arrays: Mapping[str, np.ndarray], groups: int, **named: object) -> Result:
    return kernel(SPEC.id)(*arrays.values(), num_groups=groups, **named)


def check(result: Result, arrays: Mapping[str, np.ndarray], groups: int) -> None:
    assert result.diagnostics == ()
    assert result.tally.ub_high_water <= 192 * 1024
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": groups}), SPEC.tolerance)
    assert comparison.ok, comparison


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_every_regime(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = inputs(shape, groups, dtype)
    result = run(arrays, groups)
    check(result, arrays, groups)
    assert result.dx.dtype == result.dgamma.dtype == as_dtype(dtype)


@pytest.mark.parametrize("op", ["group_norm_silu_backward/fused", "group_norm_backward/any"])
@pytest.mark.parametrize(("shape", "groups"), FULL, ids=str)
def test_the_fullest_local_memory(shape: tuple[int, ...], groups: int, op: str) -> None:
    """227 rows of a block of halves and groups for all cores: their offsets once did not fit."""
    own = find_kernel(op)[0]
    arrays = inputs(shape, groups, "float16")
    given_ = [arrays[one.name] for one in own.inputs]
    result = kernel(op)(*given_, num_groups=groups)
    expected = random_inputs.expected(own, arrays, {"num_groups": groups})
    assert result.diagnostics == ()
    assert result.tally.ub_high_water <= 192 * 1024
    assert result.compare(expected, SPEC.tolerance).ok


@settings(max_examples=examples(30), deadline=None)
@given(
    batch=st.integers(1, 4),
    groups=st.integers(1, 5),
    size=st.integers(1, 7),
    spatial=st.lists(st.integers(1, 12), max_size=3),
    blocks=st.integers(1, 9),
    dtype=st.sampled_from(sorted(STANDARDS)),
)
def test_ragged_shapes_on_any_cores_with_late_copies(
    batch: int, groups: int, size: int, spatial: list[int], blocks: int, dtype: str
) -> None:
    assume(size * math.prod(spatial) != 2)  # of two numbers xhat is 1 and -1, and all of dx but rounding cancels
    arrays = inputs((batch, groups * size, *spatial), groups, dtype)
    options = TwinOptions(block_order=blocks, delayed_dma=True)
    check(run(arrays, groups, blocks=blocks, isolated=False, observed=True, options=options), arrays, groups)


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), [GRID[2], GRID[5], GRID[12], ((3, 2, 70, 71), 1)], ids=str)
def test_neither_late_copies_nor_cores_nor_their_order_change_a_bit(
    shape: tuple[int, ...], groups: int, dtype: str
) -> None:
    arrays = inputs(shape, groups, dtype)
    usual = run(arrays, groups)
    late = TwinOptions(delayed_dma=True, block_order=5)
    for changed in ({"options": late}, {"options": late, "blocks": 7}, {"blocks": 1}):
        other = run(arrays, groups, **changed)
        assert other.diagnostics == ()
        for name in NAMES:
            np.testing.assert_array_equal(other[name], usual[name])


@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3)), ids=str)
@pytest.mark.parametrize(("shape", "groups"), [((3, 6, 10, 7), 3), ((2, 4, 33, 99), 1)], ids=str)
def test_what_is_not_wanted_is_not_there(shape: tuple[int, ...], groups: int, mask: tuple[bool, ...]) -> None:
    """Even dbeta alone needs x, gamma and beta, because the gradient that reaches GroupNorm depends on them."""
    arrays = inputs(shape, groups)
    whole = run(arrays, groups)
    part = run(arrays, groups, output_mask=mask)
    assert part.diagnostics == ()
    for name, wanted in zip(NAMES, mask, strict=True):
        np.testing.assert_array_equal(part[name], whole[name] if wanted else np.empty(0, np.float32))
    assert (part.blocks > 0) is any(mask)


@pytest.mark.parametrize("shape", [(2, 6, 10, 7), (2, 6, 70, 71)], ids=str)
@pytest.mark.parametrize("dtype", STANDARDS)
def test_far_from_zero_nothing_overflows(dtype: str, shape: tuple[int, ...]) -> None:
    """u is beyond -88 and 88, where an exponential of it is infinite: the slope is 0 and 1 there."""
    arrays = inputs(shape, 3, dtype)
    arrays["gamma"][:] = 300.0
    result = run(arrays, 3)
    u = random_inputs.expected(find_kernel("group_norm/any")[0], arrays, {"num_groups": 3, "eps": 1e-5})["y"]
    assert u.min() < -200
    assert u.max() > 200
    assert all(np.isfinite(result[name].astype(np.float64)).all() for name in NAMES)
    # The slope changes by half a unit if u changes by one. The rounding of u, 2^-24 of 300 spreads, is an error of dy.
    expected = random_inputs.expected(OP, arrays, {"num_groups": 3})
    for name in NAMES:
        unit, scale = STANDARDS[dtype].unit, np.abs(expected[name]).max()
        np.testing.assert_allclose(result[name].astype(np.float64), expected[name], rtol=2 * unit, atol=2e-5 * scale)


@pytest.mark.parametrize("offset", [1e2, 1e4])
@pytest.mark.parametrize("shape", [(2, 8, 41, 37), (2, 8, 5, 7)], ids=str)
def test_a_mean_far_from_zero_costs_no_more_than_the_rounding_of_x(shape: tuple[int, ...], offset: float) -> None:
    """u takes the saved mean, a rounded float; so does the reference, and both are exact for an x nearby."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=shape) + offset).astype(np.float32)
    dy = (rng.normal(size=shape) + 0.5).astype(np.float32)
    gamma, beta = (rng.normal(size=8).astype(np.float32) for _ in range(2))
    _, mean, rstd = (one.astype(np.float32) for one in group_norm(x, num_groups=2))
    result = run({"dy": dy, "x": x, "mean": mean, "rstd": rstd, "gamma": gamma, "beta": beta}, 2)
    truth = group_norm_silu_backward(dy, x, mean, rstd, gamma, beta, num_groups=2)
    own = group_norm(x, num_groups=2)
    exact = group_norm_silu_backward(dy, x, own.mean, own.rstd, gamma, beta, num_groups=2)
    for name in NAMES:
        scale = np.abs(getattr(exact, name)).max()
        assert np.abs(result[name] - getattr(truth, name)).max() < (2e-6 + 2 * offset * 2.0**-24) * scale
        assert np.abs(result[name] - getattr(exact, name)).max() < (2e-6 + 4 * offset * 2.0**-24) * scale


@pytest.mark.parametrize("shape", [(2, 6, 10, 7), (2, 6, 70, 71)], ids=str)
def test_what_is_not_a_number_stays_in_its_group(shape: tuple[int, ...]) -> None:
    arrays = inputs(shape, 3)
    clean = run(arrays, 3, blocks=2)
    arrays["x"][1, 2, 4, 3] = np.nan
    dirty = run(arrays, 3, blocks=2)
    kept = np.ones(shape, bool)
    kept[1, 2:4] = False
    assert not np.isfinite(dirty.dx[~kept]).any()
    np.testing.assert_array_equal(dirty.dx[kept], clean.dx[kept])
    np.testing.assert_array_equal(dirty.dgamma[[0, 1, 4, 5]], clean.dgamma[[0, 1, 4, 5]])
    np.testing.assert_array_equal(dirty.dbeta[[0, 1, 3, 4, 5]], clean.dbeta[[0, 1, 3, 4, 5]])


def test_the_reference_is_the_derivative_of_the_forward_pass() -> None:
    rng = np.random.default_rng(1)
    x, gamma, beta = rng.normal(0.3, 1.5, (2, 6, 5)), rng.normal(size=6), rng.normal(size=6)
    weights = rng.normal(size=x.shape)
    _, mean, rstd = group_norm(x, num_groups=3)
    found = group_norm_silu_backward(weights, x, mean, rstd, gamma, beta, num_groups=3)
    for name, one in (("dx", x), ("dgamma", gamma), ("dbeta", beta)):
        at, step = tuple(length // 2 for length in one.shape), 1e-6
        values = []
        for change in (step, -step):
            moved = one.copy()
            moved[at] += change
            arguments = [moved if other is one else other for other in (x, gamma, beta)]
            values.append((weights * group_norm_silu(*arguments, num_groups=3).y).sum())
        np.testing.assert_allclose(getattr(found, name)[at], (values[0] - values[1]) / (2 * step), rtol=1e-6)
    with pytest.raises(ArgumentError, match="beta has shape"):
        group_norm_silu_backward(weights, x, mean, rstd, gamma, beta[:5], num_groups=3)
    with pytest.raises(ArgumentError, match="dy has shape"):
        silu_backward(weights, x[:1])


def test_two_launches_less_and_half_of_the_bytes() -> None:
    arrays = inputs((4, 32, 32, 32), 8)
    gain = fusion_gain(OP.name, *arrays.values(), num_groups=8)
    assert gain.launches == (3, 1)
    # x to u; dy and u to the product; that and x to dx: eight ways of a tensor through memory. Now dy, x and dx.
    assert gain.bytes[1] < 0.4 * gain.bytes[0]
    assert gain.pays


def test_what_group_norm_refuses_is_refused() -> None:
    arrays = inputs((2, 4, 5), 2)
    with pytest.raises(ArgumentError, match="G is 3 because 'num_groups' is 3"):
        run(arrays, 3)
    with pytest.raises(ArgumentError, match="has float32, float16, bfloat16"):
        run({name: array.astype(np.int32) for name, array in arrays.items()}, 2)
    empty = run(inputs((0, 6, 5), 3), 3)
    assert empty.dx.shape == (0, 6, 5)
    np.testing.assert_array_equal(empty.dgamma, np.zeros(6))
