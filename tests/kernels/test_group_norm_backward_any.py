"""Step 5 of the backward ladder: three dtypes, masks, shared groups, means that lack something."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.tiling import load_tiling
from gn_tutorial.reference import group_norm, group_norm_backward
from tests.kernels.test_group_norm_backward import NAMES, OP, bits, check, inputs, scales
from tests.kernels.test_group_norm_kernels import GRID

SPEC = find_kernel("group_norm_backward/any")[1]
#: Small groups; a group in a piece of many short rows, of a few long ones, in parts of a row; larger than what stays;
#: shared.
SOME = [GRID[2], GRID[5], GRID[9], GRID[12], GRID[15]]


def narrow_inputs(shape: tuple[int, ...], groups: int, dtype: str) -> dict[str, np.ndarray]:
    """As ``inputs``, with a dy so small that the sums of a channel stay below 65504, the largest float16."""
    arrays = inputs(shape, groups, dtype=dtype)
    arrays["dy"] *= arrays["dy"].dtype.type(2.0**-6)
    return arrays


def run(arrays: Mapping[str, np.ndarray], groups: int, **named: object) -> Result:
    return kernel(SPEC.id)(*arrays.values(), num_groups=groups, **named)


@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
def test_every_shape_of_the_forward_grid(shape: tuple[int, ...], groups: int) -> None:
    arrays = inputs(shape, groups)
    check(run(arrays, groups), arrays, groups)


def plain(arrays: Mapping[str, np.ndarray], groups: int) -> dict[str, np.ndarray]:
    """The gradients by NumPy in float32, rounded once: what any implementation of this precision may reach."""
    dy, x, mean, rstd, gamma = (array.astype(np.float32) for array in arrays.values())
    batch, channels = x.shape[:2]
    split, one = (batch, groups, channels // groups, -1), (batch, groups, 1, 1)
    xhat = (x.reshape(split) - mean.reshape(one)) * rstd.reshape(one)
    a = dy.reshape(split) * gamma.reshape(1, groups, -1, 1)
    along = (a * xhat).mean((2, 3), keepdims=True)
    dx = rstd.reshape(one) * (a - a.mean((2, 3), keepdims=True) - xhat * along)
    dgamma = (dy.reshape(split) * xhat).sum(3).sum(0).reshape(-1)
    made = {"dx": dx.reshape(x.shape), "dgamma": dgamma, "dbeta": dy.reshape(batch, channels, -1).sum(2).sum(0)}
    return {name: array.astype(arrays["x"].dtype) for name, array in made.items()}


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_the_accuracy_standard(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = narrow_inputs(shape, groups, dtype)
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups})
    result = run(arrays, groups)
    assert result.diagnostics == ()
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    theirs = plain(arrays, groups)
    for name in NAMES:
        assert result[name].dtype == as_dtype(dtype)
        ours, usual = accuracy(result[name], truth[name], theirs[name]), accuracy(theirs[name], truth[name])
        assert ours.mere < max(ours.standard.unit, 2 * usual.mere), ours
        # Where terms cancel, float32 itself misses the standard; the worst of 10^5 such elements is a matter of luck.
        assert ours.mare < max(10 * ours.standard.unit, 4 * usual.mare), ours
        assert ours.misses <= ours.misses_limit, ours


def check_that_bits_stay(arrays: Mapping[str, np.ndarray], groups: int, *, blocks: int) -> None:
    """Whether copies are late, in any order of cores, and on one, seven or ``blocks`` of them."""
    usual = run(arrays, groups)
    late = TwinOptions(delayed_dma=True, block_order=5)
    for changed in ({"options": late}, {"options": late, "blocks": 7}, {"blocks": 1}, {"blocks": blocks}):
        other = run(arrays, groups, **changed)
        assert other.diagnostics == ()
        for name in NAMES:
            np.testing.assert_array_equal(other[name], usual[name])


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_neither_late_copies_nor_cores_nor_their_order_change_a_bit(
    shape: tuple[int, ...], groups: int, dtype: str
) -> None:
    check_that_bits_stay(narrow_inputs(shape, groups, dtype), groups, blocks=3)


def test_a_hundred_orders_of_cores_that_share_a_group_give_the_same_bits() -> None:
    arrays = inputs((3, 4, 70, 71), 1)
    assert run(arrays, 1, blocks=6).tiling["sharedGroups"] == 3
    assert len({bits(SPEC, arrays, 1, order, 6) for order in range(examples(100))}) == 1


@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3)), ids=str)
@pytest.mark.parametrize(("shape", "groups"), [((3, 6, 10, 7), 3), ((2, 4, 33, 99), 1)], ids=str)
def test_what_is_not_wanted_is_not_there(shape: tuple[int, ...], groups: int, mask: tuple[bool, ...]) -> None:
    arrays = inputs(shape, groups)
    whole = run(arrays, groups)
    part = run(arrays, groups, output_mask=mask)
    assert part.diagnostics == ()
    for name, wanted in zip(NAMES, mask, strict=True):
        np.testing.assert_array_equal(part[name], whole[name] if wanted else np.empty(0, np.float32))
    assert (part.blocks > 0) is any(mask)
    if not mask[0]:
        assert part.tally.bytes_out < whole.tally.bytes_out - arrays["x"].nbytes + 64 * sum(shape)
    if not mask[0] and not mask[1]:
        assert part.tally.bytes_in < 0.55 * (arrays["dy"].nbytes + arrays["x"].nbytes)  # x is not read


def test_an_empty_batch_with_a_mask() -> None:
    result = run(inputs((0, 70000, 5), 7), 7, output_mask=(False, True, False))
    np.testing.assert_array_equal(result.dgamma, np.zeros(70000))
    assert result.dx.shape == result.dbeta.shape == (0,)


@pytest.mark.parametrize(("shape", "groups"), [((2, 8, 41, 37), 2), ((1, 4, 127, 131), 1)], ids=str)
@pytest.mark.parametrize("offset", [1e2, 1e4])
def test_what_a_rounded_mean_lacks_is_put_right(shape: tuple[int, ...], groups: int, offset: float) -> None:
    """mean / sigma up to 1e4: the truth takes float64 statistics, the kernel what a forward pass saves of them."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=shape) + offset).astype(np.float32)
    dy = (rng.normal(size=shape) + 0.5).astype(np.float32)
    gamma = rng.normal(size=shape[1]).astype(np.float32)
    _, mean, rstd = group_norm(x, num_groups=groups)
    truth = group_norm_backward(dy, x, mean, rstd, gamma, num_groups=groups)
    arrays = {"dy": dy, "x": x, "mean": mean.astype(np.float32), "rstd": rstd.astype(np.float32), "gamma": gamma}
    worst = {}
    for step in ("any", "two_stages"):
        result = kernel(f"group_norm_backward/{step}")(*arrays.values(), num_groups=groups)
        errors = {name: np.abs(result[name] - getattr(truth, name)) / scales(arrays, groups)[name] for name in NAMES}
        worst[step] = max(error.max() for error in errors.values())
    assert worst["any"] < 1e-6
    if offset == 1e4:
        assert worst["two_stages"] > 20 * worst["any"]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize("shape", [(2, 6, 10, 7), (2, 6, 70, 71)], ids=str)
def test_what_is_not_a_number_in_x_stays_in_its_group(dtype: str, shape: tuple[int, ...], bad: float) -> None:
    arrays = inputs(shape, 3, dtype=dtype)
    clean = run(arrays, 3, blocks=2)
    arrays["x"][1, 2, 4, 3] = bad  # sample 1, group 1
    dirty = run(arrays, 3, blocks=2)
    kept = np.ones(shape, bool)
    kept[1, 2:4] = False
    # NaN and infinity: the saved statistics are those of the clean group.
    assert not np.isfinite(dirty.dx[~kept].astype(np.float32)).any()
    np.testing.assert_array_equal(dirty.dx[kept], clean.dx[kept])
    np.testing.assert_array_equal(dirty.dbeta, clean.dbeta)
    np.testing.assert_array_equal(dirty.dgamma[[0, 1, 4, 5]], clean.dgamma[[0, 1, 4, 5]])


def test_every_channel_a_group_of_one_element() -> None:
    arrays = inputs((1, 65536), 65536)
    result = run(arrays, 65536, isolated=False, observed=False)
    np.testing.assert_array_equal(result.dx, np.zeros((1, 65536)))
    np.testing.assert_array_equal(result.dbeta, arrays["dy"][0])
    assert np.abs(result.dgamma).max() < 1e-3  # x - mean is a rounding, rstd the root of 1e5


@pytest.mark.parametrize("dtype", STANDARDS)
def test_a_group_much_larger_than_local_memory(dtype: str) -> None:
    """4 MiB of each tensor in one group; a row has more parts than a block has lanes; all cores share it."""
    shape = (1, 2, 512, 1025)
    arrays = narrow_inputs(shape, 1, dtype)
    result = run(arrays, 1)
    assert result.diagnostics == ()
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": 1}), SPEC.tolerance)
    assert comparison.ok, comparison
    assert result.tally.ub_high_water <= 192 * 1024


def test_a_row_of_more_parts_than_are_added_at_once() -> None:
    arrays = inputs((1, 1, 2041 * 2048), 1)
    result = run(arrays, 1, isolated=False, observed=True)
    check(result, arrays, 1)


def test_the_key_is_the_way_and_the_dtype_and_others_are_refused() -> None:
    for dtype, number in (("float32", 0), ("float16", 1), ("bfloat16", 27)):
        assert run(inputs((2, 4, 5), 2, dtype=dtype), 2).tiling["tilingKey"] == 100 + number
        assert run(inputs((2, 4, 7, 97), 2, dtype=dtype), 2).tiling["tilingKey"] == 200 + number
    function = load_tiling(OP.tiling_of(SPEC))
    shape = {"N": 2, "C": 4, "S": 5, "G": 2, "cores": 40, "mask": 7, "dtype": 0}
    with pytest.raises(ArgumentError, match="x must be float32, float16 or bfloat16"):
        function({**shape, "dtype": 3})
    with pytest.raises(ArgumentError, match="output_mask has three bits"):
        function({**shape, "mask": 8})
    with pytest.raises(ArgumentError, match="268435455 parts of rows"):
        function({**shape, "N": 2**20, "S": 2**20})
