"""Step 5 of the backward ladder, small groups: tiles of samples and of parts of one; the second stage's many lines."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS
from gn_tutorial.errors import KernelFault
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.tiling import load_tiling
from gn_tutorial.reference import group_norm, group_norm_backward
from tests.kernels.test_group_norm_backward import NAMES, OP, bits, inputs, scales
from tests.kernels.test_group_norm_backward_any import SPEC, check_that_bits_stay, narrow_inputs, run

# Shape, number of groups, and whether a tile holds whole samples.
SMALL = [
    ((23, 12), 3, True),  # no spatial axis: a line is a group; several samples a tile, an odd number in the last
    ((700, 24), 3, True),  # a group of floats is a block: lines without padding come as one
    ((97, 30), 15, True),  # groups of two channels
    ((3, 4000), 500, False),  # more groups in a sample than in a tile
    ((41, 130, 3, 3), 65, True),  # lines of two blocks
    ((40, 6, 5, 7), 2, True),  # three lines a group
    ((2, 900, 7, 7), 450, False),  # tiles in a sample, the last one not full
    ((3, 5, 1187), 5, False),  # as large as a small group is
    ((4, 3000, 1), 1, True),  # one group of single elements in a tile
    ((5, 1000, 1), 1000, False),  # one element a group
]
SHAPES = [pytest.param(shape, groups, id=f"{shape} G{groups}") for shape, groups, _ in SMALL]


def check(result: Result, arrays: Mapping[str, np.ndarray], groups: int) -> None:
    """The gradients are within a few roundings of those that exact statistics give.

    If a group's two numbers are nearly equal, the rounding of their mean is a large part of their spread. The kernel
    corrects this; the reference with the saved mean would not.
    """
    dy, x, _, _, gamma = arrays.values()
    _, mean, rstd = group_norm(x, num_groups=groups)
    truth = group_norm_backward(dy, x, mean, rstd, gamma, num_groups=groups)
    for name, scale in scales(arrays, groups).items():
        error = np.abs(result[name] - getattr(truth, name))
        assert (error <= 2e-6 * scale + 1e-30).all(), (name, (error / (scale + 1e-30)).max())
    assert result.diagnostics == ()


@pytest.mark.parametrize(("shape", "groups", "whole"), SMALL, ids=str)
def test_small_groups_go_the_way_of_tiles(shape: tuple[int, ...], groups: int, whole: bool) -> None:
    arrays = inputs(shape, groups)
    result = run(arrays, groups)
    check(result, arrays, groups)
    tiling = result.tiling
    assert tiling["tilingKey"] == 100
    assert (tiling["tileGroups"] % groups == 0) is whole
    tiles = -(-shape[0] * groups // tiling["tileGroups"]) if whole else shape[0]
    assert tiling["tableEntries"] == tiles * shape[1]
    assert result.tally.ub_high_water <= 192 * 1024


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "groups"), SHAPES[:-1])
def test_narrow_dtypes(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = narrow_inputs(shape, groups, dtype)
    result = run(arrays, groups)
    assert result.diagnostics == ()
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": groups}), SPEC.tolerance)
    assert comparison.ok, comparison


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_neither_late_copies_nor_cores_nor_their_order_change_a_bit(
    shape: tuple[int, ...], groups: int, dtype: str
) -> None:
    check_that_bits_stay(narrow_inputs(shape, groups, dtype), groups, blocks=48)


@pytest.mark.thorough
@pytest.mark.parametrize(("shape", "groups"), [SHAPES[0], SHAPES[6]])
def test_a_hundred_orders_of_cores_give_the_same_bits(shape: tuple[int, ...], groups: int) -> None:
    arrays = inputs(shape, groups)
    assert len({bits(SPEC, arrays, groups, order, 9) for order in range(examples(100))}) == 1


@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3)), ids=str)
@pytest.mark.parametrize(("shape", "groups"), [SHAPES[0], SHAPES[3], SHAPES[5]])
def test_what_is_not_wanted_is_not_there(shape: tuple[int, ...], groups: int, mask: tuple[bool, ...]) -> None:
    arrays = inputs(shape, groups)
    whole = run(arrays, groups)
    part = run(arrays, groups, output_mask=mask)
    assert part.diagnostics == ()
    for name, wanted in zip(NAMES, mask, strict=True):
        np.testing.assert_array_equal(part[name], whole[name] if wanted else np.empty(0, np.float32))
    if not mask[0] and not mask[1]:
        assert part.tally.bytes_in < whole.tally.bytes_in - arrays["x"].nbytes + 1  # x is not read
    if not mask[0]:
        assert part.tally.bytes_out <= whole.tally.bytes_out - arrays["x"].nbytes


@settings(deadline=None, max_examples=examples(40))
@given(
    batch=st.integers(1, 40),
    groups=st.integers(1, 40),
    size=st.integers(1, 9),
    spatial=st.integers(1, 20),
    blocks=st.integers(1, 9),
    seed=st.integers(0, 99),
    dtype=st.sampled_from(list(STANDARDS)),
)
def test_shapes_cores_orders_dtypes(
    batch: int, groups: int, size: int, spatial: int, blocks: int, seed: int, dtype: str
) -> None:
    shape = (batch, groups * size, spatial)
    arrays = narrow_inputs(shape, groups, dtype)
    options = TwinOptions(block_order=seed, delayed_dma=True)
    result = run(arrays, groups, blocks=blocks, isolated=False, observed=True, options=options)
    assert result.diagnostics == ()
    if dtype == "float32":
        check(result, arrays, groups)
    else:  # groups of few elements divide by a small spread: the reference takes the rounded mean as it is
        exact = run({name: array.astype(np.float32) for name, array in arrays.items()}, groups, isolated=False)
        unit = 2.0**-11 if dtype == "float16" else 2.0**-8
        for name in NAMES:
            largest = np.abs(exact[name]).max(initial=0.0)
            error = np.abs(result[name].astype(np.float32) - exact[name])
            assert (error <= 1.01 * unit * np.abs(exact[name]) + 2.0**-24 + 4e-6 * largest).all(), name


@settings(deadline=None, max_examples=examples(60))
@given(
    batch=st.integers(1, 3000),
    groups=st.integers(1, 600),
    size=st.integers(1, 12),
    spatial=st.integers(1, 300),
    cores=st.integers(1, 60),
    dtype=st.sampled_from([0, 1, 27]),
)
def test_what_is_added_to_what_does_not_depend_on_the_cores(
    batch: int, groups: int, size: int, spatial: int, cores: int, dtype: int
) -> None:
    function = load_tiling(OP.tiling_of(SPEC))
    shape = {"N": batch, "C": groups * size, "S": spatial, "G": groups, "mask": 7, "dtype": dtype}
    some, usual = function({**shape, "cores": cores}), function({**shape, "cores": 48})
    for name in ("tilingKey", "tileGroups", "tableEntries", "pieceRows", "pieceLength", "chunkPieces"):
        assert some[name] == usual[name]
    assert 1 <= some["usedCores"] <= cores
    if some["tileGroups"]:
        units = 1 if some["tileGroups"] % groups == 0 else batch
        tiles = -(-batch * groups // units // some["tileGroups"]) * units
        assert some["groupsPerCore"] * some["usedCores"] + some["extraGroups"] == tiles


@pytest.mark.parametrize(
    ("shape", "groups"),
    [
        ((300, 2, 31, 31), 1),  # more samples than the second stage takes at once
        ((270, 1, 2100), 1),  # the same, of rows in two parts
        ((300, 8, 12, 50), 8),  # the same, of tiles in a sample
        ((3, 800, 33), 2),  # more channels in a group than one core takes
    ],
    ids=str,
)
def test_many_lines_of_sums(shape: tuple[int, ...], groups: int) -> None:
    arrays = inputs(shape, groups)
    check(run(arrays, groups), arrays, groups)


@pytest.mark.parametrize(
    ("shape", "groups"), [((300, 12, 3), 4), ((40, 20, 5), 20), ((9, 64, 4), 64), ((11, 72, 2), 72)]
)
def test_samples_of_a_tile_are_added_up_where_lines_are_blocks_or_share_them(
    shape: tuple[int, ...], groups: int
) -> None:
    """Lines of 2 to 5 elements, as many as fill no repeat of eight: sums of samples lie where their own sums go."""
    arrays = inputs(shape, groups)
    result = run(arrays, groups)
    assert result.tiling["tileGroups"] > groups
    check(result, arrays, groups)


def test_a_small_group_costs_the_scalar_unit_nothing() -> None:
    few, many = (run(inputs((batch, 24), 3), 3, blocks=1) for batch in (150, 200))
    assert few.tiling["tileGroups"] == many.tiling["tileGroups"]
    assert many.tally.scalar == few.tally.scalar


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), [SHAPES[0], SHAPES[5], ((3, 2, 70, 71), 1), ((3, 8, 30, 31), 2)])
def test_only_the_order_of_vector_instructions_is_left_to_the_compiler(
    shape: tuple[int, ...], groups: int, dtype: str
) -> None:
    """Without automatic synchronisation: between pipes every wait is the kernel's own."""
    with pytest.raises(KernelFault) as caught:
        run(inputs(shape, groups, dtype=dtype), groups, options=TwinOptions(auto_sync="off", delayed_dma=True))
    ids = {found.id for found in caught.value.diagnostics}
    assert "race-same-pipe" in ids
    # Blocks of gamma behind a sample's are written once more, with those of the next sample.
    assert ids <= {"race-same-pipe", "race-overwrites-unread"}
    assert all(found.fields["pipe"] == found.fields["other_pipe"] == "PIPE_V" for found in caught.value.diagnostics)
