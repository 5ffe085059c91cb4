"""The gradients of GroupNorm of channels-last tensors: shapes, dtypes, masks, cores, an offset, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.tiling import load_tiling
from gn_tutorial.reference import group_norm_backward_nhwc, group_norm_nhwc

OP, SPEC = find_kernel("group_norm_backward_nhwc/rows")
RUN = kernel(SPEC.id)
DTYPES = ["float32", "float16", "bfloat16"]

# Shape, the channels last, and number of groups.
GRID = [
    ((2, 6), 3),  # no spatial axis
    ((1, 1, 1), 1),  # one element: dx is zero
    ((1, 5, 4), 4),  # one channel a group
    ((2, 3, 5, 7, 6), 2),  # a period of four rows, whose lines stay apart
    ((5, 33, 32), 8),
    ((7, 7, 7, 24), 8),
    ((1, 6144, 4), 2),  # a row of half a block, chunks on all cores
    ((3, 100, 99), 9),  # rows that are no multiple of 32 bytes
    ((2, 33, 257), 1),  # eight rows would be too long: each on blocks of its own
    ((4, 50, 320), 32),  # ten channels a group
    ((50, 16, 31, 4), 1),  # more samples than cores
    ((2, 40, 1200), 1200),  # strips of 64 groups, the last of fewer
    ((48, 7, 960), 960),  # a strip of all groups would have larger tables than local memory
    ((49, 3, 2050), 25),  # rows too long for a period: strips of groups
    ((2, 9, 5000), 2),  # a group of more channels than local memory takes: parts, the last narrower
    ((1, 40, 9001), 9001),
    ((1, 9001, 3), 1),
]
SOME = [GRID[0], GRID[3], GRID[5], GRID[7], GRID[8], GRID[10], GRID[11], GRID[14]]


def made(shape: tuple[int, ...], groups: int, dtype: str, seed: int = 3) -> dict[str, np.ndarray]:
    return random_inputs.inputs(OP, shape, seed=seed, dtype=dtype, attributes={"num_groups": groups})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
def test_numbers(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = made(shape, groups, dtype)
    result = RUN(*arrays.values(), num_groups=groups)
    assert result.diagnostics == ()
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups, "output_mask": (True,) * 3})
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_neither_late_copies_nor_fewer_cores_change_a_bit(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = made(shape, groups, dtype)
    usual = RUN(*arrays.values(), num_groups=groups)
    for changed in ({"options": TwinOptions(delayed_dma=True)}, {"blocks": 1}, {"blocks": 3}, {"blocks": 48}):
        other = RUN(*arrays.values(), num_groups=groups, **changed)
        assert other.diagnostics == ()
        for name, array in usual.outputs.items():
            np.testing.assert_array_equal(other.outputs[name], array)


@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3))[:-1], ids=str)
def test_what_is_wanted_does_not_depend_on_what_else_is(mask: tuple[bool, ...]) -> None:
    for shape, groups in (((3, 100, 99), 9), ((2, 9, 5000), 2)):
        arrays = made(shape, groups, "float16")
        every = RUN(*arrays.values(), num_groups=groups)
        result = RUN(*arrays.values(), num_groups=groups, output_mask=mask)
        assert result.diagnostics == ()
        for wanted, name in zip(mask, ("dx", "dgamma", "dbeta"), strict=True):
            if wanted:
                np.testing.assert_array_equal(result.outputs[name], every.outputs[name])


def test_an_offset_of_a_million_costs_no_digit() -> None:
    """The saved mean is a rounded float, off by 0.03 here; the kernel measures this error and corrects for it."""
    rng = np.random.default_rng(8)
    x = (rng.standard_normal((3, 70, 24)) + 1e6).astype(np.float32)
    dy, gamma = rng.standard_normal(x.shape).astype(np.float32), rng.uniform(0.5, 2, 24).astype(np.float32)
    _, mean, rstd = group_norm_nhwc(x, num_groups=4)
    saved = [one.astype(np.float32) for one in (mean, rstd)]
    assert np.abs(saved[0] - mean).max() > 0.01
    result = RUN(dy, x, *saved, gamma, num_groups=4)
    right = group_norm_backward_nhwc(dy, x, mean, rstd, gamma, num_groups=4)
    for got, one in zip(result.outputs.values(), right, strict=True):
        np.testing.assert_allclose(got, one, rtol=1e-5, atol=2e-6 * np.abs(one).max())


def test_an_empty_batch_has_sums_of_zero() -> None:
    none, statistics = np.empty((0, 5, 40), np.float16), np.empty((0, 4), np.float32)
    result = RUN(none, none, statistics, statistics, np.ones(40, np.float16), num_groups=4)
    assert result.diagnostics == ()
    assert result.dgamma.tolist() == result.dbeta.tolist() == [0.0] * 40


@settings(max_examples=examples(25), deadline=None)
@given(
    samples=st.integers(1, 4),
    spatial=st.integers(1, 70),
    groups=st.integers(1, 9),
    width=st.integers(1, 120),
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
)
def test_any_shape(samples: int, spatial: int, groups: int, width: int, blocks: int, dtype: str) -> None:
    if spatial * width < 4:
        return  # rstd is up to 316 there, and multiplies the error of a rounded mean
    arrays = made((samples, spatial, groups * width), groups, dtype, seed=spatial)
    result = RUN(*arrays.values(), num_groups=groups, blocks=blocks)
    assert result.diagnostics == ()
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups, "output_mask": (True,) * 3})
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    assert result.tally.ub_high_water <= 192 * 1024


@settings(max_examples=examples(300), deadline=None)
@given(
    samples=st.integers(0, 200),
    spatial=st.one_of(st.integers(1, 300), st.integers(300, 100000)),
    groups=st.one_of(st.integers(1, 64), st.integers(64, 5000)),
    width=st.one_of(st.integers(1, 64), st.integers(64, 9000), st.just(262144)),
    dtype=st.sampled_from([0, 1, 27]),
    cores=st.sampled_from([1, 7, 20, 40, 48]),
)
def test_every_size_has_a_tiling_that_fits(
    samples: int, spatial: int, groups: int, width: int, dtype: int, cores: int
) -> None:
    symbols = {"N": samples, "S": spatial, "C": groups * width, "G": groups, "cores": cores, "mask": 7, "dtype": dtype}
    if width * spatial >= 1 << 31 or max(samples, 1) * groups * width * min(spatial, 64) >= 1 << 28:
        return  # the sums of its channels would fill more than the workspace can be
    tiling = load_tiling(OP.tiling_of(SPEC))(symbols)
    half = tiling["pieceRows"] // tiling["periodRows"] * tiling["periodElements"] * (4 if dtype == 0 else 2)
    assert 2 <= tiling["slots"] <= 6
    assert 2 * (tiling["slots"] + 1) * half + 4 * (tiling["workFloats"] + tiling["otherFloats"]) < 192 * 1024
    assert 1 <= tiling["usedCores"] <= cores
    assert tiling["parts"] * tiling["partChunks"] * tiling["tableLanes"] <= 2048
    assert tiling["chunks"] == samples * tiling["sampleStrips"] * tiling["parts"] * tiling["partChunks"]
    assert tiling["lines"] == samples * tiling["partChunks"] * tiling["recordRows"]


def test_what_the_tiling_refuses() -> None:
    make = load_tiling(OP.tiling_of(SPEC))
    right = {"N": 2, "S": 9, "C": 8, "G": 4, "cores": 8, "mask": 7, "dtype": 0}
    for key, value, words in (
        ("mask", 8, "three bits"),
        ("dtype", 3, "float32, float16 or bfloat16"),
        ("G", 3, "divisible"),
        ("S", 0, "length 0"),
        ("cores", 0, "cores"),
    ):
        with pytest.raises(ArgumentError, match=words):
            make({**right, key: value})
    assert make({**right, "mask": 0})["usedCores"] == 0
