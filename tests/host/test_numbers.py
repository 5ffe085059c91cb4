"""Numbers of every operator through the host API: each dtype, layout and mask, against the reference in float64."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from host_case import Numbers
from host_cases import CASES

import gn_tutorial as gnt
from gn_tutorial.host import Stream, c_library
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.registry import find_kernel
from tests.host.test_api import DTYPES, LAYOUTS, channels_last_sliced, contiguous, cropped, sliced, transposed

NUMBERS = {name: case.numbers for name, case in CASES.items() if case.numbers is not None}
WITH_OUT = [name for name, one in NUMBERS.items() if one.out is not None]
#: Operators with a kernel for each layout; their bits are those of that kernel (test_layouts.py).
SEVERAL = {
    name
    for name in NUMBERS
    if sum(find_kernel(one)[0].direction != "helper" for one in set(c_library.kernels([name]))) > 1
}
MASKED = [name for name, one in NUMBERS.items() if one.out is None]


@pytest.fixture(scope="module")
def stream() -> Stream:
    """With the twin's checks: a kernel that reads or writes beside a tensor stops."""
    with Stream(observed=True) as made:
        yield made


def data(numbers: Numbers, dtype: str) -> list[np.ndarray]:
    """An array for each input: no two alike, nothing symmetric about 0."""
    rng = np.random.default_rng(7)
    return [(rng.standard_normal(shape) * 1.5 + 0.3).astype(as_dtype(dtype)) for shape in numbers.inputs]


def laid_out(layout: Callable, values: np.ndarray) -> np.ndarray:
    """A vector has no channels to move."""
    return layout(values) if values.ndim > 1 or layout in (contiguous, transposed, sliced, cropped) else values


def outputs(made: object) -> list[np.ndarray | None]:
    return list(made) if isinstance(made, tuple) else [made]


def expected(numbers: Numbers, inputs: list[np.ndarray]) -> list[np.ndarray]:
    return outputs(numbers.reference(*(one.astype(np.float64) for one in inputs), **numbers.options))


def assert_near(name: str, found: np.ndarray, right: np.ndarray) -> None:
    """Within the registered tolerance of the kernel that the operator launches."""
    limit = find_kernel(c_library.operators()[name])[1].tolerance.of(found.dtype.name)
    atol = limit.atol + limit.of_largest * np.abs(right).max(initial=0.0)
    np.testing.assert_allclose(found.astype(np.float64), right, rtol=limit.rtol, atol=atol)


def ways() -> Iterator[Any]:
    """Operators, layouts of inputs and output, dtypes.

    One layout packs, the other unpacks, so pairs that do both are left to --all. Where they differ it is another dtype
    with each operator and pair; each dtype meets each layout where both are the same.
    """
    for at, name in enumerate(WITH_OUT):
        for number, (layout, out_layout) in enumerate(itertools.product(LAYOUTS, LAYOUTS)):
            for dtype in DTYPES:
                turn = contiguous in (layout, out_layout) and dtype == DTYPES[(at + number) % len(DTYPES)]
                marks = () if layout is out_layout or turn else pytest.mark.thorough
                words = f"{name}-{layout.__name__}-{out_layout.__name__}-{dtype}"
                yield pytest.param(name, layout, out_layout, dtype, id=words, marks=marks)


@pytest.mark.parametrize(("name", "layout", "out_layout", "dtype"), list(ways()))
def test_every_layout(stream: Stream, name: str, layout: Callable, out_layout: Callable, dtype: str) -> None:
    numbers = NUMBERS[name]
    inputs = data(numbers, dtype)
    outs = tuple(out_layout(np.full(numbers.out, -77, inputs[0].dtype)) for _ in range(numbers.outs))
    given = [laid_out(layout, one) for one in inputs]
    there = outs if numbers.outs > 1 else outs[0]
    made = outputs(numbers.function(*given, stream=stream, out=there, **numbers.options))
    dense = outputs(numbers.function(*inputs, stream=stream, **numbers.options))
    stream.synchronize()
    assert all(one is out for one, out in zip(made, outs, strict=False))
    for one, same, right in zip(made, dense, expected(numbers, inputs), strict=True):
        if name not in SEVERAL:
            np.testing.assert_array_equal(one, same)
        assert_near(name, one, right)
    for out in outs if out_layout in (sliced, cropped, channels_last_sliced) else ():
        around = out.base
        assert np.count_nonzero(around == as_dtype(dtype).type(1000)) == around.size - out.size, "beside the output"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NUMBERS)
def test_the_bits_of_the_direct_call(stream: Stream, name: str, dtype: str) -> None:
    numbers = NUMBERS[name]
    inputs = data(numbers, dtype)
    made = outputs(numbers.function(*inputs, stream=stream, **numbers.options))
    stream.synchronize()
    direct = gnt.kernel(c_library.operators()[name])(*inputs, **numbers.options)
    for one, right in zip(made, direct.outputs.values(), strict=True):
        np.testing.assert_array_equal(one, right)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3)), ids=str)
@pytest.mark.parametrize("name", MASKED)
def test_every_mask(stream: Stream, name: str, mask: tuple[bool, ...], dtype: str) -> None:
    numbers = NUMBERS[name]
    inputs = data(numbers, dtype)
    given = [laid_out(transposed, one) for one in inputs]
    made = outputs(numbers.function(*given, output_mask=mask, stream=stream, **numbers.options))
    stream.synchronize()
    for one, right, wanted in zip(made, expected(numbers, inputs), mask, strict=True):
        assert (one is not None) is wanted
        if one is not None:
            assert_near(name, one, right)
