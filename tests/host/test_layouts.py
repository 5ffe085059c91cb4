"""Tensors with the channels last through the host API: which kernel takes them, and what is packed for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from host_api_support import View, first_call

import gn_tutorial as gnt
from gn_tutorial import host
from gn_tutorial.host import Stream
from tests.host.test_api import assert_right, channels_last, channels_last_sliced, contiguous, data, transposed

SHAPE, GROUPS = (3, 12, 20, 31), 4
BYTES = 4 * 3 * 12 * 20 * 31
N, C, H, W = SHAPE
FIRST, LAST = (C * H * W, H * W, W, 1), (C * H * W, 1, C * W, C)
#: Slices of twice as many channels, of rows with a gap behind, and axes that are in neither order.
CROPPED_LAST, CROPPED, OTHER = (
    (2 * C * H * W, 1, 2 * C * W, 2 * C),
    (2 * C * H * W, H * W, W, 1),
    (W, 3 * H * W, 3 * W, 1),
)


@pytest.fixture(scope="module")
def stream() -> Stream:
    with Stream(observed=True) as made:
        yield made


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_channels_last_has_the_bits_of_its_own_kernel(stream: Stream, dtype: str) -> None:
    """Contiguous tensors have the bits of the other kernel; the two add in different orders."""
    x, gamma, beta = data(SHAPE, dtype)
    last = host.group_norm(channels_last(x), gamma, beta, num_groups=GROUPS, stream=stream, out=channels_last(x * 0))
    first = host.group_norm(x, gamma, beta, num_groups=GROUPS, stream=stream)
    stream.synchronize()
    of_last = gnt.kernel("group_norm_nhwc/rows")(contiguous(np.moveaxis(x, 1, -1)), gamma, beta, num_groups=GROUPS)
    of_first = gnt.kernel("group_norm/any")(x, gamma, beta, num_groups=GROUPS)
    assert not np.array_equal(of_last.mean, of_first.mean)
    for made, right, y in ((last, of_last, np.moveaxis(of_last.y, -1, 1)), (first, of_first, of_first.y)):
        np.testing.assert_array_equal(made.out, y)
        np.testing.assert_array_equal(made.mean, right.mean)
        np.testing.assert_array_equal(made.rstd, right.rstd)
        assert_right(made, x, gamma, beta, groups=GROUPS)


@pytest.mark.parametrize("layout", [channels_last, channels_last_sliced, transposed, contiguous])
@pytest.mark.parametrize("out_layout", [channels_last, channels_last_sliced, contiguous])
@pytest.mark.parametrize(
    ("shape", "groups"),
    [((2, 6), 3), ((2, 5, 3), 5), ((1, 1, 4, 5), 1), ((2, 6, 1, 1), 2), ((2, 4, 2, 3, 2), 2)],
    ids=str,
)
def test_numbers(stream: Stream, shape: tuple, groups: int, layout: Callable, out_layout: Callable) -> None:
    x, gamma, _ = data(shape, "float32")
    out = out_layout(np.zeros(shape, np.float32))
    made = host.group_norm(layout(x), gamma, num_groups=groups, stream=stream, out=out)
    stream.synchronize()
    assert_right(made, x, gamma, None, groups=groups)


@pytest.mark.parametrize(
    ("self", "out", "packed"),
    [
        (FIRST, FIRST, 0),
        (LAST, LAST, 0),
        (CROPPED_LAST, LAST, 1),  # whole rows of channels are moved
        (CROPPED_LAST, CROPPED_LAST, 2),
        (CROPPED, FIRST, 1),
        (LAST, FIRST, 1),  # one of them has to change its order
        (FIRST, LAST, 1),
        (CROPPED_LAST, FIRST, 1),  # not two copies
        (OTHER, FIRST, 1),
        (OTHER, LAST, 1),
    ],
    ids=str,
)
def test_the_workspace_has_the_copies_that_are_made(self: tuple, out: tuple, packed: int) -> None:
    """A packed tensor is the largest thing there by far: the workspace's size tells how many there are."""
    call = {
        "self": View(SHAPE, strides=self),
        "gamma": None,
        "beta": None,
        "N": N,
        "C": C,
        "HxW": H * W,
        "group": GROUPS,
        "eps": 1e-5,
        "out": View(SHAPE, strides=out),
        "meanOut": View((N, GROUPS)),
        "rstdOut": View((N, GROUPS)),
    }
    answer = first_call("GroupNorm", call)
    assert answer.workspace // BYTES == packed
    assert answer.workspace % BYTES < BYTES / 2


def test_channels_that_the_kernel_refuses_are_packed(stream: Stream) -> None:
    x = np.moveaxis(np.random.default_rng(1).standard_normal((1, 2, 262146)).astype(np.float32), -1, 1)
    made = host.group_norm(x, num_groups=1, stream=stream)
    stream.synchronize()
    assert_right(made, x, None, None, groups=1)
