"""Linear with GELU as its epilogue: numbers, shapes, masks, cores, the bits of Linear, how near to the two launches."""

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
from gn_tutorial.reference import gelu, gelu_backward, linear, linear_gelu, linear_gelu_backward

OP, SPEC = find_kernel("linear_gelu")
BACK_OP, BACK_SPEC = find_kernel("linear_gelu_backward")
FUSED, BACKWARD, LINEAR = kernel(SPEC.id), kernel(BACK_SPEC.id), kernel("linear/lanes")
DTYPES = sorted(STANDARDS)
FORMS = ("none", "tanh")
#: (R, K, O): one of each; tails of 64, 128 and 256 columns, of 16 and 32 features, of 8 and 32 rows; nothing to add up.
SHAPES = [(1, 1, 1), (5, 70, 33), (9, 257, 17), (33, 129, 65), (70, 5, 3), (3, 0, 5), (0, 4, 5), (4, 5, 0)]


def arrays_of(r: int, k: int, o: int, dtype: str = "float32", seed: int = 4) -> dict[str, np.ndarray]:
    """All inputs of both operators. Every row has a mean of its own; most pre-activations are between -6 and 6."""
    rng = np.random.default_rng(seed)
    shapes = {"dy": (r, o), "preactivation": (r, o), "x": (r, k), "weight": (o, k), "bias": (o,)}
    made = {}
    for name, shape in shapes.items():
        array = random_inputs.random_array(rng, shape, "float32")
        array = array + 0.3 * np.sin(np.arange(len(array))).reshape(-1, *[1] * (array.ndim - 1))
        scale = 2.0 if name == "preactivation" else k**-0.5 if name == "weight" and k else 1.0
        made[name] = (array * scale).astype(as_dtype(dtype))
    return made


def forward_of(arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [arrays[name] for name in ("x", "weight", "bias")]


def backward_of(arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [arrays[name] for name in ("dy", "preactivation", "x", "weight")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers(shape: tuple[int, int, int], dtype: str, form: str) -> None:
    arrays = arrays_of(*shape, dtype)
    result = FUSED(*forward_of(arrays), approximate=form, blocks=7)
    back = BACKWARD(*backward_of(arrays), approximate=form, blocks=7)
    assert result.diagnostics == back.diagnostics == ()
    comparison = result.compare(linear_gelu(*forward_of(arrays), form)._asdict(), SPEC.tolerance)
    assert comparison.ok, comparison
    comparison = back.compare(linear_gelu_backward(*backward_of(arrays), form)._asdict(), BACK_SPEC.tolerance)
    assert comparison.ok, comparison


def test_the_forms_differ_by_more_than_the_tolerance() -> None:
    arrays = arrays_of(33, 129, 65)
    result, back = FUSED(*forward_of(arrays)), BACKWARD(*backward_of(arrays))
    assert not result.compare(linear_gelu(*forward_of(arrays), "tanh")._asdict(), SPEC.tolerance).ok
    assert not back.compare(linear_gelu_backward(*backward_of(arrays), "tanh")._asdict(), BACK_SPEC.tolerance).ok


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard(dtype: str, form: str) -> None:
    """Against the same in float32 by NumPy, as in test_linear.py.

    Pre-activations above -3: the standard's mean is of relative errors, and GELU of -5 is a half without digits.
    """
    arrays = arrays_of(70, 500, 50, dtype)
    arrays["weight"] = (arrays["weight"] * 0.2).astype(as_dtype(dtype))
    arrays["bias"] = np.abs(arrays["bias"])
    x, weight, bias = (array.astype(np.float32) for array in forward_of(arrays))
    other = gelu(x @ weight.T + bias, form).astype(np.float32).astype(as_dtype(dtype))
    found = accuracy(FUSED(*forward_of(arrays), approximate=form).y, gelu(linear(*forward_of(arrays)), form), other)
    assert found.ok, found
    through = gelu_backward(arrays["dy"], arrays["preactivation"], form).astype(np.float32)
    others = through @ weight, through.T @ x, through.sum(axis=0)
    back = BACKWARD(*backward_of(arrays), approximate=form)
    truths = linear_gelu_backward(*backward_of(arrays), form)
    for (name, array), golden, other in zip(back.outputs.items(), truths, others, strict=True):
        found = accuracy(array, golden, other.astype(as_dtype(dtype)))
        assert found.ok, f"{name}: {found}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_saved_has_the_bits_of_linear_and_costs_its_bytes(dtype: str) -> None:
    arrays = arrays_of(37, 300, 70, dtype)
    both, alone = FUSED(*forward_of(arrays)), LINEAR(*forward_of(arrays))
    np.testing.assert_array_equal(both.preactivation, alone.y)
    some = {mask: FUSED(*forward_of(arrays), output_mask=list(mask)) for mask in ((True, False), (False, True))}
    np.testing.assert_array_equal(some[True, False].y, both.y)
    np.testing.assert_array_equal(some[False, True].preactivation, both.preactivation)
    assert some[True, False].preactivation.shape == some[False, True].y.shape == (0,)
    assert both.tally.bytes_out == 2 * alone.y.nbytes
    assert some[True, False].tally.bytes_out == some[False, True].tally.bytes_out == alone.y.nbytes
    assert both.tally.bytes_in == alone.tally.bytes_in
    nothing = FUSED(*forward_of(arrays), output_mask=[False, False])
    assert (nothing.diagnostics, nothing.tally.bytes_out) == ((), 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_neither_cores_nor_late_copies_change_a_bit(dtype: str) -> None:
    arrays = arrays_of(37, 300, 70, dtype)
    forward, backward = FUSED(*forward_of(arrays)), BACKWARD(*backward_of(arrays))
    strict = TwinOptions(delayed_dma=True, auto_sync="off")
    for changed in ({"blocks": 1}, {"blocks": 5}, {"options": strict}, {"options": TwinOptions(block_order=3)}):
        again, back = FUSED(*forward_of(arrays), **changed), BACKWARD(*backward_of(arrays), **changed)
        assert again.diagnostics == back.diagnostics == ()
        for one, other in ((again, forward), (back, backward)):
            for name, array in one.outputs.items():
                np.testing.assert_array_equal(array, other.outputs[name])


MASKS = [[bool(bits & 1), bool(bits & 2), bool(bits & 4)] for bits in range(8)]


@settings(max_examples=examples(25), deadline=None)
@given(
    r=st.integers(0, 40),
    k=st.one_of(st.integers(0, 70), st.integers(120, 300)),
    o=st.integers(0, 80),
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
    form=st.sampled_from(FORMS),
    mask=st.sampled_from(MASKS),
)
@example(r=33, k=0, o=57, blocks=1, dtype="float32", form="none", mask=[False, False, True])  # db alone
def test_every_shape(r: int, k: int, o: int, blocks: int, dtype: str, form: str, mask: list[bool]) -> None:
    arrays = arrays_of(r, k, o, dtype, seed=r + k + o)
    how = {"approximate": form, "blocks": blocks, "options": TwinOptions(delayed_dma=True, auto_sync="off")}
    result = FUSED(*forward_of(arrays), output_mask=mask[:2], **how)
    back = BACKWARD(*backward_of(arrays), output_mask=mask, **how)
    assert result.diagnostics == back.diagnostics == ()
    for found, op, spec, names, wanted in (
        (result, OP, SPEC, ("x", "weight", "bias"), mask[:2]),
        (back, BACK_OP, BACK_SPEC, ("dy", "preactivation", "x", "weight"), mask),
    ):
        given_ = {name: arrays[name] for name in names}
        truth = random_inputs.expected(op, given_, {"approximate": form, "output_mask": wanted})
        comparison = found.compare(truth, spec.tolerance)
        assert comparison.ok, comparison


def test_what_is_not_a_number_stays_in_its_row() -> None:
    arrays = arrays_of(9, 70, 18)
    clean, slopes = FUSED(*forward_of(arrays)), BACKWARD(*backward_of(arrays))
    arrays["x"][4, 66] = arrays["preactivation"][2, 17] = np.nan
    dirty = FUSED(*forward_of(arrays))
    assert np.isnan(dirty.y[4]).all()
    np.testing.assert_array_equal(np.delete(dirty.y, 4, axis=0), np.delete(clean.y, 4, axis=0))
    arrays["x"][4, 66] = 0
    back = BACKWARD(*backward_of(arrays))
    assert np.isnan(back.dx[2]).all()
    np.testing.assert_array_equal(np.delete(back.dx, 2, axis=0), np.delete(slopes.dx, 2, axis=0))
    assert np.argwhere(np.isnan(back.dbias)).tolist() == [[17]]


def test_saturated_pre_activations() -> None:
    """Far above zero the gradients are Linear's, far below they are zeros; nothing overflows on the way."""
    arrays = arrays_of(6, 40, 20)
    for form in FORMS:
        for value, share in ((60.0, 1.0), (3e38, 1.0), (-60.0, 0.0), (-3e38, 0.0)):
            arrays["preactivation"][:] = value
            back = BACKWARD(*backward_of(arrays), approximate=form)
            expected = share * arrays["dy"].astype(np.float64) @ arrays["weight"]
            np.testing.assert_allclose(back.dx, expected, rtol=1e-5, atol=1e-5)


def test_more_axes_are_more_rows() -> None:
    arrays = arrays_of(24, 33, 10)
    x = arrays["x"].reshape(2, 3, 4, 33)
    flat = FUSED(*forward_of(arrays))
    made = FUSED(x, arrays["weight"], arrays["bias"])
    assert made.y.shape == made.preactivation.shape == (2, 3, 4, 10)
    np.testing.assert_array_equal(made.y.reshape(24, 10), flat.y)
    assert BACKWARD(made.y, made.preactivation, x, arrays["weight"]).dx.shape == x.shape
    np.testing.assert_array_equal(FUSED(arrays["x"], arrays["weight"]).y, FUSED(x, arrays["weight"]).y.reshape(24, 10))


def test_refusals() -> None:
    x, weight, dy = np.zeros((4, 6), np.float32), np.zeros((5, 6), np.float32), np.zeros((4, 5), np.float32)
    with pytest.raises(ArgumentError, match="'weight' has shape"):
        FUSED(x, weight[:, :5])
    with pytest.raises(ArgumentError, match="'approximate' must be 'none' or 'tanh', not 'erf'"):
        FUSED(x, weight, approximate="erf")
    with pytest.raises(ArgumentError, match="2 booleans are needed"):
        FUSED(x, weight, output_mask=[True])
    with pytest.raises(ArgumentError, match="'preactivation' has shape"):
        BACKWARD(dy, dy[:3], x, weight)
    with pytest.raises(ArgumentError, match="'preactivation' is float16, but 'dy' is float32"):
        BACKWARD(dy, dy.astype(np.float16), x, weight)


def test_the_references() -> None:
    """The forward one is GELU of Linear; the backward one is its slope."""
    rng = np.random.default_rng(2)
    x, weight, bias = rng.normal(0.3, 1, (2, 3, 4)), rng.normal(-0.2, 1, (5, 4)), rng.normal(0.7, 1, 5)
    dy = rng.normal(0.1, 1, (2, 3, 5))
    for form in FORMS:
        made = linear_gelu(x, weight, bias, form)
        np.testing.assert_array_equal(made.y, gelu(x @ weight.T + bias, form))
        found = linear_gelu_backward(dy, made.preactivation, x, weight, form)
        for array, gradient in zip((x, weight, bias), found, strict=True):
            for place in np.ndindex(array.shape):
                sides = []
                for step in (1e-6, -1e-6):
                    kept = array[place]
                    array[place] += step
                    sides.append((dy * linear_gelu(x, weight, bias, form).y).sum())
                    array[place] = kept
                assert (sides[0] - sides[1]) / 2e-6 == pytest.approx(gradient[place], rel=1e-6, abs=1e-7)
    assert linear_gelu(x, weight, output_mask=(True, False)).preactivation is None
    with pytest.raises(ArgumentError, match="preactivation has shape"):
        linear_gelu_backward(dy, dy[:1], x, weight)
    with pytest.raises(ArgumentError, match="x has shape"):
        linear_gelu(x, weight[:, :3])
