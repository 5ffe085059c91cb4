"""Kernels of one or a few formulas, element by element: sum, product, ReLU, and the fusions made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial import reference
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel

OPERATORS = [
    "elementwise_add", "elementwise_mul", "elementwise_relu",
    "add_relu", "add_relu_backward", "swiglu", "swiglu_backward", "silu_backward",
]  # fmt: skip
DTYPES = sorted(STANDARDS)
LENGTHS = st.one_of(st.integers(0, 70), st.integers(1780, 1800), st.integers(3830, 4110), st.integers(8000, 20_000))


@settings(max_examples=examples(40), deadline=None)
@given(
    name=st.sampled_from(OPERATORS),
    size=LENGTHS,
    blocks=st.integers(1, 40),
    dtype=st.sampled_from(DTYPES),
    late=st.booleans(),
)
@example(name="swiglu_backward", size=1793, blocks=1, dtype="float32", late=True)
@example(name="add_relu_backward", size=1, blocks=40, dtype="bfloat16", late=True)
def test_every_length(name: str, size: int, blocks: int, dtype: str, late: bool) -> None:
    op, spec = find_kernel(name)
    arrays = random_inputs.inputs(op, (size,), seed=size, dtype=dtype)
    options = TwinOptions(delayed_dma=late, auto_sync="off")
    result = kernel(spec.id)(*arrays.values(), blocks=blocks, options=options)
    assert result.diagnostics == ()
    comparison = result.compare(random_inputs.expected(op, arrays, {}), spec.tolerance)
    assert comparison.ok, comparison


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATORS)
def test_the_accuracy_standard(name: str, dtype: str) -> None:
    op, spec = find_kernel(name)
    arrays = random_inputs.inputs(op, (300, 100), seed=5, dtype=dtype)
    result = kernel(spec.id)(*arrays.values())
    for output, truth in random_inputs.expected(op, arrays, {}).items():
        # silu' crosses zero: there somebody else's misses, who computes in float32 too, are the measure.
        other = None
        if name in ("swiglu_backward", "silu_backward"):
            dz, x, *up = (one.astype(np.float32) for one in arrays.values())
            other = plain_swiglu_backward(dz, x, *(up or [np.ones_like(x)]))[output if up else "dgate"]
            other = other.astype(as_dtype(dtype))
        found = accuracy(result.outputs[output], truth, other)
        assert found.ok, found


def plain_swiglu_backward(dz: np.ndarray, gate: np.ndarray, up: np.ndarray) -> dict[str, np.ndarray]:
    """As the formula is printed, in float32."""
    s = 1 / (1 + np.exp(-gate))
    return {"dgate": dz * up * (s + gate * s * (1 - s)), "dup": dz * (gate * s)}


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_finite_number_gives_nan(dtype: str) -> None:
    ends = np.array([0.0, 1e-45, 1e-40, 1e-8, 1.28, 10, 88.5, 89, 104, 250, 65504, 1e12, 1e19, 3e38])
    with np.errstate(over="ignore"):
        gate = np.concatenate([ends, -ends]).astype(as_dtype(dtype))
    gate = gate[np.isfinite(gate.astype(np.float64))]
    ones = np.full_like(gate, 1.5)
    z = kernel("swiglu")(gate, ones).z.astype(np.float64)
    gradients = kernel("swiglu_backward")(ones, gate, ones)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(z, reference.swiglu(gate, ones).astype(as_dtype(dtype)), rtol=4e-3, atol=1e-35)
    large = np.abs(gate.astype(np.float64)) > 110
    slope = gradients.dgate.astype(np.float64)
    np.testing.assert_array_equal(slope[large], np.where(gate[large] > 0, 2.25, 0.0))
    assert not np.isnan(gradients.dup.astype(np.float64)).any()


def test_infinite_gradients_pass_where_the_result_is_positive_only() -> None:
    dz = np.array([np.inf, -np.inf, np.inf, 2.0, 3.0], np.float32)
    z = np.array([1.0, 2.5e-45, 0.0, np.inf, 0.0], np.float32)
    np.testing.assert_array_equal(kernel("add_relu_backward")(dz, z).dx, [np.inf, -np.inf, 0.0, 2.0, 0.0])


def test_a_fusion_does_not_round_what_stays_on_the_core() -> None:
    """1 + 2^-12 is no half: added alone it becomes 1, and the product with 2^12 would lose what the chain keeps."""
    x, y = np.full(40, 1, np.float16), np.full(40, -1 - 2.0**-10, np.float16)
    fused = kernel("add_relu")(-x, -y).z
    np.testing.assert_array_equal(fused, np.full(40, 2.0**-10, np.float16))
    gate, up = np.full(64, 3.01, np.float16), np.full(64, 7.03, np.float16)
    exact = reference.swiglu(gate, up)[0]
    parts = kernel("elementwise_mul")(kernel("silu")(gate).y, up).z[0]
    assert abs(float(kernel("swiglu")(gate, up).z[0]) - exact) <= abs(float(parts) - exact)


def test_refusals() -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(ArgumentError, match="'y' has shape"):
        kernel("add_relu")(x, x[:7])
    with pytest.raises(ArgumentError, match="'up' is float16, but 'gate' is float32"):
        kernel("swiglu")(x, x.astype(np.float16))
    with pytest.raises(ArgumentError, match="has float32, float16, bfloat16"):
        kernel("elementwise_mul")(x.astype(np.int32), x.astype(np.int32))


def test_references_are_the_slopes_of_the_forward_pass() -> None:
    gate, step = np.concatenate([np.linspace(-9, 7, 300), [-1.278464]]), 1e-5
    up, dz = np.linspace(-2, 3, gate.size), np.linspace(0.5, 2.5, gate.size)
    found = reference.swiglu_backward(dz, gate, up)
    slope = (reference.swiglu(gate + step, up) - reference.swiglu(gate - step, up)) / (2 * step)
    np.testing.assert_allclose(found.dgate, dz * slope, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.dup, dz * reference.silu(gate), rtol=1e-12)
    x = np.array([-1.5, 0.5, 2.0])
    np.testing.assert_array_equal(reference.add_relu_backward(x, reference.add_relu(x, x)), [0.0, 0.5, 2.0])
    with pytest.raises(ArgumentError, match="dz has shape"):
        reference.swiglu_backward(np.zeros(3), np.zeros(4), np.zeros(4))
    with pytest.raises(ArgumentError, match="nothing is broadcast"):
        reference.multiply(np.zeros(3), np.zeros((1, 3)))


def test_the_slope_of_silu_at_the_limits() -> None:
    """e^x is infinite above 88.7; the slope is 1 from 17 on, and 0 below -110."""
    x = np.array([np.nan, 3e38, 1e31, 1e5, 89.0, 42.0, 0.0, -89.0, -1e5, -3e38, np.inf, -np.inf], np.float32)
    found = kernel("silu_backward")(np.full_like(x, 2.0), x).dx
    np.testing.assert_array_equal(found[[1, 2, 3, 4, 5, 6]], np.float32([2, 2, 2, 2, 2, 1]))
    np.testing.assert_allclose(found[7:10], 0, atol=1e-35)
    assert np.isnan(found[[0, 10, 11]]).all()  # as PyTorch: infinity times 0
