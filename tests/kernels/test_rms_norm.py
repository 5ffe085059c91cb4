"""RMSNorm of the last axis: numbers, every length of a row, cores, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.reference import rms_norm

OP, SPEC = find_kernel("rms_norm")
RMS_NORM = kernel(SPEC.id)
DTYPES = sorted(STANDARDS)
#: A row of one element, of less than a tile, of one, of a little more, of several; rows that cores share unevenly.
SHAPES = [(7, 1), (5, 70), (43, 300), (3, 4096), (3, 4097), (2, 20_001), (2, 3, 5, 64)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_accuracy_standard(shape: tuple[int, ...], dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    result = RMS_NORM(*arrays.values(), eps=1e-5)
    assert result.diagnostics == ()
    assert result.rstd.shape == shape[:-1]
    assert (result.y.dtype, result.rstd.dtype) == (as_dtype(dtype), np.float32)
    truth = rms_norm(**arrays, eps=float(np.float32(1e-5)))
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    wide = {name: array.astype(np.float32) for name, array in arrays.items()}
    rstd = 1 / np.sqrt(np.square(wide["x"]).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    found = accuracy(result.y, truth.y, (wide["x"] * rstd * wide["gamma"]).astype(as_dtype(dtype)))
    assert found.ok, found
    assert accuracy(result.rstd, truth.rstd).ok


@settings(max_examples=examples(25), deadline=None)
@given(
    rows=st.integers(0, 60),
    length=st.one_of(st.integers(1, 200), st.integers(4090, 4110), st.integers(8100, 9000)),
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
    scale=st.sampled_from([1e-4, 1.0, 300.0]),
)
def test_every_shape(rows: int, length: int, blocks: int, dtype: str, scale: float) -> None:
    rows = min(rows, 40_000 // length)
    arrays = random_inputs.inputs(OP, (rows, length), seed=length, dtype=dtype)
    arrays["x"] = (arrays["x"].astype(np.float32) * scale).astype(as_dtype(dtype))
    options = TwinOptions(delayed_dma=True, auto_sync="off")
    result = RMS_NORM(*arrays.values(), blocks=blocks, options=options)
    assert result.diagnostics == ()
    comparison = result.compare(rms_norm(**arrays, eps=float(np.float32(1e-6))), SPEC.tolerance)
    assert comparison.ok, comparison


@pytest.mark.parametrize("shape", [(43, 300), (3, 9000)], ids=str)
def test_neither_cores_nor_late_copies_change_a_bit(shape: tuple[int, ...]) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=5)
    usual = RMS_NORM(*arrays.values())
    for changed in ({"blocks": 1}, {"blocks": 2, "options": TwinOptions(delayed_dma=True, auto_sync="off")}):
        other = RMS_NORM(*arrays.values(), **changed)
        np.testing.assert_array_equal(other.y, usual.y)
        np.testing.assert_array_equal(other.rstd, usual.rstd)


def test_a_row_of_one_tile_is_read_once_and_a_longer_one_twice() -> None:
    for length, times in ((4096, 1), (4097, 2)):
        x = random_inputs.inputs(OP, (6, length), seed=1)["x"]
        tally = RMS_NORM(x, blocks=2).tally
        gamma = length * 4 * (2 if times == 1 else 6)  # once a core, or once a row
        assert tally.bytes_in == times * x.nbytes + gamma
        assert tally.scalar == 0


def test_gamma_left_out_is_one_and_a_constant_row_stays_finite() -> None:
    x = np.zeros((3, 50), np.float32)
    x[1] = 7.0
    result = RMS_NORM(x, eps=1e-4)
    np.testing.assert_allclose(result.rstd, [100, 1 / np.sqrt(49 + 1e-4), 100], rtol=1e-6)
    np.testing.assert_array_equal(result.y[[0, 2]], 0)
    np.testing.assert_allclose(result.y[1], 1, rtol=1e-5)


def test_what_is_not_a_number_stays_in_its_row() -> None:
    x = random_inputs.inputs(OP, (5, 130), seed=2)["x"]
    clean = RMS_NORM(x, blocks=2)
    x[2, 129] = np.nan
    dirty = RMS_NORM(x, blocks=2)
    assert np.isnan(dirty.y[2]).all()
    np.testing.assert_array_equal(np.delete(dirty.y, 2, axis=0), np.delete(clean.y, 2, axis=0))


def test_refusals() -> None:
    x = np.zeros((4, 6), np.float32)
    with pytest.raises(ArgumentError, match="'gamma' has shape"):
        RMS_NORM(x, np.ones(5, np.float32))
    with pytest.raises(ArgumentError, match="eps must be greater than zero"):
        RMS_NORM(x, eps=0.0)
    with pytest.raises(ArgumentError, match="a row without elements has no mean"):
        RMS_NORM(x[:, :0])
    assert RMS_NORM(x[:0]).y.shape == (0, 6)
    assert RMS_NORM(x[:0]).rstd.shape == (0,)


def test_the_reference() -> None:
    x = np.array([[3.0, -4.0], [0.5, 1.5]])
    found = rms_norm(x, [2.0, -1.0], eps=0.25)
    np.testing.assert_allclose(found.rstd, [1 / np.sqrt(12.75), 1 / np.sqrt(1.5)], rtol=1e-15)
    np.testing.assert_allclose(found.y, [[6, 4] / np.sqrt(12.75), [1, -1.5] / np.sqrt(1.5)], rtol=1e-15)
    with pytest.raises(ArgumentError, match="gamma has shape"):
        rms_norm(x, [1.0])
    with pytest.raises(ArgumentError, match="no mean"):
        rms_norm(np.zeros((2, 0)))
    with pytest.raises(ArgumentError, match="eps is"):
        rms_norm(x, eps=0)
