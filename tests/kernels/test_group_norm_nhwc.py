"""GroupNorm of channels-last tensors: shapes, dtypes, cores, data hard on rounding, and what is refused."""

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
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.tiling import load_tiling
from gn_tutorial.reference import group_norm, group_norm_nhwc
from tests.kernels.test_group_norm_dtypes import plain

OP, SPEC = find_kernel("group_norm_nhwc/rows")
RUN = kernel(SPEC.id)
EPS = 1e-3

# Shape, the channels last, and number of groups.
GRID = [
    ((2, 6), 3),  # no spatial axis
    ((1, 1, 1), 1),  # one element
    ((1, 5, 4), 4),  # one channel a group
    ((2, 3, 5, 7, 6), 2),  # three spatial axes
    ((5, 33, 32), 8),
    ((7, 7, 7, 24), 8),
    ((1, 6144, 4), 2),  # a row of half a block
    ((3, 100, 99), 9),  # rows that are no multiple of 32 bytes
    ((2, 33, 257), 1),  # a period of eight rows, 2056 floats
    ((1, 70, 261), 9),  # eight rows would be too long: each on blocks of its own
    ((4, 50, 320), 32),  # ten channels a group
    ((50, 16, 31, 4), 1),  # samples are left when every core has one
    ((2, 40, 1200), 1200),  # strips of 64 groups, the last of fewer
    ((49, 3, 2050), 25),  # rows too long for a period: strips of groups
    ((2, 3, 2048), 512),
    ((1, 31, 12, 1040), 2),
    ((1, 9, 5000), 2),  # a group of more channels than local memory takes: parts, the last narrower
    ((1, 3, 9001), 9001),
    ((1, 9001, 3), 1),
]
SOME = [GRID[0], GRID[3], GRID[5], GRID[7], GRID[9], GRID[10], GRID[11], GRID[12], GRID[16]]


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
def test_the_accuracy_standard(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS})
    result = RUN(*arrays.values(), num_groups=groups, eps=EPS)
    assert result.diagnostics == ()
    assert result.y.dtype == as_dtype(dtype)
    assert result.mean.dtype == result.rstd.dtype == np.float32
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    first = {**arrays, "x": np.moveaxis(arrays["x"], -1, 1)}
    other = np.moveaxis(plain(first, groups), 1, -1)
    found = accuracy(result.y, truth["y"], other)
    assert found.ok, found


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_neither_late_copies_nor_fewer_cores_change_a_bit(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    usual = RUN(*arrays.values(), num_groups=groups)
    for changed in ({"options": TwinOptions(delayed_dma=True)}, {"blocks": 1}, {"blocks": 3}, {"blocks": 48}):
        other = RUN(*arrays.values(), num_groups=groups, **changed)
        assert other.diagnostics == ()
        for name, array in usual.outputs.items():
            np.testing.assert_array_equal(other.outputs[name], array)


@settings(max_examples=examples(25), deadline=None)
@given(
    samples=st.integers(1, 4),
    spatial=st.integers(1, 70),
    groups=st.integers(1, 9),
    width=st.integers(1, 120),
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(sorted(STANDARDS)),
)
def test_any_shape(samples: int, spatial: int, groups: int, width: int, blocks: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, (samples, spatial, groups * width), seed=spatial, dtype=dtype)
    result = RUN(*arrays.values(), num_groups=groups, eps=EPS, blocks=blocks)
    assert result.diagnostics == ()
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS}), SPEC.tolerance)
    assert comparison.ok, comparison
    assert result.tally.ub_high_water <= 192 * 1024


@settings(max_examples=examples(300), deadline=None)
@given(
    samples=st.integers(1, 200),
    spatial=st.one_of(st.integers(1, 300), st.integers(300, 100000)),
    groups=st.one_of(st.integers(1, 64), st.integers(64, 5000)),
    width=st.one_of(st.integers(1, 64), st.integers(64, 9000), st.just(262144)),
    dtype=st.sampled_from([0, 1, 27]),
    cores=st.sampled_from([1, 7, 20, 40, 48]),
)
def test_every_size_has_a_tiling_that_fits(
    samples: int, spatial: int, groups: int, width: int, dtype: int, cores: int
) -> None:
    symbols = {"N": samples, "S": spatial, "C": groups * width, "G": groups, "eps": EPS, "cores": cores, "dtype": dtype}
    if width * spatial >= 1 << 31 or samples * groups * width * spatial >= 1 << 38:
        return
    made = load_tiling(OP.tiling_of(SPEC))(symbols)
    slot = made["pieceRows"] // made["periodRows"] * made["periodElements"] * (4 if dtype == 0 else 2)
    assert made["slots"] >= 2
    assert (made["slots"] + 2) * slot + 4 * (made["workFloats"] + made["otherFloats"]) < 192 * 1024
    assert 1 <= made["usedCores"] <= cores
    assert made["parts"] * made["partChunks"] * made["tableLanes"] <= 2048
    whole = made["usedCores"] * made["stripsPerCore"] + made["extraStrips"]
    assert whole + made["sharedStrips"] == samples * made["sampleStrips"]
    assert made["partPieces"] * made["pieceRows"] >= spatial > (made["partPieces"] - 1) * made["pieceRows"]


@pytest.mark.parametrize("offset", [1e2, 1e4])
@pytest.mark.parametrize(("shape", "groups"), [((2, 41, 37, 8), 2), ((3, 2, 12), 4), ((1, 3000, 24), 3)], ids=str)
def test_a_mean_far_above_the_spread_costs_no_digit(shape: tuple[int, ...], groups: int, offset: float) -> None:
    x = (np.random.default_rng(5).normal(size=shape) + offset).astype(np.float32)
    result = RUN(x, num_groups=groups, eps=EPS)
    truth = group_norm_nhwc(x, num_groups=groups, eps=EPS)
    assert np.abs(result.y - truth.y).max() < 5e-6
    np.testing.assert_allclose(result.rstd, truth.rstd, rtol=2e-6)
    np.testing.assert_allclose(result.mean, truth.mean, rtol=6e-8)  # half a unit in the last place of a float


@pytest.mark.parametrize("value", [0.0, 3.7, -5e4])
@pytest.mark.parametrize("dtype", STANDARDS)
def test_a_constant_group_is_shifted_only(value: float, dtype: str) -> None:
    x = np.full((1, 35, 3, 6), value, as_dtype(dtype))
    beta = np.linspace(-1, 1, 6).astype(as_dtype(dtype))
    result = RUN(x, beta=beta, num_groups=2, eps=1e-5)
    np.testing.assert_allclose(
        result.y.astype(np.float32), np.broadcast_to(beta.astype(np.float32), x.shape), atol=2e-6
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(2, 10, 7, 6), (1, 700, 6), (2, 50, 1200)], ids=str)
@pytest.mark.parametrize("dtype", STANDARDS)
def test_what_is_not_a_number_stays_in_its_group(dtype: str, shape: tuple[int, ...], bad: float) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=8, dtype=dtype)
    clean = RUN(*arrays.values(), num_groups=3)
    width = shape[-1] // 3
    arrays["x"][-1, 4, ..., width] = bad  # the last sample, group 1
    dirty = RUN(*arrays.values(), num_groups=3)
    own = (slice(-1, None), ..., slice(width, 2 * width))
    assert np.isnan(dirty.y[own].astype(np.float32)).all()
    kept = np.ones(shape, bool)
    kept[own] = False
    np.testing.assert_array_equal(dirty.y[kept], clean.y[kept])


def test_several_samples_on_a_core_and_a_group_larger_than_local_memory() -> None:
    for shape, groups, blocks in (((5, 300, 64), 4, 2), ((1, 128, 512, 4), 1, 1), ((1, 128, 512, 4), 1, 7)):
        arrays = random_inputs.inputs(OP, shape, seed=9)
        result = RUN(*arrays.values(), num_groups=groups, eps=EPS, blocks=blocks)
        comparison = result.compare(
            random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS}), SPEC.tolerance
        )
        assert comparison.ok, comparison
        assert result.blocks == blocks


def test_an_empty_batch_gives_empty_results() -> None:
    result = RUN(np.zeros((0, 5, 6), np.float32), num_groups=3)
    assert result.y.shape == (0, 5, 6)
    assert result.mean.shape == result.rstd.shape == (0, 3)


def test_gamma_and_beta_may_be_left_out() -> None:
    x = random_inputs.inputs(OP, (2, 10, 7, 6), seed=8)["x"]
    given = RUN(x, np.ones(6, np.float32), np.zeros(6, np.float32), num_groups=3)
    np.testing.assert_array_equal(RUN(x, num_groups=3).y, given.y)


def test_the_reference_goes_through_a_transpose() -> None:
    x = random_inputs.inputs(OP, (2, 5, 3, 6), seed=1)["x"]
    last = group_norm_nhwc(x, num_groups=2)
    first = group_norm(x.transpose(0, 3, 1, 2), num_groups=2)
    np.testing.assert_array_equal(last.y.transpose(0, 3, 1, 2), first.y)
    np.testing.assert_array_equal(last.mean, first.mean)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"G": 4}, "must be divisible by num_groups"),
        ({"G": 0}, "num_groups must be positive"),
        ({"S": 0}, "has no mean"),
        ({"eps": 0.0}, "eps must be positive"),
        ({"cores": 0}, "number of cores"),
        ({"dtype": 3}, "float32, float16 or bfloat16"),
        ({"C": 300000, "G": 1}, "more than 262144 channels"),
        ({"S": 1 << 30, "G": 1}, "more than 2147483647 elements"),
    ],
)
def test_refusals(numbers: dict[str, float], message: str) -> None:
    function = load_tiling(OP.tiling_of(SPEC))
    usual = {"N": 2, "S": 5, "C": 6, "G": 3, "eps": EPS, "cores": 40, "dtype": 0}
    with pytest.raises(ArgumentError, match=message):
        function({**usual, **numbers})


def test_the_channels_are_the_last_axis() -> None:
    with pytest.raises(ArgumentError, match="'gamma' has shape"):
        RUN(np.zeros((2, 6, 5), np.float32), np.ones(6, np.float32), num_groups=1)
    with pytest.raises(ArgumentError, match="at least 2 axes"):
        RUN(np.zeros(6, np.float32), num_groups=1)
