"""GroupNormSilu and its gradients through the host API: numbers, missing gamma and beta, an empty batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gn_tutorial import host, reference
from gn_tutorial.host import Refused, Stream
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from tests.host.test_api import channels_last, contiguous, cropped, data

TOLERANCE = find_kernel("group_norm_silu/fused")[1].tolerance


@pytest.fixture(scope="module")
def stream() -> Stream:
    with Stream(observed=True) as made:
        yield made


@pytest.mark.parametrize("given_affine", [(True, False), (False, True), (False, False)], ids=str)
def test_a_missing_gamma_is_ones_and_a_missing_beta_zeros(stream: Stream, given_affine: tuple[bool, bool]) -> None:
    x, *affine = data((2, 10, 9), "float32")
    gamma, beta = (one if here else None for one, here in zip(affine, given_affine, strict=True))
    made = host.group_norm_silu(contiguous(x), gamma, beta, num_groups=5, eps=1e-3, stream=stream)
    stream.synchronize()
    wide = [None if one is None else one.astype(np.float64) for one in (x, gamma, beta)]
    expected = reference.group_norm_silu(*wide, num_groups=5, eps=1e-3)
    for got, right in zip(made, expected, strict=True):
        allowed = TOLERANCE.of(got.dtype.name)
        np.testing.assert_allclose(got, right, rtol=allowed.rtol, atol=allowed.atol)


@pytest.mark.parametrize("layout", [contiguous, channels_last, cropped])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gradients_are_the_bits_of_the_kernel_in_any_layout(stream: Stream, dtype: str, layout: Callable) -> None:
    """Also of tensors with the channels last, which are packed; without beta it is zeros."""
    x, gamma, beta = data((2, 10, 9, 3), dtype)
    dy = (x[::-1] * x.dtype.type(0.1)).copy()
    _, mean, rstd = host.group_norm_silu(x, gamma, beta, num_groups=5)
    for shift in (beta, None):
        made = host.group_norm_silu_backward(
            layout(dy), layout(x), mean, rstd, gamma, shift, num_groups=5, stream=stream
        )
        stream.synchronize()
        zeros = np.zeros_like(beta) if shift is None else shift
        right = kernel("group_norm_silu_backward/fused")(dy, x, mean, rstd, gamma, zeros, num_groups=5)
        for got, same in zip(made, right.outputs.values(), strict=True):
            np.testing.assert_array_equal(got, same)


def test_an_empty_batch_and_a_refusal() -> None:
    made = host.group_norm_silu(np.empty((0, 6, 4), np.float32), num_groups=3)
    assert [one.shape for one in made] == [(0, 6, 4), (0, 3), (0, 3)]
    with pytest.raises(Refused, match=r"gamma has shape \(5\); it must be \(6\)") as caught:
        host.group_norm_silu(np.ones((2, 6), np.float32), np.ones(5, np.float32), num_groups=3)
    assert caught.value.where == "GroupNormSiluGetWorkspaceSize"
