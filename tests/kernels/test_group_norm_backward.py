"""The backward ladder against the float64 reference: shapes, splits over cores, orders of cores, refusals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.spec import KernelSpec
from gn_tutorial.operators.tiling import load_tiling

OP = load_registry()["group_norm_backward"]
RUNGS = [pytest.param(spec, id=spec.id.partition("/")[2]) for spec in OP.kernels]
#: The kernels whose bits depend on the order in which cores come.
UNORDERED = ("group_norm_backward/atomic",)
ORDERED = [param for param in RUNGS[2:] if param.values[0].id not in UNORDERED]
NAMES = ("dx", "dgamma", "dbeta")

# Shape and number of groups. The largest tile holds 6144 floats.
GRID = [
    ((2, 6), 3),  # no spatial axis
    ((1, 1, 1), 1),  # one element
    ((3, 4, 5), 4),  # one channel a group
    ((3, 4, 7, 9), 1),  # one group
    ((2, 6, 3, 5, 7), 2),  # three spatial axes, none a multiple of 8
    ((5, 32, 33), 8),  # rows that are no multiple of 32 bytes
    ((1, 4, 6145), 2),  # a row is one element more than a tile
    ((1, 701, 1), 1),  # spatial size 1, a prime number of channels
    ((58, 4, 131), 1),  # ten groups are left when 48 cores have one each
    ((3, 600, 2), 2),  # more channels than are kept at once
]


def inputs(shape: tuple[int, ...], groups: int, *, seed: int = 3, dtype: str = "float32") -> dict[str, np.ndarray]:
    return random_inputs.inputs(OP, shape, seed=seed, dtype=dtype, attributes={"num_groups": groups})


def scales(arrays: Mapping[str, np.ndarray], groups: int) -> dict[str, np.ndarray]:
    """Return, for each gradient, the magnitude of its terms: the largest one, or their sum.

    The reference uses the saved mean unchanged, and the last kernel corrects it. So for dgamma the rounding of a mean
    to a float, 2^-24 of it or of the spread (in units of the 2e-6 that ``check`` allows), counts as one of the terms.
    """
    dy, x, mean, rstd, gamma = (array.astype(np.float64) for array in arrays.values())
    batch, channels = x.shape[:2]
    split = (batch, groups, channels // groups, -1)
    one = (batch, groups, 1, 1)
    xhat = (x.reshape(split) - mean.reshape(one)) * rstd.reshape(one)
    a = np.abs(dy.reshape(split) * gamma.reshape(1, groups, -1, 1))
    dx = rstd.reshape(one) * (a + a.mean((2, 3), keepdims=True) + np.abs(xhat) * a.mean((2, 3), keepdims=True))
    rounding = 2.0**-24 / 2e-6 * (1 + np.abs(mean * rstd)).reshape(one)
    dgamma = (np.abs(dy.reshape(split)) * (np.abs(xhat) + rounding)).sum((0, 3)).reshape(-1)
    return {"dx": dx.reshape(x.shape), "dgamma": dgamma, "dbeta": np.abs(dy).reshape(batch, channels, -1).sum((0, 2))}


def check(result: Result, arrays: Mapping[str, np.ndarray], groups: int) -> None:
    """Every element within a few roundings of the terms it is made of, and nothing to report."""
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups})
    for name, scale in scales(arrays, groups).items():
        error = np.abs(result[name].astype(np.float64) - truth[name])
        assert result[name].shape == truth[name].shape
        assert (error <= 2e-6 * scale + 1e-30).all(), (name, (error / (scale + 1e-30)).max())
    assert result.diagnostics == ()


@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
@pytest.mark.parametrize("spec", RUNGS)
def test_any_shape(spec: KernelSpec, shape: tuple[int, ...], groups: int) -> None:
    arrays = inputs(shape, groups)
    check(kernel(spec.id)(*arrays.values(), num_groups=groups), arrays, groups)


@settings(deadline=None, max_examples=examples(25))
@given(
    batch=st.integers(1, 4),
    groups=st.integers(1, 5),
    size=st.integers(1, 7),
    spatial=st.lists(st.integers(1, 12), max_size=3),
    blocks=st.integers(1, 9),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("spec", RUNGS)
def test_shapes_cores_and_orders(
    spec: KernelSpec, batch: int, groups: int, size: int, spatial: list[int], blocks: int, seed: int
) -> None:
    arrays = inputs((batch, groups * size, *spatial), groups, seed=seed)
    options = TwinOptions(block_order=seed, delayed_dma=True)
    result = kernel(spec.id)(
        *arrays.values(), num_groups=groups, blocks=blocks, isolated=False, observed=True, options=options
    )
    check(result, arrays, groups)


@pytest.mark.parametrize("spec", RUNGS)
def test_an_empty_batch_has_gradients_of_zero(spec: KernelSpec) -> None:
    result = kernel(spec.id)(*inputs((0, 6, 5), 3).values(), num_groups=3)
    assert result.dx.shape == (0, 6, 5)
    np.testing.assert_array_equal(result.dgamma, np.zeros(6))
    np.testing.assert_array_equal(result.dbeta, np.zeros(6))
    assert result.diagnostics == ()


@pytest.mark.parametrize("spec", RUNGS)
def test_gamma_may_be_left_out(spec: KernelSpec) -> None:
    arrays = inputs((2, 6, 5), 3)
    arrays["gamma"] = np.ones(6, np.float32)
    given_ones = kernel(spec.id)(*arrays.values(), num_groups=3)
    del arrays["gamma"]
    left_out = kernel(spec.id)(*arrays.values(), num_groups=3)
    for name in NAMES:
        np.testing.assert_array_equal(left_out[name], given_ones[name])


def bits(spec: KernelSpec, arrays: Mapping[str, np.ndarray], groups: int, order: int, blocks: int | None) -> bytes:
    result = kernel(spec.id)(
        *arrays.values(),
        num_groups=groups,
        blocks=blocks,
        isolated=False,
        observed=False,
        options=TwinOptions(block_order=order),
    )
    return b"".join(result[name].tobytes() for name in NAMES)


@pytest.mark.parametrize("spec", ORDERED)
def test_a_hundred_orders_of_cores_give_the_same_bits(spec: KernelSpec) -> None:
    arrays = inputs((9, 12, 5, 7), 4)
    assert len({bits(spec, arrays, 4, order, 12) for order in range(examples(100))}) == 1


@pytest.mark.parametrize("spec", ORDERED)
def test_the_number_of_cores_changes_no_bit(spec: KernelSpec) -> None:
    arrays = inputs((9, 12, 5, 7), 4)
    assert len({bits(spec, arrays, 4, 0, blocks) for blocks in (1, 2, 3, 7, 13, None)}) == 1


def test_atomic_additions_depend_on_the_order_of_cores() -> None:
    spec = next(one for one in OP.kernels if one.id in UNORDERED)
    arrays = inputs((9, 12, 5, 7), 4)
    found = {bits(spec, arrays, 4, order, 12) for order in range(20)}
    assert len(found) > 10
    assert bits(spec, arrays, 4, 7, 12) == bits(spec, arrays, 4, 7, 12)  # the order is all that it depends on
    dx = arrays["x"].nbytes
    assert len({one[:dx] for one in found}) == 1


@pytest.mark.parametrize("spec", RUNGS)
def test_what_is_not_a_number_stays_in_its_group_and_its_channel(spec: KernelSpec) -> None:
    shape = (2, 6, 10, 7)
    arrays = inputs(shape, 3)
    clean = kernel(spec.id)(*arrays.values(), num_groups=3, blocks=2)
    arrays["dy"][1, 2, 4, 3] = np.nan  # sample 1, group 1
    dirty = kernel(spec.id)(*arrays.values(), num_groups=3, blocks=2)
    assert np.isnan(dirty.dx[1, 2:4]).all()
    kept = np.ones(shape, bool)
    kept[1, 2:4] = False
    np.testing.assert_array_equal(dirty.dx[kept], clean.dx[kept])
    for name in ("dgamma", "dbeta"):
        assert np.isnan(dirty[name]).tolist() == [False, False, True, False, False, False]
        np.testing.assert_array_equal(np.delete(dirty[name], 2), np.delete(clean[name], 2))


def test_two_stages_read_a_third_less_than_three_passes() -> None:
    arrays = inputs((4, 8, 40, 40), 4)
    tallies = [kernel(spec.id)(*arrays.values(), num_groups=4).tally for spec in OP.kernels[:4]]
    assert tallies[0].scalar > 100 * tallies[1].scalar
    assert tallies[2].bytes_in < 0.67 * tallies[1].bytes_in
    assert tallies[3].bytes_in < tallies[2].bytes_in


SHAPE = {"N": 2, "C": 8, "S": 5, "G": 4, "cores": 40, "mask": 7, "dtype": 0}
REFUSED = [
    ({"G": 3}, "C must be divisible by num_groups"),
    ({"G": 0}, "num_groups must be positive"),
    ({"G": -2}, "num_groups must be positive"),
    ({"N": -1}, "a dimension of x is negative"),
    ({"C": 0}, "x has no channels"),
    ({"S": 0}, "a spatial axis of x has length 0"),
    ({"cores": 0}, "the number of cores must be positive"),
    ({"C": 4, "S": 2**31}, "more than 2147483647 elements"),
    ({"C": 2**16, "G": 1, "S": 2**16}, "more than 2147483647 elements"),
    ({"N": 2**30, "S": 1}, "more than 2147483647 groups"),
    ({"N": 2**27}, "more than 268435455 channels of samples"),
]


@pytest.mark.parametrize("spec", [RUNGS[0], *RUNGS[4:]])
@pytest.mark.parametrize(("symbols", "why"), REFUSED, ids=lambda one: one if isinstance(one, str) else "")
def test_the_host_refuses_with_a_reason(spec: KernelSpec, symbols: dict[str, int], why: str) -> None:
    tiling = load_tiling(OP.tiling_of(spec))
    tiling(SHAPE)
    with pytest.raises(ArgumentError, match=why):
        tiling({**SHAPE, **symbols})


def test_a_call_that_does_not_fit_is_refused_before_anything_runs() -> None:
    arrays = inputs((2, 8, 5), 4)
    run = kernel("group_norm_backward/scalar")
    with pytest.raises(ArgumentError, match=r"'mean' has shape \(2, 4\), but G is 2 because 'num_groups' is 2"):
        run(*arrays.values(), num_groups=2)
    with pytest.raises(ArgumentError, match=r"'x' has shape \(2, 8, 4\), but S"):
        run(arrays["dy"], arrays["x"][:, :, :4], *list(arrays.values())[2:], num_groups=4)
    with pytest.raises(ArgumentError, match="'rstd' is float16; it must be float32"):
        run(*list(arrays.values())[:3], arrays["rstd"].astype(np.float16), num_groups=4)
    with pytest.raises(ArgumentError, match="this step writes all three gradients"):
        run(*arrays.values(), num_groups=4, output_mask=(True, False, True))
    with pytest.raises(ArgumentError, match=r"'output_mask' is \(True, 1, True\); 3 booleans are needed"):
        run(*arrays.values(), num_groups=4, output_mask=(True, 1, True))
