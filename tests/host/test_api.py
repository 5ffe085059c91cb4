"""The host API from Python: numbers against the float64 reference for every layout, workspaces, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import byref, c_uint64, c_void_p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from thoroughness import examples

from gn_tutorial import host, reference
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import Code, Refused, Stream, Tensor
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.timing.machine import default_cores

TOLERANCE = find_kernel("group_norm/any")[1].tolerance
DTYPES = ["float32", "float16", "bfloat16"]


def contiguous(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values)


def channels_last(values: np.ndarray) -> np.ndarray:
    """The same numbers with the channels next to each other in memory."""
    return np.moveaxis(contiguous(np.moveaxis(values, 1, -1)), -1, 1)


def transposed(values: np.ndarray) -> np.ndarray:
    """With the axes of memory in the opposite order."""
    return contiguous(values.T).T


def sliced(values: np.ndarray) -> np.ndarray:
    """Every third number of a larger array, from its second on."""
    larger = np.full((*values.shape[:-1], values.shape[-1] * 3 + 2), 1000, values.dtype)
    view = larger[..., 1 : 1 + 3 * values.shape[-1] : 3]
    view[...] = values
    return view


def cropped(values: np.ndarray) -> np.ndarray:
    """The middle of an array that is larger along every axis."""
    larger = np.full([length + 3 for length in values.shape], 1000, values.dtype)
    view = larger[tuple(slice(1, 1 + length) for length in values.shape)]
    view[...] = values
    return view


def channels_last_sliced(values: np.ndarray) -> np.ndarray:
    return np.moveaxis(sliced(np.moveaxis(values, 1, -1)), -1, 1)


LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    contiguous, channels_last, transposed, sliced, cropped, channels_last_sliced,
]  # fmt: skip


def data(shape: tuple[int, ...], dtype: str, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0.5, 4, (1, shape[1], *(1,) * (len(shape) - 2)))
    x = rng.standard_normal(shape) * scale + rng.uniform(-2, 2, scale.shape)
    gamma, beta = rng.uniform(0.5, 2, shape[1]), rng.uniform(-1, 1, shape[1])
    return tuple(one.astype(as_dtype(dtype)) for one in (x, gamma, beta))


def assert_right(made: host.GroupNormArrays, x: np.ndarray, *affine: np.ndarray | None, groups: int) -> None:
    wide = [None if one is None else one.astype(np.float64) for one in (x, *affine)]
    expected = reference.group_norm(*wide, num_groups=groups)
    for got, right in zip(made, expected, strict=True):
        allowed = TOLERANCE.of(got.dtype.name)
        np.testing.assert_allclose(got.astype(np.float64), right, rtol=allowed.rtol, atol=allowed.atol)


@pytest.fixture(scope="module")
def stream() -> Stream:
    """With the twin's checks: a kernel that reads or writes beside a tensor stops."""
    with Stream(observed=True) as made:
        yield made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given_affine", [(True, False), (False, True), (False, False)], ids=str)
def test_a_missing_gamma_is_ones_and_a_missing_beta_zeros(
    stream: Stream, given_affine: tuple[bool, bool], dtype: str
) -> None:
    x, *affine = data((2, 10, 9), dtype)
    gamma, beta = (one if here else None for one, here in zip(affine, given_affine, strict=True))
    made = host.group_norm(x, gamma, beta, num_groups=5, stream=stream)
    stream.synchronize()
    assert_right(made, x, gamma, beta, groups=5)


@pytest.mark.parametrize(
    ("shape", "groups"),
    [((1, 1), 1), ((3, 6), 2), ((2, 5000, 1), 5), ((1, 4, 70_000), 2), ((2, 2, 2, 1, 2, 1, 2, 3), 2), ((41, 2, 3), 1)],
    ids=str,
)
def test_shapes_of_every_rank(stream: Stream, shape: tuple[int, ...], groups: int) -> None:
    x, gamma, beta = data(shape, "float32")
    for layout in (contiguous, transposed):
        made = host.group_norm(layout(x), gamma, beta, num_groups=groups, stream=stream)
        stream.synchronize()
        assert_right(made, x, gamma, beta, groups=groups)


@given(
    shape=array_shapes(min_dims=2, max_dims=6, max_side=7),
    seed=st.integers(0, 99),
    order=st.randoms(use_true_random=False),
    dtype=st.sampled_from(DTYPES),
)
@settings(deadline=None, max_examples=examples(30))
def test_any_order_of_axes_with_gaps(
    stream: Stream, shape: tuple[int, ...], seed: int, order: object, dtype: str
) -> None:
    x, gamma, beta = data(shape, dtype, seed)
    axes = list(range(x.ndim))
    order.shuffle(axes)  # type: ignore[attr-defined]

    def reordered(values: np.ndarray) -> np.ndarray:
        return cropped(values.transpose(axes)).transpose(np.argsort(axes))

    groups = math.gcd(shape[1], 6)
    out = reordered(np.zeros(shape, x.dtype))
    made = host.group_norm(reordered(x), gamma, beta, num_groups=groups, stream=stream, out=out)
    stream.synchronize()
    assert made.out is out
    # Not the bits of one kernel: which of two runs depends on the order of axes (test_layouts.py).
    assert_right(made, x, gamma, beta, groups=groups)


def test_an_input_may_repeat_its_elements(stream: Stream) -> None:
    row = np.arange(12, dtype=np.float32).reshape(4, 3)
    x = np.broadcast_to(row, (2, 6, 4, 3))
    gamma = np.broadcast_to(np.float32(2), (6,))
    made = host.group_norm(x, gamma, num_groups=3, stream=stream)
    stream.synchronize()
    assert_right(made, x, gamma, None, groups=3)


@pytest.mark.parametrize("shape", [(0, 6, 4), (0, 6), (0, 6, 0)], ids=str)
def test_an_empty_batch_has_nothing_to_do(stream: Stream, shape: tuple[int, ...]) -> None:
    made = host.group_norm(np.empty(shape, np.float32), num_groups=3, stream=stream)
    stream.synchronize()
    assert [one.shape for one in made] == [shape, (0, 3), (0, 3)]
    assert workspace_bytes(np.empty(shape, np.float32)) == 0


def test_without_a_stream_the_call_waits() -> None:
    x, gamma, beta = data((2, 6, 5), "float32")
    assert_right(host.group_norm(x, gamma, beta, num_groups=2), x, gamma, beta, groups=2)


# --- workspace -------------------------------------------------------------------------------------------------------


def workspace_bytes(x: np.ndarray, gamma: np.ndarray | None = None, beta: np.ndarray | None = None) -> int:
    library, size, executor = host.library(), c_uint64(), c_void_p()
    outputs = [Tensor(np.empty(shape, np.float32)) for shape in (x.shape, (x.shape[0], 3), (x.shape[0], 3))]
    outputs[0] = Tensor(np.empty(x.shape, x.dtype))
    inputs = [None if one is None else Tensor(one) for one in (x, gamma, beta)]
    host.check(
        library.GroupNormGetWorkspaceSize(
            *(one and one.handle for one in inputs), *x.shape[:2], math.prod(x.shape[2:]), 3, 1e-5,
            *(one.handle for one in outputs), byref(size), byref(executor),
        )
    )  # fmt: skip
    assert library.GnDestroyExecutor(executor) == Code.SUCCESS
    return size.value


def test_contiguous_tensors_pay_nothing_and_others_their_copy() -> None:
    ones = np.ones(6, np.float32)
    base = [workspace_bytes(data((2, 6, length), "float32")[0], ones, ones) for length in (1024, 512)]
    assert base[0] == base[1] == 1023, "the tiling struct's 512 bytes, and what it takes to align them: no tensor"
    x = data((2, 6, 1024), "float32")[0]
    for layout in (channels_last, sliced):
        assert workspace_bytes(layout(x), ones, ones) == base[0] + x.nbytes + 512, "the copy, and its own tiling"
    assert workspace_bytes(x, None, ones) == base[0] + 512, "ones"
    assert workspace_bytes(x, ones, sliced(ones)) == base[0] + 2 * 512


def test_the_work_is_divided_as_by_the_direct_call() -> None:
    assert host.library().GnVectorCores() == default_cores()


# --- the module ------------------------------------------------------------------------------------------------------


def test_a_refusal_says_what_where_and_what_next() -> None:
    x, gamma, beta = data((2, 6, 5), "float32")
    with pytest.raises(Refused) as caught:
        host.group_norm(x, gamma[:5], beta, num_groups=3)
    error = caught.value
    assert (error.code, error.exit_code) == (Code.PARAM_INVALID, 2)
    assert error.what == "gamma has shape (5); it must be (6), one number for each channel"
    assert error.where == "GroupNormGetWorkspaceSize"
    assert error.hint == "describe gamma with that shape"
    assert isinstance(error, ArgumentError)


@pytest.mark.parametrize("groups", [0, -1, 4, 1 << 40])
def test_groups_that_do_not_divide_are_refused(groups: int) -> None:
    with pytest.raises(Refused):
        host.group_norm(np.ones((2, 6), np.float32), num_groups=groups)


@pytest.mark.parametrize("groups", [3.0, "3", None, 2**64 + 3], ids=str)
def test_groups_that_c_would_get_as_another_number_are_refused(groups: object) -> None:
    with pytest.raises(ArgumentError, match="num_groups"):
        host.group_norm(np.ones((2, 6), np.float32), num_groups=groups)


def test_arrays_that_cannot_be_described() -> None:
    with pytest.raises(Refused, match=r"stride\[0\] is -1"):
        Tensor(np.ones(4, np.float32)[::-1])
    with pytest.raises(ArgumentError, match="no number for 'float64'"):
        Tensor(np.ones(4))
    pairs = np.zeros(4, [("a", np.float32), ("b", np.uint8)])
    with pytest.raises(ArgumentError, match="not multiples of the element size"):
        Tensor(pairs["a"])
