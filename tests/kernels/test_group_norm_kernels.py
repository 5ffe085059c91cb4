"""Every rung of the forward ladder against the float64 reference: shapes, splits over cores, data hard on rounding."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.spec import KernelSpec
from gn_tutorial.reference import group_norm

OP = load_registry()["group_norm"]
RUNGS = [pytest.param(spec, id=spec.id.partition("/")[2]) for spec in OP.kernels]
EPS = 1e-3
#: Tiling functions that deal tiles of small groups to the cores: there may be fewer tiles than cores.
TILED = ("MakeGroupNormSmallTiling", "MakeGroupNormKeyTiling")

# Shape and number of groups. The largest tile holds 6144 floats.
GRID = [
    ((2, 6), 3),  # no spatial axis
    ((1, 1, 1), 1),  # one element
    ((1, 4, 5), 4),  # one channel a group
    ((3, 4, 7, 9), 1),  # one group
    ((2, 6, 3, 5, 7), 2),  # three spatial axes, none a multiple of 8
    ((5, 32, 33), 8),  # rows that are no multiple of 32 bytes
    ((2, 4, 32, 48), 2),  # a group of half a tile
    ((1, 4, 6144), 2),  # a channel is a tile
    ((1, 2, 6145), 2),  # a channel is one element more than a tile
    ((1, 6, 5000), 1),  # a group of five tiles; a channel fits into one
    ((2, 700, 17), 1),  # many channels a tile, and a last tile that is not full
    ((1, 9001, 1), 1),  # spatial size 1, a prime number of channels
    ((1, 3, 37000), 1),  # a channel in ten parts, a group of thirty
    ((3, 5, 2041), 5),  # rows whose distance in blocks does not fit into eight bits
    ((1, 16, 64, 64), 2),  # few groups, of whole repeats, for many cores
    ((58, 4, 16, 131), 1),  # ten groups are left when 48 cores have one each
    ((7, 24, 7, 7), 8),  # many small groups
    ((300, 6), 2),  # many samples without a spatial axis
    ((2, 2048, 3), 512),  # rows shorter than a block
    ((3, 4100, 5), 2),  # groups of more channels than step 4 holds the gamma and beta of
    ((2, 2049, 9), 3),  # one channel more than that, in three groups
]


def run(spec: KernelSpec, shape: tuple[int, ...], groups: int, *, seed: int = 3, **named: object) -> Result:
    arrays = random_inputs.inputs(OP, shape, seed=seed)
    return kernel(spec.id)(*arrays.values(), num_groups=groups, eps=EPS, **named)


@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
@pytest.mark.parametrize("spec", RUNGS)
def test_any_shape(spec: KernelSpec, shape: tuple[int, ...], groups: int) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3)
    result = run(spec, shape, groups)
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS}), spec.tolerance)
    assert comparison.ok, comparison
    assert result.diagnostics == ()


@pytest.mark.parametrize("spec", RUNGS)
def test_an_empty_batch_gives_empty_results(spec: KernelSpec) -> None:
    result = run(spec, (0, 6, 5), 3)
    assert result.y.shape == (0, 6, 5)
    assert result.mean.shape == result.rstd.shape == (0, 3)


@pytest.mark.parametrize(("shape", "groups"), [GRID[2], GRID[5], GRID[9], GRID[15], GRID[16], GRID[-2]], ids=str)
@pytest.mark.parametrize("spec", RUNGS[3:])
def test_copies_that_come_as_late_as_flags_allow_change_no_bit(
    spec: KernelSpec, shape: tuple[int, ...], groups: int
) -> None:
    plain = run(spec, shape, groups)
    late = run(spec, shape, groups, options=TwinOptions(delayed_dma=True))
    assert late.diagnostics == ()
    for name, array in plain.outputs.items():
        np.testing.assert_array_equal(late.outputs[name], array)


@pytest.mark.parametrize("blocks", [1, 2, 3, 7])
@pytest.mark.parametrize("spec", RUNGS)
def test_the_number_of_cores_changes_no_bit(spec: KernelSpec, blocks: int) -> None:
    few, all_cores = (run(spec, (3, 10, 7, 11), 5, blocks=number) for number in (blocks, None))
    assert few.blocks == blocks or (spec.tiling in TILED and few.blocks < blocks)
    for name, array in few.outputs.items():
        np.testing.assert_array_equal(array, all_cores.outputs[name])


def test_every_channel_a_group_of_one_element() -> None:
    """G = C = 65536: the step for small groups has them in its tiles; step by step they would take minutes."""
    x, gamma, beta = random_inputs.inputs(OP, (2, 65536), seed=4).values()
    result = kernel("group_norm/small")(x, gamma, beta, num_groups=65536, eps=EPS)
    np.testing.assert_array_equal(result.y, np.broadcast_to(beta, x.shape))
    np.testing.assert_array_equal(result.mean, x)
    np.testing.assert_allclose(result.rstd, 1 / np.sqrt(EPS), rtol=1e-6)
    assert result.diagnostics == ()


@pytest.mark.parametrize("blocks", [3, 7, 40])
def test_a_group_split_over_cores_has_the_bits_of_the_whole_group(blocks: int) -> None:
    arrays = random_inputs.inputs(OP, (1, 10, 127, 131), seed=6)
    whole = kernel("group_norm/resident")(*arrays.values(), num_groups=2)
    split = kernel("group_norm/split")(*arrays.values(), num_groups=2, blocks=blocks)
    assert split.blocks == blocks > whole.blocks == 2
    assert split.diagnostics == ()
    for name, array in whole.outputs.items():
        np.testing.assert_array_equal(split.outputs[name], array)


@pytest.mark.parametrize(
    ("shape", "groups", "step", "key"),
    [((5, 32, 33), 8, "small", 100), ((2, 4, 32, 48), 2, "split", 200), ((50, 4, 96, 131), 1, "split", 200)],
    ids=str,
)
def test_the_tiling_key_chooses_between_two_steps(shape: tuple[int, ...], groups: int, step: str, key: int) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=6)
    dispatched = kernel("group_norm/any")(*arrays.values(), num_groups=groups)
    # Step 8 starts as many cores as are worth their start, the others all that they can use.
    chosen = kernel(f"group_norm/{step}")(*arrays.values(), num_groups=groups, blocks=dispatched.blocks)
    assert dispatched.tiling["tilingKey"] == key
    assert dispatched.blocks == chosen.blocks
    for name, array in chosen.outputs.items():
        np.testing.assert_array_equal(dispatched.outputs[name], array)


def test_two_buffers_change_no_bit_of_one_buffer() -> None:
    one, two = (run(OP.kernels[step], (2, 6, 5003), 2) for step in (1, 2))
    for name, array in one.outputs.items():
        np.testing.assert_array_equal(array, two.outputs[name])
    assert two.tally.vector == one.tally.vector
    assert two.tally.ub_high_water > one.tally.ub_high_water


def test_each_step_reads_no_more_and_computes_with_fewer_instructions() -> None:
    tallies = [run(spec, (2, 32, 40, 40), 8).tally for spec in OP.kernels]
    bytes_in = [tally.bytes_in for tally in tallies]
    assert bytes_in[:5] == sorted(bytes_in[:5], reverse=True)
    assert max(bytes_in[5:]) < 1.05 * bytes_in[4]  # gamma and beta for smaller pieces, or statistics of other cores
    assert tallies[0].scalar > 100 * tallies[1].scalar
    assert tallies[3].bytes_in < 0.7 * tallies[2].bytes_in


def test_step_4_brings_x_twice_and_gamma_and_beta_once_a_core() -> None:
    result = run(OP.kernels[3], (2, 32, 40, 40), 8, blocks=4)
    assert result.tally.bytes_in == 4 * (2 * 2 * 32 * 40 * 40 + 4 * 2 * 32)


def test_step_4_without_gamma_and_beta_of_more_channels_than_it_holds() -> None:
    x = random_inputs.inputs(OP, (2, 2500, 3), seed=4)["x"]
    ones, zeros = np.ones(2500, np.float32), np.zeros(2500, np.float32)
    plain, given = (kernel("group_norm/vectorised")(x, *affine, num_groups=5) for affine in ((), (ones, zeros)))
    assert plain.diagnostics == ()
    np.testing.assert_array_equal(plain.y, given.y)
    np.testing.assert_allclose(plain.y, group_norm(x, num_groups=5).y, rtol=1e-5, atol=4e-5)


@pytest.mark.parametrize("offset", [1e2, 1e4])
def test_a_mean_far_above_the_spread_costs_no_digit(offset: float) -> None:
    """From step 4 on: before, the mean is one float, and its rounding is a part of the spread."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(2, 8, 41, 37)) + offset).astype(np.float32)
    for spec in OP.kernels[3:]:
        result = kernel(spec.id)(x, num_groups=2, eps=EPS)
        truth = group_norm(x, num_groups=2, eps=EPS)
        assert np.abs(result.y - truth.y).max() < 5e-6, spec.id
        np.testing.assert_allclose(result.rstd, truth.rstd, rtol=2e-6)
        np.testing.assert_allclose(result.mean, truth.mean, rtol=6e-8)  # half a unit in the last place of a float


def test_a_few_values_unlike_all_others_cost_no_digit() -> None:
    """The pivot is spread over a row: were it the mean of these 64, squares would be 60 times too large."""
    x = np.random.default_rng(6).normal(size=(1, 4, 400, 451)).astype(np.float32)
    x[0, 0, 0, :64] = 1e4
    truth = group_norm(x, num_groups=1, eps=EPS)
    for name in ("resident", "split", "any"):
        result = kernel(f"group_norm/{name}")(x, num_groups=1, eps=EPS)
        np.testing.assert_allclose(result.rstd, truth.rstd, rtol=1e-6)
        in_spreads = (result.mean - truth.mean) * truth.rstd
        assert np.abs(in_spreads).max() < 1e-7


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_single_elements_that_are_not_numbers_stay_alone(bad: float) -> None:
    """Groups of one element have a way of their own; tiles end with a sample, and its last one is not full."""
    x, gamma, beta = random_inputs.inputs(OP, (3, 2500), seed=4).values()
    x[1, 2300] = bad
    result = kernel("group_norm/any")(x, gamma, beta, num_groups=2500, eps=EPS)
    assert result.tiling["tilingKey"] == 300
    assert result.diagnostics == ()
    expected = np.broadcast_to(beta, x.shape).copy()
    expected[1, 2300] = np.nan
    np.testing.assert_array_equal(result.y, expected)
    np.testing.assert_array_equal(result.mean, x)
    rstd = np.full(x.shape, 1 / np.sqrt(EPS), np.float32)
    rstd[1, 2300] = np.nan
    np.testing.assert_allclose(result.rstd, rstd, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 3.7, -1e6])
@pytest.mark.parametrize("spec", RUNGS)
def test_a_constant_group_is_shifted_only(spec: KernelSpec, value: float) -> None:
    x = np.full((1, 6, 35, 3), value, np.float32)
    beta = np.linspace(-1, 1, 6, dtype=np.float32)
    result = kernel(spec.id)(x, beta=beta, num_groups=2, eps=1e-5)
    # A mean that is a few units off in its last place leaves (x - mean) / sqrt(eps) behind, up to step 3.
    rounding = 2.0**-21 * abs(value) / np.sqrt(1e-5) if spec.step < 4 else 0.0
    assert np.abs(result.y - beta.reshape(1, 6, 1, 1)).max() <= max(rounding, 2e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("spec", RUNGS)
def test_what_is_not_a_number_stays_in_its_group(spec: KernelSpec, bad: float) -> None:
    arrays = random_inputs.inputs(OP, (2, 6, 10, 7), seed=8)
    clean = kernel(spec.id)(*arrays.values(), num_groups=3, blocks=2)
    arrays["x"][1, 2, 4, 3] = bad  # sample 1, group 1
    dirty = kernel(spec.id)(*arrays.values(), num_groups=3, blocks=2)
    assert np.isnan(dirty.y[1, 2:4]).all()
    kept = np.ones(clean.y.shape, bool)
    kept[1, 2:4] = False
    np.testing.assert_array_equal(dirty.y[kept], clean.y[kept])


@pytest.mark.parametrize("spec", RUNGS)
def test_a_group_much_larger_than_local_memory(spec: KernelSpec) -> None:
    """4 MiB in one group on one core; the observed twin checks every access."""
    shape = (1, 4, 512, 513)
    result = run(spec, shape, 1)
    arrays = random_inputs.inputs(OP, shape, seed=3)
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": 1, "eps": EPS}), spec.tolerance)
    assert comparison.ok, comparison
    assert result.tally.ub_high_water <= 192 * 1024
