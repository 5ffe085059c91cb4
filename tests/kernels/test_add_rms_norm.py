"""RMSNorm of a sum and its gradients: numbers, every length of a row, cores, late copies, the launches they replace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.reference import add_rms_norm, add_rms_norm_backward, rms_norm, rms_norm_backward

OP, SPEC = find_kernel("add_rms_norm")
ADD_RMS_NORM, RMS_NORM, ADD = kernel(SPEC.id), kernel("rms_norm/row"), kernel("elementwise_add/map")
BACK_OP, BACK_SPEC = find_kernel("add_rms_norm_backward")
BACKWARD, RMS_BACKWARD = kernel(BACK_SPEC.id), kernel("rms_norm_backward/chunks")
DTYPES = sorted(STANDARDS)
LENGTHS = st.one_of(st.integers(1, 200), st.integers(4090, 4110), st.integers(8100, 9000))


def inputs(shape: tuple[int, ...], seed: int = 3, dtype: str = "float32") -> dict[str, np.ndarray]:
    return random_inputs.inputs(OP, shape, seed=seed, dtype=dtype)


def backward_inputs(shape: tuple[int, ...], seed: int = 3, dtype: str = "float32") -> dict[str, np.ndarray]:
    return random_inputs.inputs(BACK_OP, shape, seed=seed, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 1), (43, 300), (3, 4097), (2, 20_001), (2, 3, 5, 64)], ids=str)
def test_the_accuracy_standard(shape: tuple[int, ...], dtype: str) -> None:
    arrays = inputs(shape, dtype=dtype)
    result = ADD_RMS_NORM(*arrays.values(), eps=1e-5)
    assert result.diagnostics == ()
    assert [one.dtype for one in result.outputs.values()] == [as_dtype(dtype), as_dtype(dtype), np.float32]
    truth = add_rms_norm(**arrays, eps=float(np.float32(1e-5)))
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    np.testing.assert_array_equal(result.sum.astype(np.float64), truth.sum)  # correctly rounded
    wide, gamma = truth.sum.astype(np.float32), arrays["gamma"].astype(np.float32)
    rstd = 1 / np.sqrt(np.square(wide).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    assert accuracy(result.y, truth.y, (wide * rstd * gamma).astype(as_dtype(dtype))).ok
    assert accuracy(result.rstd, truth.rstd).ok


@settings(max_examples=20, deadline=None)
@given(
    rows=st.integers(0, 60),
    length=LENGTHS,
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
    scale=st.sampled_from([1e-4, 1.0, 300.0]),
    seed=st.integers(0, 1000),
)
@example(rows=3, length=8192, blocks=1, dtype="bfloat16", scale=1.0, seed=0)  # two whole tiles
def test_the_bits_of_the_two_launches(rows: int, length: int, blocks: int, dtype: str, scale: float, seed: int) -> None:
    """Whatever the shape, with late copies and without the compiler's order of vector instructions."""
    arrays = inputs((min(rows, 40_000 // length), length), seed=seed, dtype=dtype)
    arrays["residual"] = (arrays["residual"].astype(np.float32) * scale).astype(as_dtype(dtype))
    options = TwinOptions(delayed_dma=True, auto_sync="off")
    result = ADD_RMS_NORM(*arrays.values(), blocks=blocks, options=options)
    assert result.diagnostics == ()
    comparison = result.compare(add_rms_norm(**arrays, eps=float(np.float32(1e-6))), SPEC.tolerance)
    assert comparison.ok, comparison
    total = ADD(arrays["x"], arrays["residual"]).z
    normed = RMS_NORM(total, arrays["gamma"])
    for name, found in (("sum", total), ("y", normed.y), ("rstd", normed.rstd)):
        np.testing.assert_array_equal(result.outputs[name], found)


@pytest.mark.parametrize("length", [300, 9000])
def test_neither_cores_nor_late_copies_change_a_bit(length: int) -> None:
    arrays, more = inputs((7, length), seed=5), backward_inputs((7, length), seed=5)
    for run, given_, sync in ((ADD_RMS_NORM, arrays, "off"), (BACKWARD, more, "on")):
        usual = run(*given_.values())
        for changed in ({"blocks": 1}, {"blocks": 2, "options": TwinOptions(delayed_dma=True, auto_sync=sync)}):
            other = run(*given_.values(), **changed)
            for name, found in usual.outputs.items():
                np.testing.assert_array_equal(other.outputs[name], found)


def test_what_is_moved() -> None:
    """A row of one tile: two tensors come. A longer one comes back as its sum: three, where two launches read four."""
    for length, tensors in ((4096, 2), (4097, 3)):
        arrays = inputs((6, length), seed=1)
        tally = ADD_RMS_NORM(*arrays.values(), blocks=2).tally
        gamma = length * 4 * (2 if length == 4096 else 6)  # once a core, or once a row
        assert tally.bytes_in == tensors * arrays["x"].nbytes + gamma
        assert tally.bytes_out == 2 * arrays["x"].nbytes + 6 * 4
        assert tally.scalar == 0
    arrays = backward_inputs((6, 4096), seed=1)
    ours, its = BACKWARD(*arrays.values(), blocks=2).tally, _without_dsum(arrays, blocks=2).tally
    assert (ours.bytes_in, ours.bytes_out) == (its.bytes_in + arrays["dsum"].nbytes, its.bytes_out)


def _without_dsum(arrays: dict[str, np.ndarray], **more: int) -> Result:
    return RMS_BACKWARD(*(array for name, array in arrays.items() if name != "dsum"), **more)


@settings(max_examples=20, deadline=None)
@given(
    rows=st.integers(0, 300),
    length=LENGTHS,
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
    scale=st.sampled_from([1e-3, 1.0, 100.0]),
)
@example(rows=7, length=1, blocks=3, dtype="float32", scale=1.0)
@example(rows=3, length=4097, blocks=2, dtype="bfloat16", scale=1.0)  # the last part of a row is one element
@example(rows=300, length=65, blocks=48, dtype="float16", scale=1.0)
def test_gradients_of_every_shape(rows: int, length: int, blocks: int, dtype: str, scale: float) -> None:
    """dx is within a rounding of dsum more than rms_norm_backward in float32 has; dgamma has its bits."""
    arrays = backward_inputs((min(rows, 40_000 // length), length), seed=length, dtype=dtype)
    arrays["dsum"] = (arrays["dsum"].astype(np.float32) * scale).astype(as_dtype(dtype))
    result = BACKWARD(*arrays.values(), blocks=blocks, options=TwinOptions(delayed_dma=True))
    assert result.diagnostics == ()
    assert (result.dx.dtype, result.dgamma.dtype) == (as_dtype(dtype), np.float32)
    np.testing.assert_array_equal(result.dgamma, _without_dsum(arrays).dgamma)
    truth = add_rms_norm_backward(**arrays).dx
    size = {name: np.abs(one.astype(np.float64)) for name, one in arrays.items()}
    terms = size["dy"] * size["gamma"] * size["rstd"][..., None] + size["dsum"]
    limit = BACK_SPEC.tolerance.of(dtype)
    allowed = limit.atol + limit.rtol * np.abs(truth) + limit.of_largest * np.abs(truth).max(initial=0.0)
    wrong = np.abs(result.dx.astype(np.float64) - truth) - (allowed + 3 * 2.0**-24 * terms)
    assert (wrong <= 0).all(), wrong.max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(700, 129), (2, 3, 5, 64), (2, 20_001)], ids=str)
def test_gradients(shape: tuple[int, ...], dtype: str) -> None:
    arrays = backward_inputs(shape, dtype=dtype)
    result = BACKWARD(*arrays.values())
    truth = add_rms_norm_backward(**arrays)
    comparison = result.compare({"dx": truth.dx, "dgamma": truth.dgamma}, BACK_SPEC.tolerance)
    assert comparison.ok, comparison
    without = rms_norm_backward(**{name: one for name, one in arrays.items() if name != "dsum"})
    assert not result.compare({"dx": without.dx, "dgamma": truth.dgamma}, BACK_SPEC.tolerance).ok


def test_what_is_not_a_number_stays_in_its_row() -> None:
    arrays, more = inputs((5, 130), seed=2), backward_inputs((5, 130), seed=2)
    clean, slopes = ADD_RMS_NORM(*arrays.values(), blocks=2), BACKWARD(*more.values(), blocks=2)
    arrays["residual"][2, 129] = more["dsum"][2, 129] = np.nan
    dirty = ADD_RMS_NORM(*arrays.values(), blocks=2)
    assert np.isnan(dirty.y[2]).all()
    np.testing.assert_array_equal(np.delete(dirty.y, 2, axis=0), np.delete(clean.y, 2, axis=0))
    found = BACKWARD(*more.values(), blocks=2)
    assert np.argwhere(np.isnan(found.dx)).tolist() == [[2, 129]]
    np.testing.assert_array_equal(found.dgamma, slopes.dgamma)


def test_refusals() -> None:
    x, rstd = np.zeros((4, 6), np.float32), np.ones(4, np.float32)
    with pytest.raises(ArgumentError, match="'residual' has shape"):
        ADD_RMS_NORM(x, x[:3])
    with pytest.raises(ArgumentError, match="eps must be greater than zero"):
        ADD_RMS_NORM(x, x, eps=0.0)
    with pytest.raises(ArgumentError, match="a row without elements has no mean"):
        ADD_RMS_NORM(x[:, :0], x[:, :0])
    with pytest.raises(ArgumentError, match="'dsum' has shape"):
        BACKWARD(x, x[:3], x, rstd)
    empty = ADD_RMS_NORM(x[:0], x[:0])
    assert [one.shape for one in empty.outputs.values()] == [(0, 6), (0, 6), (0,)]
    np.testing.assert_array_equal(BACKWARD(x[:0], x[:0], x[:0], rstd[:0]).dgamma, np.zeros(6))


def test_the_references() -> None:
    """The forward one rounds the sum; the slope of both outputs together is the backward one."""
    half = np.float16([[2048, 3]])
    np.testing.assert_array_equal(add_rms_norm(half, np.float16([[1, 0]])).sum, [[2048, 3]])
    rng = np.random.default_rng(3)
    x, residual, gamma = rng.normal(0.3, 1.2, (3, 4)), rng.normal(-0.2, 0.7, (3, 4)), rng.normal(1, 0.4, 4)
    dy, dsum = rng.normal(0.1, 1, (3, 4)), rng.normal(0.4, 1, (3, 4))

    def loss(residual: np.ndarray) -> float:
        made = add_rms_norm(x, residual, gamma, eps=0.1)
        return float((made.y * dy).sum() + (made.sum * dsum).sum())

    found = add_rms_norm_backward(dy, dsum, x + residual, rms_norm(x + residual, eps=0.1).rstd, gamma)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-6
        slope = (loss(residual + step) - loss(residual - step)) / 2e-6
        np.testing.assert_allclose(found.dx[index], slope, rtol=1e-6, atol=1e-8)
    with pytest.raises(ArgumentError, match="shape"):
        add_rms_norm(x, residual[:2])
    with pytest.raises(ArgumentError, match="dsum has shape"):
        add_rms_norm_backward(dy, dsum[:2], x, np.ones(3))
