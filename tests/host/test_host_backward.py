"""The backward pass through the host API: numbers for every dtype, mask and layout, and an empty batch."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial import host, reference
from gn_tutorial.host import Code, Refused, Stream

DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
GROUPS = 3


@pytest.fixture(scope="module")
def stream() -> Stream:
    with Stream(observed=True) as made:
        yield made


def data(dtype: type, shape: tuple[int, ...] = (2, 6, 5, 7)) -> tuple[np.ndarray, ...]:
    """dy, x, mean, rstd, gamma; the statistics are those of the rounded x."""
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(shape) * rng.uniform(0.5, 3, (1, shape[1], *(1,) * (len(shape) - 2))) + 1).astype(dtype)
    dy, gamma = rng.standard_normal(shape).astype(dtype), rng.uniform(0.5, 2, shape[1]).astype(dtype)
    _, mean, rstd = reference.group_norm(x.astype(np.float64), num_groups=GROUPS)
    return dy, x, mean.astype(np.float32), rstd.astype(np.float32), gamma


def channels_last(values: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 1, -1)), -1, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3)), ids=str)
def test_numbers_for_every_mask(stream: Stream, mask: tuple[bool, ...], dtype: type) -> None:
    arrays = data(dtype)
    made = host.group_norm_backward(*arrays, num_groups=GROUPS, output_mask=mask, stream=stream)
    stream.synchronize()
    wide = [one.astype(np.float64) for one in arrays]
    expected = reference.group_norm_backward(*wide, num_groups=GROUPS)
    for one, right, wanted in zip(made, expected, mask, strict=True):
        assert (one is not None) is wanted
        if one is not None:
            # Half a unit of the dtype, besides what float32 sums are off by.
            rtol = {4: 1e-5, 2: 4e-3 if dtype is ml_dtypes.bfloat16 else 5e-4}[one.itemsize]
            np.testing.assert_allclose(one.astype(np.float64), right, rtol=rtol, atol=2e-6 * np.abs(right).max() + 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("last", [True, False], ids=["channels_last", "transposed"])
def test_other_layouts_give_the_bits_of_the_direct_call(stream: Stream, last: bool, dtype: type) -> None:
    """Channels last: of the kernel that takes them so. Any other layout is packed for the usual one."""
    dy, x, mean, rstd, gamma = data(dtype)
    layout = channels_last if last else lambda one: np.ascontiguousarray(one.swapaxes(2, 3)).swapaxes(2, 3)
    made = host.group_norm_backward(
        layout(dy), layout(x), mean, rstd, np.repeat(gamma, 2)[::2],
        num_groups=GROUPS, stream=stream,
    )  # fmt: skip
    stream.synchronize()
    if last:
        dy, x = (np.ascontiguousarray(np.moveaxis(one, 1, -1)) for one in (dy, x))
    direct = gnt.kernel("group_norm_backward_nhwc/rows" if last else "group_norm_backward/any")
    dx, *sums = direct(dy, x, mean, rstd, gamma, num_groups=GROUPS).outputs.values()
    for one, right in zip(made, (np.moveaxis(dx, -1, 1) if last else dx, *sums), strict=True):
        np.testing.assert_array_equal(one, right)


def test_without_gamma_it_is_ones(stream: Stream) -> None:
    dy, x, mean, rstd, gamma = data(np.float32)
    ones = np.ones_like(gamma)
    for given in (None, ones):
        made = host.group_norm_backward(dy, x, mean, rstd, given, num_groups=GROUPS, stream=stream)
        stream.synchronize()
        right = reference.group_norm_backward(dy, x, mean, rstd, ones, num_groups=GROUPS)
        np.testing.assert_allclose(made.grad_input, right[0], rtol=1e-5, atol=1e-5)


def test_an_empty_batch_has_gradients_of_zero(stream: Stream) -> None:
    none, statistics = np.empty((0, 6, 4), np.float32), np.empty((0, GROUPS), np.float32)
    made = host.group_norm_backward(none, none, statistics, statistics, num_groups=GROUPS, stream=stream)
    stream.synchronize()
    assert made.grad_input.shape == (0, 6, 4)
    assert made.grad_gamma.tolist() == made.grad_beta.tolist() == [0.0] * 6


def test_a_wrong_mask_is_refused() -> None:
    for mask in ((True,), (True,) * 4):
        with pytest.raises(Refused, match=f"outputMaskSize is {len(mask)}; it must be 3") as caught:
            host.group_norm_backward(*data(np.float32), num_groups=GROUPS, output_mask=mask)
        assert caught.value.code == Code.PARAM_INVALID
