"""The gradients of RMSNorm: numbers, every length of a row, cores, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS
from gn_tutorial.errors import ArgumentError, KernelFault
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.tiling import load_tiling
from gn_tutorial.reference import rms_norm, rms_norm_backward

OP, SPEC = find_kernel("rms_norm_backward")
BACKWARD = kernel(SPEC.id)
DTYPES = sorted(STANDARDS)


def inputs(shape: tuple[int, ...], seed: int = 3, dtype: str = "float32") -> dict[str, np.ndarray]:
    return random_inputs.inputs(OP, shape, seed=seed, dtype=dtype)


def assert_near(result: Result, arrays: dict[str, np.ndarray]) -> None:
    """Within the registered tolerance; besides, three roundings of the terms that dx is a difference of.

    In a row of one element, or with one that is much larger than all others, hardly anything is left of them.
    """
    truth = rms_norm_backward(**arrays)
    size = {name: np.abs(one.astype(np.float64)) for name, one in arrays.items()}
    terms = size["dy"] * size["gamma"] * size["rstd"][..., None]
    for found, right, more in ((result.dx, truth.dx, 3 * 2.0**-24 * terms), (result.dgamma, truth.dgamma, 0.0)):
        limit = SPEC.tolerance.of(found.dtype.name)
        allowed = limit.atol + limit.rtol * np.abs(right) + limit.of_largest * np.abs(right).max(initial=0.0) + more
        wrong = np.abs(found.astype(np.float64) - right) - allowed
        assert found.shape == right.shape
        assert (wrong <= 0).all(), wrong.max()


@settings(max_examples=examples(25), deadline=None)
@given(
    rows=st.integers(0, 300),
    length=st.one_of(st.integers(1, 200), st.integers(2030, 2050), st.integers(4090, 4110), st.integers(8100, 9000)),
    blocks=st.integers(1, 48),
    dtype=st.sampled_from(DTYPES),
    scale=st.sampled_from([1e-2, 1.0, 300.0]),
)
@example(rows=7, length=1, blocks=3, dtype="float32", scale=1.0)
@example(rows=0, length=5, blocks=2, dtype="float16", scale=1.0)
@example(rows=3, length=4097, blocks=2, dtype="bfloat16", scale=1.0)  # the last part of a row is one element
@example(rows=300, length=65, blocks=48, dtype="float16", scale=1.0)
def test_every_shape(rows: int, length: int, blocks: int, dtype: str, scale: float) -> None:
    shape = (min(rows, 40_000 // length), length)
    arrays = inputs(shape, seed=length, dtype=dtype)
    arrays["x"] = (arrays["x"].astype(np.float32) * scale).astype(as_dtype(dtype))
    arrays["rstd"] = rms_norm(arrays["x"]).rstd.astype(np.float32)
    result = BACKWARD(*arrays.values(), blocks=blocks, options=TwinOptions(delayed_dma=True))
    assert result.diagnostics == ()
    assert (result.dx.dtype, result.dgamma.dtype) == (as_dtype(dtype), np.float32)
    assert_near(result, arrays)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(700, 129), (2, 3, 5, 64), (2, 20_001)], ids=str)
def test_numbers(shape: tuple[int, ...], dtype: str) -> None:
    arrays = inputs(shape, dtype=dtype)
    result = BACKWARD(*arrays.values())
    assert result.diagnostics == ()
    truth = rms_norm_backward(**arrays)
    comparison = result.compare({"dx": truth.dx, "dgamma": truth.dgamma}, SPEC.tolerance)
    assert comparison.ok, comparison


def test_a_gradient_that_lacks_a_term_is_seen() -> None:
    arrays = inputs((43, 300))
    result = BACKWARD(*arrays.values())
    without_mean = arrays["dy"] * arrays["gamma"] * arrays["rstd"][:, None]
    for wrong in ({"dx": without_mean, "dgamma": result.dgamma}, {"dx": result.dx, "dgamma": result.dgamma / 43}):
        assert not result.compare(wrong, SPEC.tolerance).ok


@pytest.mark.parametrize("shape", [(300, 30), (3, 9000)], ids=str)
def test_neither_cores_nor_late_copies_change_a_bit(shape: tuple[int, ...]) -> None:
    arrays = inputs(shape, seed=5)
    usual = BACKWARD(*arrays.values())
    for changed in ({"blocks": 1}, {"blocks": 7, "options": TwinOptions(delayed_dma=True)}):
        other = BACKWARD(*arrays.values(), **changed)
        np.testing.assert_array_equal(other.dx, usual.dx)
        np.testing.assert_array_equal(other.dgamma, usual.dgamma)


def test_only_the_order_of_vector_instructions_is_left_to_the_compiler() -> None:
    """Without automatic synchronisation: between pipes every wait is the kernel's own."""
    for shape, dtype in (((37, 70), "float16"), ((3, 4500), "float32")):
        with pytest.raises(KernelFault) as caught:
            BACKWARD(*inputs(shape, dtype=dtype).values(), options=TwinOptions(auto_sync="off", delayed_dma=True))
        assert {found.id for found in caught.value.diagnostics} == {"race-same-pipe"}


def test_a_row_of_one_tile_is_read_once_and_a_longer_one_twice() -> None:
    for length, times in ((4096, 1), (4097, 2)):
        arrays = inputs((6, length), seed=1)
        tally = BACKWARD(*arrays.values(), blocks=2).tally
        gamma = length * 4 * (2 if times == 1 else 12)  # once a core, or twice a chunk, which is a row here
        lines = 6 * length * 4  # of the workspace, for the second stage
        assert tally.bytes_in == 2 * times * arrays["x"].nbytes + gamma + lines + arrays["rstd"].nbytes
        assert tally.scalar == 0


def test_gamma_left_out_is_one_and_what_is_not_a_number_stays_in_its_row() -> None:
    arrays = inputs((5, 130), seed=2) | {"gamma": np.ones(130, np.float32)}
    clean = BACKWARD(arrays["dy"], arrays["x"], arrays["rstd"], blocks=2)
    assert_near(clean, arrays)
    arrays["dy"][2, 129] = np.nan
    dirty = BACKWARD(*arrays.values(), blocks=2)
    assert np.isnan(dirty.dx[2]).all()
    np.testing.assert_array_equal(np.delete(dirty.dx, 2, axis=0), np.delete(clean.dx, 2, axis=0))
    assert np.isnan(dirty.dgamma[129])
    np.testing.assert_array_equal(dirty.dgamma[:129], clean.dgamma[:129])


@given(
    rows=st.one_of(st.integers(1, 100_000), st.integers(30_700, 30_740), st.integers(2**31 - 300, 2**31 - 1)),
    length=st.one_of(st.integers(1, 9000), st.sampled_from([2**20, 2**24 + 1, 2**29 - 1])),
    cores=st.integers(1, 48),
    dtype=st.sampled_from([0, 1, 27]),
)
@example(rows=2**31 - 1, length=1, cores=40, dtype=0)  # 16777216 chunks
@example(rows=1, length=2**29 - 1, cores=40, dtype=1)
def test_the_division_at_its_limits(rows: int, length: int, cores: int, dtype: int) -> None:
    """Every row is in one chunk, all sizes fit in 32 bits, and a chunk's rstd in local memory, however many rows."""
    symbols = {"R": rows, "K": length, "cores": cores, "dtype": dtype}
    try:
        made = load_tiling(OP.tiling_of(SPEC))(symbols)
    except ArgumentError:
        made = None
    if made is None:
        assert rows * length > 2**35
        return
    chunk_rows, chunks = int(made["chunkRows"]), int(made["chunks"])
    assert 1 <= chunk_rows <= 128
    assert (chunks - 1) * chunk_rows < rows <= chunks * chunk_rows
    assert int(made["workspaceBytes"]) == chunks * length * 4 < 2**31
    assert 1 <= int(made["usedCores"]) <= cores
    pitch = -(-length // (8 if dtype == 0 else 16)) * (8 if dtype == 0 else 16)
    assert int(made["tileRows"]) == 1 or int(made["tileRows"]) * pitch <= 4096
    assert int(made["parts"]) * 4096 >= length > (int(made["parts"]) - 1) * 4096


@pytest.mark.parametrize(("shape", "dtype"), [((100_000, 3), "float32"), ((31_000, 17), "bfloat16")], ids=str)
def test_more_chunks_than_are_planned_for_few_rows(shape: tuple[int, int], dtype: str) -> None:
    """A chunk has 128 rows at most, so that many rows have more than 240 chunks."""
    arrays = inputs(shape, seed=4, dtype=dtype)
    result = BACKWARD(*arrays.values(), blocks=40)
    assert int(result.tiling["chunks"]) == -(-shape[0] // 128) > 240
    assert result.diagnostics == ()
    assert_near(result, arrays)


def test_refusals() -> None:
    x, rstd = np.zeros((4, 6), np.float32), np.ones(4, np.float32)
    with pytest.raises(ArgumentError, match="'x' has shape"):
        BACKWARD(x, x[:3], rstd)
    with pytest.raises(ArgumentError, match="'rstd' has shape"):
        BACKWARD(x, x, rstd[:3])
    with pytest.raises(ArgumentError, match="'rstd' is float16"):
        BACKWARD(x, x, rstd.astype(np.float16))
    with pytest.raises(ArgumentError, match="a row without elements has no mean"):
        BACKWARD(x[:, :0], x[:, :0], rstd)
    empty = BACKWARD(x[:0], x[:0], rstd[:0])
    assert empty.dx.shape == (0, 6)
    np.testing.assert_array_equal(empty.dgamma, np.zeros(6))


def test_the_reference_is_the_slope_of_the_forward_pass() -> None:
    rng = np.random.default_rng(3)
    x, gamma, dy = rng.normal(0.3, 1.2, (3, 4)), rng.normal(1, 0.4, 4), rng.normal(0.1, 1, (3, 4))

    def loss(x: np.ndarray, gamma: np.ndarray) -> float:
        return float((rms_norm(x, gamma, eps=0.1).y * dy).sum())

    found = rms_norm_backward(dy, x, rms_norm(x, gamma, eps=0.1).rstd, gamma)
    for number, array in enumerate((x, gamma)):
        for index in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [x.copy(), gamma.copy()]
                moved[number][index] += step
                ends.append(loss(*moved))
            np.testing.assert_allclose(found[number][index], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-8)
    with pytest.raises(ArgumentError, match="rstd has shape"):
        rms_norm_backward(dy, x, np.ones(4), gamma)
    with pytest.raises(ArgumentError, match="dy has shape"):
        rms_norm_backward(dy[:2], x, np.ones(3), gamma)
