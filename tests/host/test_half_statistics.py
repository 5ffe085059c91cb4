"""mean and rstd in the data's own type, as aclnn's GroupNorm has them on Atlas A2: forward, with SiLU, backward."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gn_tutorial import host, reference
from gn_tutorial.host import Stream
from gn_tutorial.operators.arguments import as_dtype
from tests.host.test_api import channels_last, contiguous, transposed

HALVES = ["float16", "bfloat16"]
GROUPS = 3


@pytest.fixture(scope="module")
def stream() -> Stream:
    """With the twin's checks: a kernel that reads or writes beside a tensor stops."""
    with Stream(observed=True) as made:
        yield made


def data(dtype: str, shape: tuple[int, ...] = (4, 6, 5, 7)) -> tuple[np.ndarray, ...]:
    """dy, x, gamma, beta."""
    rng = np.random.default_rng(9)
    spread = rng.uniform(0.5, 3, (1, shape[1], *(1,) * (len(shape) - 2)))
    made = rng.standard_normal(shape), rng.standard_normal(shape) * spread + 1, rng.uniform(0.5, 2, shape[1])
    return tuple(one.astype(as_dtype(dtype)) for one in (*made, rng.standard_normal(shape[1])))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("layout", [contiguous, channels_last])
@pytest.mark.parametrize("norm", [host.group_norm, host.group_norm_silu])
def test_they_are_the_float32_ones_rounded_once(stream: Stream, norm: Callable, layout: Callable, dtype: str) -> None:
    _, x, gamma, beta = data(dtype)
    narrow, wide = (
        norm(layout(x), gamma, beta, num_groups=GROUPS, stream=stream, statistics_of_x=narrow)
        for narrow in (True, False)
    )
    stream.synchronize()
    np.testing.assert_array_equal(narrow.out, wide.out)
    for one, right in ((narrow.mean, wide.mean), (narrow.rstd, wide.rstd)):
        assert (one.dtype, right.dtype) == (x.dtype, np.float32)
        np.testing.assert_array_equal(one, right.astype(x.dtype))
    assert (narrow.mean.astype(np.float32) != wide.mean).any()


def test_float32_is_its_own_type_and_costs_nothing(stream: Stream) -> None:
    _, x, gamma, beta = data("float32")
    one, other = (
        host.group_norm(x, gamma, beta, num_groups=GROUPS, statistics_of_x=flag, stream=stream)
        for flag in (True, False)
    )
    stream.synchronize()
    for mine, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, right)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("layout", [contiguous, transposed])
def test_gradients_from_them(stream: Stream, dtype: str, layout: Callable) -> None:
    """The gradients depend only on the given numbers: float32 copies of them give the same bits."""
    dy, x, gamma, _ = data(dtype)
    _, mean, rstd = reference.group_norm(x.astype(np.float64), num_groups=GROUPS)
    mean, rstd = (one.astype(x.dtype) for one in (mean, rstd))
    made = host.group_norm_backward(dy, x, layout(mean), layout(rstd), gamma, num_groups=GROUPS, stream=stream)
    wide = [one.astype(np.float32) for one in (mean, rstd)]
    same = host.group_norm_backward(dy, x, *wide, gamma, num_groups=GROUPS, stream=stream)
    stream.synchronize()
    for one, right in zip(made, same, strict=True):
        np.testing.assert_array_equal(one, right)


@pytest.mark.parametrize("dtype", HALVES)
def test_an_empty_batch(stream: Stream, dtype: str) -> None:
    none = np.empty((0, 6, 4), as_dtype(dtype))
    made = host.group_norm(none, num_groups=GROUPS, stream=stream, statistics_of_x=True)
    grads = host.group_norm_backward(none, none, made.mean, made.rstd, num_groups=GROUPS, stream=stream)
    stream.synchronize()
    assert made.mean.shape == (0, GROUPS)
    assert not grads.grad_gamma.astype(np.float32).any()
