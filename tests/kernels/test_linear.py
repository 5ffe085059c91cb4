"""Linear and its three gradients on the vector unit: numbers, any shape, masks, cores, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.reference import linear, linear_backward
from gn_tutorial.timing.machine import default_cores

OP, SPEC = find_kernel("linear")
BACK_OP, BACK_SPEC = find_kernel("linear_backward")
LINEAR, BACKWARD = kernel(SPEC.id), kernel(BACK_SPEC.id)
DTYPES = sorted(STANDARDS)
ALL = [True, True, True]
#: (R, K, O): one of each; tails of 64, 128 and 256 columns, of 16 and 32 features, of 8 and 32 rows; nothing to add up.
SHAPES = [
    (1, 1, 1),
    (8, 64, 16),
    (5, 70, 33),
    (37, 300, 70),
    (9, 257, 17),
    (33, 129, 65),
    (130, 513, 3),
    (1, 2000, 41),
    (3, 0, 5),
    (0, 4, 5),
    (4, 5, 0),
]


def arrays_of(r: int, k: int, o: int, dtype: str = "float32", seed: int = 4) -> dict[str, np.ndarray]:
    """dy, x, weight and bias; every column and every row has a mean and a spread of its own."""
    rng = np.random.default_rng(seed)
    shapes = {"dy": (r, o), "x": (r, k), "weight": (o, k), "bias": (o,)}
    made = {name: random_inputs.random_array(rng, shape, "float32") for name, shape in shapes.items()}
    made = {
        name: array + 0.1 * np.arange(len(array)).reshape(-1, *[1] * (array.ndim - 1)) for name, array in made.items()
    }
    return {name: array.astype(as_dtype(dtype)) for name, array in made.items()}


def forward_of(arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [arrays[name] for name in ("x", "weight", "bias")]


def backward_of(arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [arrays[name] for name in ("dy", "x", "weight")]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers(shape: tuple[int, int, int], dtype: str) -> None:
    arrays = arrays_of(*shape, dtype)
    result = LINEAR(*forward_of(arrays), blocks=7)
    assert result.diagnostics == ()
    comparison = result.compare({"y": linear(*forward_of(arrays))}, SPEC.tolerance)
    assert comparison.ok, comparison
    back = BACKWARD(*backward_of(arrays), blocks=7)
    assert back.diagnostics == ()
    comparison = back.compare(linear_backward(*backward_of(arrays)), BACK_SPEC.tolerance)
    assert comparison.ok, comparison


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard(dtype: str) -> None:
    arrays = arrays_of(70, 1000, 50, dtype)
    truth = linear(*forward_of(arrays))
    x, weight, bias = (array.astype(np.float32) for array in forward_of(arrays))
    found = accuracy(LINEAR(*forward_of(arrays)).y, truth, (x @ weight.T + bias).astype(as_dtype(dtype)))
    assert found.ok, found
    dy = arrays["dy"].astype(np.float32)
    others = dy @ weight, dy.T @ x, dy.sum(axis=0)
    back = BACKWARD(*backward_of(arrays))
    truths = linear_backward(*backward_of(arrays))
    for (name, array), golden, other in zip(back.outputs.items(), truths, others, strict=True):
        found = accuracy(array, golden, other.astype(as_dtype(dtype)))
        assert found.ok, f"{name}: {found}"


def test_a_bias_is_added_and_one_left_out_is_zero() -> None:
    """Compared with a reference that has the bias, and unlike one that has not."""
    arrays = arrays_of(6, 40, 19)
    x, weight, bias = forward_of(arrays)
    with_bias, without = LINEAR(x, weight, bias), LINEAR(x, weight)
    assert with_bias.compare({"y": linear(x, weight, bias)}, SPEC.tolerance).ok
    assert without.compare({"y": linear(x, weight)}, SPEC.tolerance).ok
    assert not with_bias.compare({"y": linear(x, weight)}, SPEC.tolerance).ok
    np.testing.assert_array_equal(LINEAR(x, 0 * weight, bias).y, np.broadcast_to(bias, (6, 19)))


def test_a_long_sum_keeps_its_digits() -> None:
    """Positive terms only: after 70,000 of them a plain float sum has lost three digits."""
    rng = np.random.default_rng(1)
    x, weight = (rng.uniform(0.5, 1.5, (2, 70_000)).astype(np.float32) for _ in range(2))
    dy = rng.uniform(0.5, 1.5, (70_000, 3)).astype(np.float32)
    np.testing.assert_allclose(LINEAR(x, weight).y, linear(x, weight), rtol=4e-6)
    tall = np.ascontiguousarray(x.T)
    truth = linear_backward(dy, tall, np.zeros((3, 2)))
    found = BACKWARD(dy, tall, np.zeros((3, 2), np.float32), output_mask=[False, True, True])
    np.testing.assert_allclose(found.dweight, truth.dweight, rtol=4e-6)
    np.testing.assert_allclose(found.dbias, truth.dbias, rtol=4e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_neither_cores_nor_late_copies_change_a_bit(dtype: str) -> None:
    arrays = arrays_of(37, 300, 70, dtype)
    forward, backward = LINEAR(*forward_of(arrays)), BACKWARD(*backward_of(arrays))
    strict = TwinOptions(delayed_dma=True, auto_sync="off")
    for changed in ({"blocks": 1}, {"blocks": 5}, {"options": strict}, {"options": TwinOptions(block_order=3)}):
        again, back = LINEAR(*forward_of(arrays), **changed), BACKWARD(*backward_of(arrays), **changed)
        assert again.diagnostics == back.diagnostics == ()
        np.testing.assert_array_equal(again.y, forward.y)
        for name, array in backward.outputs.items():
            np.testing.assert_array_equal(back.outputs[name], array)


def test_a_row_does_not_depend_on_its_batch() -> None:
    arrays = arrays_of(37, 300, 70)
    x, weight, bias = forward_of(arrays)
    whole = LINEAR(x, weight, bias).y
    for row in (0, 8, 36):
        np.testing.assert_array_equal(LINEAR(x[row], weight, bias).y, whole[row])


MASKS = [[bool(bits & 1), bool(bits & 2), bool(bits & 4)] for bits in range(8)]


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("shape", [(9, 150, 33), (0, 4, 5), (3, 0, 5)], ids=str)
def test_what_is_not_asked_for_is_not_there(shape: tuple[int, int, int], mask: list[bool]) -> None:
    arrays = arrays_of(*shape)
    everything = BACKWARD(*backward_of(arrays)).outputs
    some = BACKWARD(*backward_of(arrays), output_mask=mask)
    assert some.diagnostics == ()
    for wanted, (name, array) in zip(mask, some.outputs.items(), strict=True):
        if wanted:
            np.testing.assert_array_equal(array, everything[name])
        else:
            assert array.shape == (0,)
    if not mask[0] and not mask[1] and shape[0]:
        assert some.tally.bytes_in <= arrays["dy"].nbytes  # neither x nor weight is read


@settings(max_examples=examples(30), deadline=None)
@given(
    r=st.integers(0, 40),
    k=st.one_of(st.integers(0, 70), st.integers(120, 300)),
    o=st.integers(0, 80),
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
    mask=st.sampled_from(MASKS),
)
@example(r=33, k=0, o=57, blocks=1, dtype="float32", mask=[False, True, False])  # dW without a column: nothing to do
def test_every_shape(r: int, k: int, o: int, blocks: int, dtype: str, mask: list[bool]) -> None:
    arrays = arrays_of(r, k, o, dtype, seed=r + k + o)
    options = TwinOptions(delayed_dma=True, auto_sync="off")
    result = LINEAR(*forward_of(arrays), blocks=blocks, options=options)
    back = BACKWARD(*backward_of(arrays), blocks=blocks, options=options, output_mask=mask)
    assert result.diagnostics == back.diagnostics == ()
    comparison = result.compare({"y": linear(*forward_of(arrays))}, SPEC.tolerance)
    assert comparison.ok, comparison
    truth = random_inputs.expected(BACK_OP, {n: arrays[n] for n in ("dy", "x", "weight")}, {"output_mask": mask})
    comparison = back.compare(truth, BACK_SPEC.tolerance)
    assert comparison.ok, comparison


def test_every_core_has_work_and_none_much_more() -> None:
    for shape in ((64, 100, 64), (1, 4096, 1000), (8, 64, 16)):
        r, k, o = shape
        made = LINEAR.tiling(np.zeros((r, k), np.float32), np.zeros((o, k), np.float32))
        units = -(-r // made["rowTile"]) * made["outBlocks"]
        assert made["usedCores"] == min(units, default_cores())
        assert made["unitsPerCore"] * made["usedCores"] + made["extraUnits"] == units
        assert units >= default_cores() or (made["rowTile"], made["outTile"]) == (1, 16)


def test_more_axes_are_more_rows() -> None:
    arrays = arrays_of(24, 33, 10)
    x = arrays["x"].reshape(2, 3, 4, 33)
    flat = LINEAR(*forward_of(arrays)).y
    y = LINEAR(x, arrays["weight"], arrays["bias"]).y
    assert y.shape == (2, 3, 4, 10)
    np.testing.assert_array_equal(y.reshape(24, 10), flat)
    assert BACKWARD(y, x, arrays["weight"]).dx.shape == x.shape


def test_what_is_not_a_number_stays_in_its_row() -> None:
    arrays = arrays_of(9, 70, 18)
    clean = LINEAR(*forward_of(arrays)).y
    arrays["x"][4, 66] = np.nan
    dirty = LINEAR(*forward_of(arrays)).y
    assert np.isnan(dirty[4]).all()
    np.testing.assert_array_equal(np.delete(dirty, 4, axis=0), np.delete(clean, 4, axis=0))
    back = BACKWARD(*backward_of(arrays))
    assert np.isnan(back.dweight[:, 66]).all()
    assert np.isfinite(np.delete(back.dweight, 66, axis=1)).all()
    assert np.isfinite(back.dx).all()
    assert np.isfinite(back.dbias).all()


def test_refusals() -> None:
    x, weight = np.zeros((4, 6), np.float32), np.zeros((5, 6), np.float32)
    with pytest.raises(ArgumentError, match="'weight' has shape"):
        LINEAR(x, weight[:, :5])
    with pytest.raises(ArgumentError, match="'bias' has shape"):
        LINEAR(x, weight, np.zeros(6, np.float32))
    with pytest.raises(ArgumentError, match="'weight' is float16, but 'x' is float32"):
        LINEAR(x, weight.astype(np.float16))
    with pytest.raises(ArgumentError, match="'weight' has shape"):
        BACKWARD(np.zeros((4, 7), np.float32), x, weight)
    with pytest.raises(ArgumentError, match="3 booleans are needed"):
        BACKWARD(np.zeros((4, 5), np.float32), x, weight, output_mask=[True])


def test_the_reference_is_the_sum_of_products_and_its_gradients_are_slopes() -> None:
    rng = np.random.default_rng(2)
    x, weight, bias = rng.normal(0.3, 1, (2, 3, 4)), rng.normal(-0.2, 1, (5, 4)), rng.normal(0.7, 1, 5)
    dy = rng.normal(0.1, 1, (2, 3, 5))
    slow = [
        [[sum(x[a, b, k] * weight[o, k] for k in range(4)) + bias[o] for o in range(5)] for b in range(3)]
        for a in range(2)
    ]
    np.testing.assert_allclose(linear(x, weight, bias), slow, rtol=1e-12)
    found = linear_backward(dy, x, weight)
    for array, gradient in zip((x, weight, bias), found, strict=True):
        for place in np.ndindex(array.shape):
            sides = []
            for step in (1e-6, -1e-6):
                kept = array[place]
                array[place] += step
                sides.append((dy * linear(x, weight, bias)).sum())
                array[place] = kept
            assert (sides[0] - sides[1]) / 2e-6 == pytest.approx(gradient[place], rel=1e-6, abs=1e-8)
    assert linear_backward(dy, x, weight, output_mask=(False, True, False))[::2] == (None, None)
    with pytest.raises(ArgumentError, match="x has shape"):
        linear(x, weight[:, :3])
    with pytest.raises(ArgumentError, match="bias has shape"):
        linear(x, weight, bias[:4])
    with pytest.raises(ArgumentError, match="dy has shape"):
        linear_backward(dy[:1], x, weight)
    with pytest.raises(ArgumentError, match="three booleans"):
        linear_backward(dy, x, weight, output_mask=(1, 0, 1))
