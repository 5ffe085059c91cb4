"""RMSNorm through the host API: rows of several axes, layouts, dtypes, its gradients, empty tensors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial import host, reference
from gn_tutorial.host import Code, Refused, Stream
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.registry import find_kernel
from tests.host.test_api import DTYPES, channels_last, contiguous, cropped, transposed


@pytest.fixture(scope="module")
def stream() -> Stream:
    """With the twin's checks: a kernel that reads or writes beside a tensor stops."""
    with Stream(observed=True) as made:
        yield made


def data(dtype: str, shape: tuple[int, ...] = (3, 5, 4, 7), axes: int = 1) -> tuple[np.ndarray, ...]:
    """dy, x, rstd and gamma of the last ``axes``; rstd is that of the rounded x."""
    rng = np.random.default_rng(11)
    x = (rng.standard_normal(shape) * rng.uniform(0.5, 3, shape[:1] + (1,) * (len(shape) - 1)) + 0.4).astype(
        as_dtype(dtype)
    )
    dy = (rng.standard_normal(shape) + 0.2).astype(x.dtype)
    gamma = rng.uniform(0.5, 2, shape[len(shape) - axes :]).astype(x.dtype)
    return dy, x, np.asarray(expected(x, gamma)[1], np.float32), gamma


def rows(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return x.astype(np.float64).reshape(*x.shape[: x.ndim - gamma.ndim], -1)


def expected(x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6) -> tuple[np.ndarray, np.ndarray]:
    y, rstd = reference.rms_norm(rows(x, gamma), gamma.astype(np.float64).ravel(), eps=eps)
    return y.reshape(x.shape), rstd


def expected_gradients(dy: np.ndarray, x: np.ndarray, rstd: np.ndarray, gamma: np.ndarray) -> list[np.ndarray]:
    dx, dgamma = reference.rms_norm_backward(
        rows(dy, gamma), rows(x, gamma), rstd.astype(np.float64), gamma.astype(np.float64).ravel()
    )
    return [dx.reshape(x.shape), dgamma.reshape(gamma.shape)]


def assert_near(found: np.ndarray, right: np.ndarray, kernel: str) -> None:
    limit = find_kernel(kernel)[1].tolerance.of(found.dtype.name)
    atol = limit.atol + limit.of_largest * np.abs(right).max(initial=0.0)
    np.testing.assert_allclose(found.astype(np.float64), right, rtol=limit.rtol, atol=atol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [1, 2, 4])
def test_the_axes_of_gamma_are_a_row(stream: Stream, axes: int, dtype: str) -> None:
    dy, x, rstd, gamma = data(dtype, axes=axes)
    made = host.rms_norm(x, gamma, eps=0.3, stream=stream)
    grads = host.rms_norm_backward(dy, x, rstd, gamma, stream=stream)
    stream.synchronize()
    y, scale = expected(x, gamma, eps=0.3)
    assert made.rstd.shape == x.shape[: 4 - axes]
    assert_near(made.out, y, "rms_norm/row")
    assert_near(made.rstd, scale, "rms_norm/row")
    assert grads.grad_gamma.dtype == np.float32
    for one, right in zip(grads, expected_gradients(dy, x, rstd, gamma), strict=True):
        assert_near(one, right, "rms_norm_backward/chunks")


@pytest.mark.parametrize("layout", [contiguous, channels_last, transposed, cropped])
def test_gradients_of_any_layout(stream: Stream, layout: Callable) -> None:
    """Bits as from packed arrays: a copy changes none."""
    dy, x, rstd, gamma = data("float16")
    packed = host.rms_norm_backward(dy, x, rstd, gamma, stream=stream)
    strided = host.rms_norm_backward(layout(dy), layout(x), transposed(rstd), np.repeat(gamma, 2)[::2], stream=stream)
    stream.synchronize()
    for one, right in zip(strided, packed, strict=True):
        np.testing.assert_array_equal(one, right)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", [contiguous, channels_last, transposed, cropped])
def test_a_sum_of_any_layout(stream: Stream, layout: Callable, dtype: str) -> None:
    """The bits of the kernels on packed rows; gradients are those of the sum that the first call returned."""
    dy, x1, _, gamma = data(dtype, axes=2)
    x2 = (x1[::-1] * x1.dtype.type(0.7)).copy()
    outs = tuple(layout(np.zeros_like(x1)) for _ in range(2))
    made = host.add_rms_norm(layout(x1), layout(x2), gamma, eps=0.3, stream=stream, out=outs)
    grads = host.add_rms_norm_backward(layout(dy), layout(x2), made.sum, made.rstd, gamma, stream=stream)
    stream.synchronize()
    assert (made.out is outs[0], made.sum is outs[1], made.rstd.shape) == (True, True, x1.shape[:2])
    packed = [np.ascontiguousarray(one).reshape(15, 28) for one in (x1, x2, dy)]
    right = gnt.kernel("add_rms_norm/row")(*packed[:2], gamma.ravel(), eps=0.3)
    for found, same in zip(made, right.outputs.values(), strict=True):
        np.testing.assert_array_equal(found, same.reshape(found.shape))
    back = gnt.kernel("add_rms_norm_backward/chunks")(packed[2], packed[1], right.sum, right.rstd, gamma.ravel())
    for found, same in zip(grads, back.outputs.values(), strict=True):
        np.testing.assert_array_equal(found, same.reshape(found.shape))


def test_gradients_take_the_rstd_of_either_page(stream: Stream) -> None:
    """The forward pass's page has axes of length 1 behind it, the gradient's none."""
    dy, x, rstd, gamma = data("float32", axes=2)
    short = host.rms_norm_backward(dy, x, rstd, gamma, stream=stream)
    long = host.rms_norm_backward(dy, x, rstd[..., None, None], gamma, stream=stream)
    stream.synchronize()
    for one, right in zip(long, short, strict=True):
        np.testing.assert_array_equal(one, right)


def test_a_slice_of_a_buffer_is_read_where_it_is(stream: Stream) -> None:
    """Its rows lie behind one another, but begin at no whole block: nothing is packed, and the numbers are right."""
    buffer = np.zeros(1 + 6 * 13, np.float32)
    x = buffer[1:].reshape(6, 13)
    x[...] = np.random.default_rng(2).normal(1, 2, x.shape)
    gamma = np.linspace(0.5, 2, 13, dtype=np.float32)
    made = host.rms_norm(x, gamma, stream=stream)
    stream.synchronize()
    assert_near(made.out, expected(x, gamma)[0], "rms_norm/row")


def test_empty_tensors(stream: Stream) -> None:
    """No row: an empty y, and zeros for gamma's gradient, which is a sum over nothing."""
    gamma = np.ones(7, np.float16)
    none = np.empty((3, 0, 7), np.float16)
    made = host.rms_norm(none, gamma, stream=stream)
    grads = host.rms_norm_backward(none, none, made.rstd, gamma, stream=stream)
    stream.synchronize()
    assert (made.out.shape, made.rstd.shape, grads.grad_input.shape) == ((3, 0, 7), (3, 0), (3, 0, 7))
    np.testing.assert_array_equal(grads.grad_gamma, np.zeros(7))


def test_refusals_reach_python() -> None:
    x = np.ones((2, 3), np.float32)
    for gamma in (np.ones(2, np.float32), np.ones((4, 2, 3), np.float32), np.float32([])):
        with pytest.raises(Refused, match="gamma has shape") as caught:
            host.rms_norm(x, gamma)
        assert (caught.value.code, caught.value.where) == (Code.PARAM_INVALID, "RmsNormGetWorkspaceSize")
    with pytest.raises(Refused, match="epsilon is 0; it must be positive"):
        host.rms_norm(x, np.ones(3, np.float32), eps=0.0)
    with pytest.raises(Refused, match="rstd has shape"):
        host.rms_norm_backward(x, x, np.ones(3, np.float32), np.ones(3, np.float32))


def test_a_long_row_and_many_short_ones(stream: Stream) -> None:
    for shape in ((2, 9001), (700, 3)):
        dy, x, rstd, gamma = data("float32", shape)
        made = host.rms_norm(x, gamma, stream=stream)
        grads = host.rms_norm_backward(dy, x, rstd, gamma, stream=stream)
        stream.synchronize()
        assert_near(made.out, expected(x, gamma)[0], "rms_norm/row")
        for one, right, terms in zip(
            grads,
            expected_gradients(dy, x, rstd, gamma),
            (np.abs(dy) * rstd[:, None] * gamma, np.float32(math.sqrt(len(x)))),
            strict=True,
        ):
            assert (np.abs(one - right) <= 5e-7 * (np.abs(right).max() + terms.max())).all()
