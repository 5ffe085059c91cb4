"""GELU in its tanh form and its gradient: accuracy, numbers at the limits, every length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.accuracy import STANDARDS, accuracy
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.reference import gelu, gelu_backward

OP, SPEC = find_kernel("gelu")
BACK_OP, BACK_SPEC = find_kernel("gelu_backward")
GELU, BACKWARD = kernel(SPEC.id), kernel(BACK_SPEC.id)
DTYPES = sorted(STANDARDS)
ROOT = math.sqrt(2 / math.pi)


def tanh_form(x: np.ndarray) -> np.ndarray:
    """As the formula is printed, in the precision of ``x``: what a plain implementation reaches."""
    root, cubic = x.dtype.type(ROOT), x.dtype.type(0.044715)
    with np.errstate(over="ignore"):
        return x.dtype.type(0.5) * x * (1 + np.tanh(root * (x + cubic * x * x * x)))


def tanh_form_backward(dy: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same for the gradient."""
    root, cubic, half = x.dtype.type(ROOT), x.dtype.type(0.044715), x.dtype.type(0.5)
    t = np.tanh(root * (x + cubic * x * x * x))
    return dy * (half * (1 + t) + half * x * (1 - t * t) * root * (1 + 3 * cubic * x * x))


def spread(dtype: str, size: int = 30_000) -> np.ndarray:
    """Numbers of every size that matters, more below zero than above."""
    rng = np.random.default_rng(size)
    # Where a half is subnormal, a relative error says nothing.
    least = -3 if dtype == "float16" else -20
    lowest = -3.5 if dtype == "float16" else -12
    parts = [rng.normal(-0.4, 0.9, size), rng.uniform(lowest, 11, size), 10.0 ** rng.uniform(least, 1, size)]
    x = np.concatenate([*parts, -parts[2]])
    return rng.permutation(x).astype(as_dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard(dtype: str) -> None:
    x = spread(dtype)
    result = GELU(x, blocks=5)
    assert result.diagnostics == ()
    assert result.y.dtype == as_dtype(dtype)
    truth = gelu(x)
    comparison = result.compare({"y": truth}, SPEC.tolerance)
    assert comparison.ok, comparison
    # No other implementation is asked for help, not even near zero.
    found = accuracy(result.y, truth)
    assert found.ok, found
    assert dtype != "float32" or found.mare_all < 1e-4


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard_of_the_gradient(dtype: str) -> None:
    x = spread(dtype)
    dy = random_inputs.inputs(BACK_OP, x.shape, seed=2, dtype=dtype)["dy"]
    result = BACKWARD(dy, x, blocks=5)
    assert result.diagnostics == ()
    truth = gelu_backward(dy, x)
    comparison = result.compare({"dx": truth}, BACK_SPEC.tolerance)
    assert comparison.ok, comparison
    # The gradient crosses zero, so that somebody else's misses there are the measure.
    other = tanh_form_backward(dy.astype(np.float32), x.astype(np.float32)).astype(as_dtype(dtype))
    found = accuracy(result.dx, truth, other)
    assert found.ok, found


def test_the_printed_formula_loses_its_digits_below_zero() -> None:
    """Why the kernel does not take it: at -5 its error is the size of the result, by the standard."""
    x = np.linspace(-5.5, -4.5, 1000, dtype=np.float32)
    assert not accuracy(tanh_form(x), gelu(x)).ok
    assert accuracy(GELU(x).y, gelu(x)).ok


#: Where squares, cubes and exponentials leave what a float holds, and the ends of each dtype.
SMALL_ENDS = [0.0, 1e-45, 1e-40, 1.2e-38, 1e-8, 9.9, 10.05, 10.3, 11, 31.9, 33, 250]
ENDS = [*SMALL_ENDS, 65504, 1e12, 1.3e19, 1.9e19, 3e25, 3.38e38]


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_finite_number_gives_infinity_or_nan(dtype: str) -> None:
    with np.errstate(over="ignore"):
        x = np.array([*ENDS, *(-end for end in ENDS)]).astype(as_dtype(dtype))
    x = x[np.isfinite(x.astype(np.float64))]
    y, dx = GELU(x).y, BACKWARD(np.full_like(x, 1.5), x).dx
    assert np.isfinite(y.astype(np.float64)).all()
    assert np.isfinite(dx.astype(np.float64)).all()
    assert accuracy(y, gelu(x)).ok
    assert accuracy(dx, gelu_backward(np.full_like(x, 1.5), x)).ok
    large = np.abs(x.astype(np.float64)) > 20
    np.testing.assert_array_equal(y[large], np.maximum(x[large], as_dtype(dtype).type(0)))
    np.testing.assert_array_equal(dx[large], np.where(x[large] > 0, 1.5, 0).astype(as_dtype(dtype)))


def test_subnormal_numbers_keep_their_digits() -> None:
    """y is x/2 there: half of the smallest steps, which rounds to even where it is between two of them."""
    x = (np.arange(-300, 300) * 2.0**-149).astype(np.float32)
    np.testing.assert_array_equal(GELU(x).y, (x.astype(np.float64) / 2).astype(np.float32))
    half = (np.arange(-300, 300) * 2.0**-24).astype(np.float16)
    np.testing.assert_array_equal(GELU(half).y, gelu(half).astype(np.float16))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite_stays_at_its_place(dtype: str) -> None:
    x = np.linspace(-3, 3, 70).astype(as_dtype(dtype))
    dy = np.linspace(1, 2, 70).astype(as_dtype(dtype))
    clean, clean_back = GELU(x).y, BACKWARD(dy, x).dx
    places = [5, 33, 69]
    x[places] = np.inf, -np.inf, np.nan
    dirty, dirty_back = GELU(x).y.astype(np.float32), BACKWARD(dy, x).dx.astype(np.float32)
    # As in PyTorch: gelu(inf) is inf, gelu(-inf) is -inf * 0, and so is the gradient of both.
    np.testing.assert_array_equal(dirty[places], [np.inf, np.nan, np.nan])
    assert np.isnan(dirty_back[places]).all()
    kept = np.delete(np.arange(70), places)
    np.testing.assert_array_equal(dirty[kept], clean[kept].astype(np.float32))
    np.testing.assert_array_equal(dirty_back[kept], clean_back[kept].astype(np.float32))


LENGTHS = st.one_of(st.integers(0, 70), st.integers(4090, 4110), st.integers(8000, 20_000))


@settings(max_examples=25, deadline=None)
@given(size=LENGTHS, blocks=st.integers(1, 40), dtype=st.sampled_from(DTYPES), late=st.booleans())
@example(size=0, blocks=3, dtype="float16", late=False)
@example(size=1, blocks=40, dtype="bfloat16", late=True)
def test_every_length(size: int, blocks: int, dtype: str, late: bool) -> None:
    arrays = random_inputs.inputs(BACK_OP, (size,), seed=size, dtype=dtype)
    options = TwinOptions(delayed_dma=late, auto_sync="off")
    forward = GELU(arrays["x"], blocks=blocks, options=options)
    backward = BACKWARD(*arrays.values(), blocks=blocks, options=options)
    assert forward.diagnostics == backward.diagnostics == ()
    for result, spec, truth in (
        (forward, SPEC, {"y": gelu(arrays["x"])}),
        (backward, BACK_SPEC, {"dx": gelu_backward(**arrays)}),
    ):
        comparison = result.compare(truth, spec.tolerance)
        assert comparison.ok, comparison


def test_any_shape_comes_back_as_it_went_in() -> None:
    x = np.linspace(-2, 3, 2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    assert GELU(x).y.shape == BACKWARD(x, x).dx.shape == x.shape
    assert GELU(x[:0]).y.shape == (0, 3, 5)
    np.testing.assert_array_equal(GELU(np.array(0.7, np.float32)).y, GELU(np.array([0.7], np.float32)).y[0])


def test_refusals() -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(ArgumentError, match="has float32, float16, bfloat16"):
        GELU(x.astype(np.int32))
    with pytest.raises(ArgumentError, match="'x' has shape"):
        BACKWARD(x, x[:7])
    with pytest.raises(ArgumentError, match="'x' is float16, but 'dy' is float32"):
        BACKWARD(x, x.astype(np.float16))


def test_the_reference_is_the_printed_formula() -> None:
    x = np.linspace(-4, 6, 401)
    np.testing.assert_allclose(gelu(x), tanh_form(x), rtol=1e-9, atol=1e-15)
    # Digits that the printed formula does not have: with e^2u in place of 1 + tanh(u), where that is nearly 0.
    u = ROOT * (-9 + 0.044715 * -(9.0**3))
    np.testing.assert_allclose(gelu(-9.0), -9 * math.exp(2 * u), rtol=1e-12)
    with pytest.raises(ArgumentError, match="real numbers are needed"):
        gelu(np.zeros(2, complex))


def test_the_reference_of_the_gradient_is_the_slope_of_the_forward_pass() -> None:
    x = np.concatenate([np.linspace(-8, 6, 281), [-0.752461]])
    dy = np.linspace(0.5, 2.5, x.size)
    step = 1e-5
    numerical = (gelu(x + step) - gelu(x - step)) / (2 * step)
    np.testing.assert_allclose(gelu_backward(dy, x), dy * numerical, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(gelu_backward(dy, x), tanh_form_backward(dy, x), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(gelu_backward([1.0, 1.0], [-1e300, 1e300]), [0.0, 1.0])
    with pytest.raises(ArgumentError, match="dy has shape"):
        gelu_backward(np.zeros(3), np.zeros(4))
