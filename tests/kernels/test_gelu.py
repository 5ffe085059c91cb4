"""GELU, as defined and in its tanh form, and the gradients: accuracy, numbers at the limits, every length."""

from __future__ import annotations

import math

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
from gn_tutorial.reference import gelu, gelu_backward

OP, SPEC = find_kernel("gelu")
BACK_OP, BACK_SPEC = find_kernel("gelu_backward")
GELU, BACKWARD = kernel(SPEC.id), kernel(BACK_SPEC.id)
DTYPES = sorted(STANDARDS)
ROOT = math.sqrt(2 / math.pi)
both_forms = pytest.mark.parametrize("form", ["none", "tanh"])


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


def erf_form(x: np.ndarray) -> np.ndarray:
    """The same for GELU as it is defined."""
    return x.dtype.type(0.5) * x * (1 + _erf(x))


def erf_form_backward(dy: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same for the gradient."""
    half, density = x.dtype.type(0.5), x.dtype.type(1 / math.sqrt(2 * math.pi))
    return dy * (half * (1 + _erf(x)) + x * density * np.exp(-half * x * x))


def _erf(x: np.ndarray) -> np.ndarray:
    """erf(x / sqrt(2)), rounded once."""
    return np.frompyfunc(math.erf, 1, 1)(x.astype(np.float64) / math.sqrt(2)).astype(x.dtype)


PRINTED = {"none": erf_form, "tanh": tanh_form}
PRINTED_BACKWARD = {"none": erf_form_backward, "tanh": tanh_form_backward}


def spread(dtype: str, size: int = 30_000) -> np.ndarray:
    """Numbers of every size that matters, more below zero than above."""
    rng = np.random.default_rng(size)
    # Where a half is subnormal, a relative error says nothing.
    least = -3 if dtype == "float16" else -20
    lowest = -3.5 if dtype == "float16" else -12
    parts = [rng.normal(-0.4, 0.9, size), rng.uniform(lowest, 11, size), 10.0 ** rng.uniform(least, 1, size)]
    x = np.concatenate([*parts, -parts[2]])
    return rng.permutation(x).astype(as_dtype(dtype))


@both_forms
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard(dtype: str, form: str) -> None:
    x = spread(dtype)
    result = GELU(x, blocks=5, approximate=form)
    assert result.diagnostics == ()
    assert result.y.dtype == as_dtype(dtype)
    truth = gelu(x, form)
    comparison = result.compare({"y": truth}, SPEC.tolerance)
    assert comparison.ok, comparison
    # No other implementation is asked for help, not even near zero.
    found = accuracy(result.y, truth)
    assert found.ok, found
    assert dtype != "float32" or found.mare_all < 1e-4


@both_forms
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard_of_the_gradient(dtype: str, form: str) -> None:
    x = spread(dtype)
    dy = random_inputs.inputs(BACK_OP, x.shape, seed=2, dtype=dtype)["dy"]
    result = BACKWARD(dy, x, blocks=5, approximate=form)
    assert result.diagnostics == ()
    truth = gelu_backward(dy, x, form)
    comparison = result.compare({"dx": truth}, BACK_SPEC.tolerance)
    assert comparison.ok, comparison
    # The gradient crosses zero, so that somebody else's misses there are the measure.
    other = PRINTED_BACKWARD[form](dy.astype(np.float32), x.astype(np.float32)).astype(as_dtype(dtype))
    found = accuracy(result.dx, truth, other)
    assert found.ok, found


@both_forms
def test_the_printed_formula_loses_its_digits_below_zero(form: str) -> None:
    """Why the kernel does not take it: at -5 its error is the size of the result, by the standard."""
    x = np.linspace(-5.5, -4.5, 1000, dtype=np.float32)
    assert not accuracy(PRINTED[form](x), gelu(x, form)).ok
    assert accuracy(GELU(x, approximate=form).y, gelu(x, form)).ok


def test_the_forms_differ_by_what_is_published() -> None:
    """4.7e-4 at most, at |x| = 2.7: a kernel that took one for the other would be seen, in any tolerance here."""
    x = np.linspace(-6, 6, 4001, dtype=np.float32)
    apart = np.abs(GELU(x, approximate="none").y - GELU(x, approximate="tanh").y)
    assert 4e-4 < apart.max() < 5e-4
    assert 2.6 < abs(x[apart.argmax()]) < 2.8
    np.testing.assert_array_equal(GELU(x).y, GELU(x, approximate="none").y, "none is the default, as in PyTorch")


#: Where squares, cubes and exponentials leave what a float holds, and the ends of each dtype.
SMALL_ENDS = [0.0, 1e-45, 1e-40, 1.2e-38, 1e-8, 9.9, 10.05, 10.3, 11, 31.9, 33, 250]
ENDS = [*SMALL_ENDS, 65504, 1e12, 1.3e19, 1.9e19, 3e25, 3.38e38]


@both_forms
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_finite_number_gives_infinity_or_nan(dtype: str, form: str) -> None:
    with np.errstate(over="ignore"):
        x = np.array([*ENDS, *(-end for end in ENDS)]).astype(as_dtype(dtype))
    x = x[np.isfinite(x.astype(np.float64))]
    y, dx = GELU(x, approximate=form).y, BACKWARD(np.full_like(x, 1.5), x, approximate=form).dx
    assert np.isfinite(y.astype(np.float64)).all()
    assert np.isfinite(dx.astype(np.float64)).all()
    assert accuracy(y, gelu(x, form)).ok
    assert accuracy(dx, gelu_backward(np.full_like(x, 1.5), x, form)).ok
    large = np.abs(x.astype(np.float64)) > 20
    np.testing.assert_array_equal(y[large], np.maximum(x[large], as_dtype(dtype).type(0)))
    np.testing.assert_array_equal(dx[large], np.where(x[large] > 0, 1.5, 0).astype(as_dtype(dtype)))


def test_subnormal_numbers_keep_their_digits() -> None:
    """y is x/2 there: half of the smallest steps, which rounds to even where it is between two of them."""
    x = (np.arange(-300, 300) * 2.0**-149).astype(np.float32)
    truth = (x.astype(np.float64) / 2).astype(np.float32)
    np.testing.assert_array_equal(GELU(x, approximate="tanh").y, truth)
    # |x| q is rounded, and so x - |x| q is one step off where half of x is between two.
    np.testing.assert_allclose(GELU(x).y, truth, rtol=0, atol=2.0**-149)
    np.testing.assert_array_equal(GELU(x[::2]).y, truth[::2])
    half = (np.arange(-300, 300) * 2.0**-24).astype(np.float16)
    for form in PRINTED:
        y = GELU(half, approximate=form).y.astype(np.float64)
        # Half of x may lie between two steps; then the 5e-8 of it that decide are less than a float can say.
        step = 2.0**-24 * (form == "none")
        np.testing.assert_allclose(y, gelu(half, form).astype(np.float16), rtol=0, atol=step)
        np.testing.assert_allclose(BACKWARD(np.ones_like(x), x, approximate=form).dx, 0.5, rtol=2e-7)


@both_forms
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite_stays_at_its_place(dtype: str, form: str) -> None:
    x = np.linspace(-3, 3, 70).astype(as_dtype(dtype))
    dy = np.linspace(1, 2, 70).astype(as_dtype(dtype))
    clean, clean_back = GELU(x, approximate=form).y, BACKWARD(dy, x, approximate=form).dx
    places = [5, 33, 69]
    x[places] = np.inf, -np.inf, np.nan
    dirty = GELU(x, approximate=form).y.astype(np.float32)
    dirty_back = BACKWARD(dy, x, approximate=form).dx.astype(np.float32)
    # As in PyTorch: gelu(inf) is inf, gelu(-inf) is -inf * 0, and so is the gradient of both.
    np.testing.assert_array_equal(dirty[places], [np.inf, np.nan, np.nan])
    assert np.isnan(dirty_back[places]).all()
    kept = np.delete(np.arange(70), places)
    np.testing.assert_array_equal(dirty[kept], clean[kept].astype(np.float32))
    np.testing.assert_array_equal(dirty_back[kept], clean_back[kept].astype(np.float32))


LENGTHS = st.one_of(st.integers(0, 70), st.integers(4090, 4110), st.integers(8000, 20_000))


@settings(max_examples=examples(25), deadline=None)
@given(
    size=LENGTHS,
    blocks=st.integers(1, 40),
    dtype=st.sampled_from(DTYPES),
    form=st.sampled_from(["none", "tanh"]),
    late=st.booleans(),
)
@example(size=0, blocks=3, dtype="float16", form="none", late=False)
@example(size=1, blocks=40, dtype="bfloat16", form="none", late=True)
def test_every_length(size: int, blocks: int, dtype: str, form: str, late: bool) -> None:
    arrays = random_inputs.inputs(BACK_OP, (size,), seed=size, dtype=dtype)
    options = TwinOptions(delayed_dma=late, auto_sync="off")
    forward = GELU(arrays["x"], blocks=blocks, options=options, approximate=form)
    backward = BACKWARD(*arrays.values(), blocks=blocks, options=options, approximate=form)
    assert forward.diagnostics == backward.diagnostics == ()
    for result, spec, truth in (
        (forward, SPEC, {"y": gelu(arrays["x"], form)}),
        (backward, BACK_SPEC, {"dx": gelu_backward(**arrays, approximate=form)}),
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
    for wrong in ("erf", 1, b"tanh"):
        with pytest.raises(ArgumentError, match="'approximate' must be 'none' or 'tanh', not "):
            GELU(x, approximate=wrong)
    with pytest.raises(ArgumentError, match="approximate is 'erf'"):
        gelu(x, "erf")


def test_the_reference_is_the_printed_formula() -> None:
    x = np.linspace(-4, 6, 401)
    for form, printed in PRINTED.items():
        np.testing.assert_allclose(gelu(x, form), printed(x), rtol=1e-9, atol=1e-15)
    # Digits that the printed formula does not have: with e^2u in place of 1 + tanh(u), where that is nearly 0.
    u = ROOT * (-9 + 0.044715 * -(9.0**3))
    np.testing.assert_allclose(gelu(-9.0, "tanh"), -9 * math.exp(2 * u), rtol=1e-12)
    # And Mills' ratio, Phi(x) = phi(x) / |x| * (1 - 1/x^2 + 3/x^4 - 15/x^6 + ...) far below zero, in place of 1 + erf.
    ratio = 1 - 1 / 30**2 + 3 / 30**4 - 15 / 30**6
    np.testing.assert_allclose(gelu(-30.0), -math.exp(-450) / math.sqrt(2 * math.pi) * ratio, rtol=1e-9)
    with pytest.raises(ArgumentError, match="real numbers are needed"):
        gelu(np.zeros(2, complex))


@both_forms
def test_the_reference_of_the_gradient_is_the_slope_of_the_forward_pass(form: str) -> None:
    x = np.concatenate([np.linspace(-8, 6, 281), [-0.752461]])
    dy = np.linspace(0.5, 2.5, x.size)
    step = 1e-5
    numerical = (gelu(x + step, form) - gelu(x - step, form)) / (2 * step)
    np.testing.assert_allclose(gelu_backward(dy, x, form), dy * numerical, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(gelu_backward(dy, x, form), PRINTED_BACKWARD[form](dy, x), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(gelu_backward([1.0, 1.0], [-1e300, 1e300], form), [0.0, 1.0])
    with pytest.raises(ArgumentError, match="dy has shape"):
        gelu_backward(np.zeros(3), np.zeros(4))
