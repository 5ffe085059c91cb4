"""GELU and Linear through the host API: numbers for every dtype, layout and mask, copies only where needed."""

from __future__ import annotations

from ctypes import byref, c_uint64, c_void_p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from thoroughness import examples

from gn_tutorial import host, reference
from gn_tutorial.host import Code, Refused, Stream, Tensor
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.registry import find_kernel
from tests.host.test_api import DTYPES, channels_last, contiguous, cropped, transposed


@pytest.fixture(scope="module")
def stream() -> Stream:
    """With the twin's checks: a kernel that reads or writes beside a tensor stops."""
    with Stream(observed=True) as made:
        yield made


def data(*shapes: tuple[int, ...], dtype: str = "float32", seed: int = 7) -> list[np.ndarray]:
    """An array for each shape: no two alike, nothing symmetric about 0."""
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(shape) * 1.5 + 0.3).astype(as_dtype(dtype)) for shape in shapes]


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    return [one.astype(np.float64) for one in arrays]


def assert_near(found: np.ndarray, right: np.ndarray, kernel: str, terms: np.ndarray | float = 0.0) -> None:
    """Assert that the numbers are within the kernel's registered tolerance.

    terms: for an element that is a sum, the sum of its terms' magnitudes. Each addition rounds, and if the terms cancel
    the sum may be as small as these roundings: so one part in 2**23 of ``terms`` is allowed besides.
    """
    assert found.shape == right.shape
    limit = find_kernel(kernel)[1].tolerance.of(found.dtype.name)
    atol = limit.atol + limit.of_largest * np.abs(right).max(initial=0.0) + 2.0**-23 * np.asarray(terms)
    assert (np.abs(found.astype(np.float64) - right) <= atol + limit.rtol * np.abs(right)).all()


def filled(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.full(shape, -77, dtype)


# --- GELU ------------------------------------------------------------------------------------------------------------


@given(shape=array_shapes(min_dims=1, max_dims=6, max_side=6), seed=st.integers(0, 99), order=st.randoms())
@settings(deadline=None, max_examples=examples(30))
def test_gelu_with_any_order_of_axes(stream: Stream, shape: tuple[int, ...], seed: int, order: object) -> None:
    (x,) = data(shape, seed=seed)

    def reordered(values: np.ndarray) -> np.ndarray:
        axes = list(range(values.ndim))
        order.shuffle(axes)  # type: ignore[attr-defined]
        return cropped(values.transpose(axes)).transpose(np.argsort(axes))

    out = reordered(filled(shape, x.dtype))
    host.gelu(reordered(x), stream=stream, out=out)
    stream.synchronize()
    np.testing.assert_array_equal(out, host.gelu(x))


def test_gelu_of_a_tensor_without_axes() -> None:
    x = np.array(-1.5, np.float32)
    assert host.gelu(x).shape == ()
    assert_near(host.gelu(x), reference.gelu(*wide(x)), "gelu/queue")


@pytest.mark.parametrize("size", [1, 127, 128, 40 * 128 + 1, 300_000])
def test_gelu_divides_any_number_of_elements(stream: Stream, size: int) -> None:
    (x,) = data((size,))
    y = host.gelu(x, stream=stream)
    stream.synchronize()
    assert_near(y, reference.gelu(*wide(x)), "gelu/queue")


def needs(name: str, *arrays: np.ndarray) -> int:
    """Bytes of workspace that the operator asks for; the last array is written."""
    library, size, executor = host.library(), c_uint64(), c_void_p()
    tensors = [Tensor(one) for one in arrays]
    first = getattr(library, f"{name}GetWorkspaceSize")
    host.check(first(*(one.handle for one in tensors), byref(size), byref(executor)))
    assert library.GnDestroyExecutor(executor) == Code.SUCCESS
    return size.value


def test_gelu_copies_nothing_that_lies_as_the_output_does() -> None:
    x, out = data((2, 6, 5, 7), (2, 6, 5, 7))
    copy = (x.nbytes + 511) // 512 * 512 + 512  # the packed tensor, and the tiling of its copy
    for layout in (contiguous, channels_last, transposed):
        assert needs("Gelu", layout(x), layout(out)) == 0, "numbers go by value: not even a tiling struct"
        assert needs("GeluBackward", layout(x), layout(x), layout(out)) == 0
    assert needs("Gelu", channels_last(x), out) == needs("Gelu", x, channels_last(out)) == copy + 511
    assert needs("GeluBackward", x, channels_last(x), channels_last(out)) == copy + 511, "only the one that differs"


# --- Linear ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_missing_bias_is_zeros(stream: Stream, dtype: str) -> None:
    x, weight, bias = data((9, 40), (17, 40), (17,), dtype=dtype)
    with_bias, without = (host.linear(x, weight, one, stream=stream) for one in (bias, None))
    stream.synchronize()
    assert_near(without, reference.linear(*wide(x, weight), np.zeros(17)), "linear/lanes")
    assert (with_bias != without).any()


@given(
    rows=array_shapes(min_dims=0, max_dims=5, max_side=4), inner=st.integers(0, 40), outer=st.integers(0, 40),
    seed=st.integers(0, 99),
)  # fmt: skip
@settings(deadline=None, max_examples=examples(30))
def test_linear_of_any_shape(stream: Stream, rows: tuple[int, ...], inner: int, outer: int, seed: int) -> None:
    x, weight, bias, dy = data((*rows, inner), (outer, inner), (outer,), (*rows, outer), seed=seed)
    y = host.linear(transposed(x), weight, bias, stream=stream)
    grads = host.linear_backward(dy, x, transposed(weight), stream=stream)
    stream.synchronize()
    exact, large = wide(x, weight, bias), wide(*map(np.abs, (x, weight, bias)))
    assert_near(y, reference.linear(*exact), "linear/lanes", reference.linear(*large))
    exact, large = wide(dy, x, weight), wide(*map(np.abs, (dy, x, weight)))
    rights, sums = reference.linear_backward(*exact), reference.linear_backward(*large)
    for one, right, terms in zip(grads, rights, sums, strict=True):
        assert_near(one, right, "linear_backward/rows", terms)


# --- both ------------------------------------------------------------------------------------------------------------


def test_empty_tensors(stream: Stream) -> None:
    none, weight, bias = data((0, 4), (5, 4), (5,))
    assert host.gelu(none, stream=stream).shape == (0, 4)
    assert host.gelu_backward(none, none, stream=stream).shape == (0, 4)
    y = host.linear(none, weight, bias, stream=stream)
    grads = host.linear_backward(np.empty((0, 5), np.float32), none, weight, stream=stream)
    stream.synchronize()
    assert y.shape == (0, 5)
    assert grads.grad_input.shape == (0, 4)
    assert not grads.grad_weight.any()
    assert not grads.grad_bias.any()


def test_a_refusal_names_the_first_call() -> None:
    x, weight = data((3, 5), (4, 6))
    with pytest.raises(Refused, match=r"weight has shape \(4, 6\); it must be \(4, 5\)") as caught:
        host.linear(x, weight)
    assert (caught.value.code, caught.value.where) == (Code.PARAM_INVALID, "LinearGetWorkspaceSize")
    for mask in ((True,), (True,) * 4):
        with pytest.raises(Refused, match=f"outputMaskSize is {len(mask)}; it must be 3"):
            host.linear_backward(x, x, np.ones((5, 5), np.float32), output_mask=mask)


def test_a_stream_compiles_only_what_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner who calls one operator must not wait for the compiler because of seven."""
    from gn_tutorial.host import c_library

    built: list[str] = []
    real = c_library.build_kernel
    monkeypatch.setattr(c_library, "build_kernel", lambda path, **how: built.append(path.name) or real(path, **how))
    (x,) = data((3, 5))
    with Stream() as stream:
        assert built == []
        for _ in range(2):
            host.gelu(x, stream=stream)
        assert sorted(built) == ["gelu.cpp", "strided_copy.cpp"]
