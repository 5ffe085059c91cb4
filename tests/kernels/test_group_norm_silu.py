"""GroupNorm and SiLU in one kernel, and SiLU alone: accuracy, extreme numbers, and what the fusion saves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.reference import silu
from gn_tutorial.timing.machine import load_machine
from tests.kernels.test_group_norm_dtypes import EPS, plain
from tests.kernels.test_group_norm_kernels import GRID

OP, SPEC = find_kernel("group_norm_silu/fused")
ALONE, ALONE_SPEC = find_kernel("silu/queue")
FUSED = kernel(SPEC.id)
SILU = kernel(ALONE_SPEC.id)
#: Small groups with and without a spatial axis; pieces of short channels, of parts of one; groups that cores share, and
#: groups of one element.
SOME = [GRID[0], GRID[2], GRID[4], GRID[5], GRID[6], GRID[10], GRID[12], GRID[15], GRID[16], ((3, 4100), 4100)]


def silu_float32(y: np.ndarray) -> np.ndarray:
    """By NumPy in float32: what any implementation of this precision may be expected to reach."""
    y = y.astype(np.float32)
    with np.errstate(over="ignore"):
        return y / (np.float32(1) + np.exp(-y))


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_the_accuracy_standard(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS})
    result = FUSED(*arrays.values(), num_groups=groups, eps=EPS)
    assert result.diagnostics == ()
    assert result.y.dtype == as_dtype(dtype)
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    # Rounded to the dtype once, at the end: two launches round between them, too.
    wide = {name: array.astype(np.float32) for name, array in arrays.items()}
    other = silu_float32(plain(wide, groups)).astype(as_dtype(dtype))
    found = accuracy(result.y, truth["y"], other)
    assert found.ok, found


@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_one_launch_gives_the_bits_of_two(shape: tuple[int, ...], groups: int) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=5)
    first = kernel("group_norm/any")(*arrays.values(), num_groups=groups)
    fused = FUSED(*arrays.values(), num_groups=groups)
    np.testing.assert_array_equal(fused.y, SILU(first.y, blocks=3).y)
    np.testing.assert_array_equal(fused.mean, first.mean)
    np.testing.assert_array_equal(fused.rstd, first.rstd)


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), [GRID[2], GRID[5], GRID[15]], ids=str)
def test_neither_late_copies_nor_fewer_cores_change_a_bit(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    usual = FUSED(*arrays.values(), num_groups=groups)
    for changed in ({"options": TwinOptions(delayed_dma=True)}, {"blocks": 1}, {"blocks": 3}):
        other = FUSED(*arrays.values(), num_groups=groups, **changed)
        assert other.diagnostics == ()
        for name, array in usual.outputs.items():
            np.testing.assert_array_equal(other.outputs[name], array)


@pytest.mark.parametrize("shape", [(2, 6, 10, 7), (2, 6, 70, 71)], ids=str)
@pytest.mark.parametrize("dtype", STANDARDS)
def test_results_far_below_zero_become_zero_and_far_above_stay(dtype: str, shape: tuple[int, ...]) -> None:
    """e^-y is infinite below -88.7; the right result there is too small for any dtype but float32."""
    arrays = random_inputs.inputs(OP, shape, seed=8, dtype=dtype)
    arrays["gamma"][:] = 300.0
    truth = random_inputs.expected(OP, arrays, {"num_groups": 3, "eps": EPS})["y"]
    result = FUSED(*arrays.values(), num_groups=3, eps=EPS)
    y = result.y.astype(np.float64)
    g = random_inputs.expected(find_kernel("group_norm/any")[0], arrays, {"num_groups": 3, "eps": EPS})["y"]
    assert result.diagnostics == ()
    assert (g < -200).any()
    assert (g > 200).any()
    assert np.isfinite(y).all()
    below = g < -88.8
    assert (y[below] == 0).all()
    assert np.abs(truth[below]).max() < 3e-37
    above = g > 20
    np.testing.assert_allclose(y[above], g[above], rtol=2 * STANDARDS[dtype].unit)


@pytest.mark.parametrize("dtype", STANDARDS)
def test_what_is_not_a_number_stays_in_its_channel_or_group(dtype: str) -> None:
    arrays = random_inputs.inputs(OP, (2, 6, 10, 7), seed=8, dtype=dtype)
    clean = FUSED(*arrays.values(), num_groups=3)
    arrays["beta"][:3] = np.inf, -np.inf, np.nan
    dirty = FUSED(*arrays.values(), num_groups=3)
    assert (dirty.y[:, 0].astype(np.float32) == np.inf).all()
    assert np.isnan(dirty.y[:, 1:3].astype(np.float32)).all()  # -inf / inf, as in PyTorch
    np.testing.assert_array_equal(dirty.y[:, 3:], clean.y[:, 3:])
    again = random_inputs.inputs(OP, (2, 6, 10, 7), seed=8, dtype=dtype)
    again["x"][1, 2, 4, 3] = np.nan
    nan = FUSED(*again.values(), num_groups=3)
    assert np.isnan(nan.y[1, 2:4].astype(np.float32)).all()
    kept = np.ones(clean.y.shape, bool)
    kept[1, 2:4] = False
    np.testing.assert_array_equal(nan.y[kept], clean.y[kept])


def test_what_group_norm_refuses_is_refused() -> None:
    x = np.zeros((2, 4, 5), np.float32)
    with pytest.raises(ArgumentError, match="must be divisible by num_groups"):
        FUSED(x, num_groups=3)
    with pytest.raises(ArgumentError, match="has float32, float16, bfloat16"):
        FUSED(x.astype(np.int32), num_groups=2)
    assert FUSED(x[:0], num_groups=2).y.shape == (0, 4, 5)


def test_the_fusion_saves_a_way_through_memory() -> None:
    """The result of GroupNorm leaves and comes again if SiLU is a launch of its own: half of all bytes."""
    machine = load_machine("910B2")
    arrays = random_inputs.inputs(OP, (8, 32, 64, 64), seed=1)

    def run(name: str, *inputs: np.ndarray, **attributes: int) -> tuple[int, float, np.ndarray]:
        found = Kernel.registered(*find_kernel(name))
        result = run_traced(found, *inputs, blocks=machine.cores, **attributes)
        return (
            result.tally.bytes_in + result.tally.bytes_out,
            profile_of(result, machine=machine).microseconds,
            result.y,
        )

    fused_bytes, fused_us, fused = run(SPEC.id, *arrays.values(), num_groups=8)
    first_bytes, first_us, between = run("group_norm/any", *arrays.values(), num_groups=8)
    second_bytes, second_us, separate = run(ALONE_SPEC.id, between)
    np.testing.assert_array_equal(fused, separate)
    assert fused_bytes == first_bytes
    assert second_bytes == 2 * between.nbytes
    assert fused_bytes < 0.51 * (first_bytes + second_bytes)
    assert fused_us < 0.8 * (first_us + second_us)


@settings(max_examples=examples(25), deadline=None)
@given(
    size=st.one_of(st.integers(0, 70), st.integers(4090, 4110), st.integers(8000, 30000)),
    blocks=st.integers(1, 40),
    dtype=st.sampled_from(sorted(STANDARDS)),
    spread=st.sampled_from([1e-30, 1e-3, 1.0, 30.0]),
    late=st.booleans(),
)
def test_silu_alone_is_right_for_every_length(size: int, blocks: int, dtype: str, spread: float, late: bool) -> None:
    x = (np.random.default_rng(size).normal(0.3, 1.0, size) * spread).astype(as_dtype(dtype))
    result = SILU(x, blocks=blocks, options=TwinOptions(delayed_dma=late))
    assert result.diagnostics == ()
    comparison = result.compare({"y": silu(x)}, ALONE_SPEC.tolerance)
    assert comparison.ok, comparison


def test_silu_alone_of_numbers_at_the_limits() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38, -3e38, -88.0, -89.0, -1e4, 1e-45], np.float32)
    y = SILU(x).y
    np.testing.assert_array_equal(
        y[[0, 3, 4, 5, 6, 8, 9]], np.array([np.inf, 0, -0.0, 3e38, -0.0, -0.0, -0.0], np.float32)
    )
    assert np.isnan(y[1:3]).all()
    np.testing.assert_allclose(y[7], silu(x[7:8])[0], rtol=1e-6)


def test_the_reference_is_x_times_sigmoid() -> None:
    x = np.linspace(-30, 30, 201)
    np.testing.assert_allclose(silu(x), x * (0.5 + 0.5 * np.tanh(x / 2)), rtol=1e-9, atol=1e-12)
    with pytest.raises(ArgumentError, match="real numbers are needed"):
        silu(np.zeros(2, complex))
