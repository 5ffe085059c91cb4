"""What may be passed to a kernel, and the sentences about what may not."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.cpp.entries import Param
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import Out, as_dtype, check_array, inout, launch_arg, out, workspace

X = Param("GM_ADDR", "x", ArgKind.TENSOR)


def value(ctype: str) -> Param:
    return Param(ctype, "n", ArgKind.VALUE)


def test_contiguous_array_is_not_copied() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert check_array("x", array) is array


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32).reshape(4, 6).T,
        np.arange(24, dtype=np.float32)[::-2],
        np.arange(24, dtype=">f4").reshape(2, 12),
        np.broadcast_to(np.float32(3), (2, 5)),
        np.arange(24, dtype=np.float16).reshape(2, 3, 4)[:, :, 1:3],
    ],
    ids=["transposed", "reversed", "big-endian", "broadcast", "sliced"],
)
def test_other_layouts_are_copied_into_order(array: np.ndarray) -> None:
    found = check_array("x", array)
    assert found.flags.c_contiguous
    assert found.dtype.isnative
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_array_without_axes_keeps_its_rank() -> None:
    assert check_array("x", np.array(3, np.float32)).shape == ()


class Tensor:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.zeros(3, np.float32)


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ([1.0, 2.0], "'x' is a list, not an array", "np.array(x, dtype=np.float32)"),
        ((1.0, 2.0), "'x' is a tuple, not an array", "np.array(x"),
        (Tensor(), "'x' is of type Tensor, not an array", "np.asarray(x)"),
        ("text", "'x' is of type str, not an array", "NumPy array"),
        (np.ma.masked_array([1.0], mask=[True]), "'x' is a masked array", "x.filled(0)"),
        (np.zeros(3), "'x': a kernel's array cannot be float64", "np.float32"),
        (np.zeros(3, np.complex64), "'x': a kernel's array cannot be complex64", "imaginary"),
        (np.array(["a"]), "'x': a kernel's array cannot be", "one of bool"),
        (np.array([None]), "'x': a kernel's array cannot be object", "one of bool"),
    ],
)
def test_what_is_no_array_is_refused_with_the_next_step(given: Any, message: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        launch_arg(X, given)
    assert message in caught.value.what
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "uint64", "float16", "float32", "bfloat16"])
def test_device_dtypes_are_accepted_by_name_and_as_arrays(name: str) -> None:
    dtype = as_dtype(name)
    assert dtype.name == name
    assert launch_arg(X, np.zeros(4, dtype)).data.dtype == dtype


def test_bfloat16_is_that_of_ml_dtypes() -> None:
    assert as_dtype("bfloat16") == np.dtype(ml_dtypes.bfloat16)
    assert as_dtype(ml_dtypes.bfloat16) == np.dtype(ml_dtypes.bfloat16)


def test_out_takes_a_length_or_a_shape() -> None:
    assert out(5) == Out((5,), np.dtype("float32"))
    assert out([2, np.int64(3)], "int8") == Out((2, 3), np.dtype("int8"))
    assert out(()) == Out((), np.dtype("float32"))


@pytest.mark.parametrize("shape", [-1, (2, -3), (2.0,), "4"])
def test_out_refuses_what_is_no_shape(shape: Any) -> None:
    with pytest.raises(ArgumentError, match="shape"):
        out(shape)


@pytest.mark.parametrize("size", [-1, 2.5, "4"])
def test_workspace_refuses_what_is_no_size(size: Any) -> None:
    with pytest.raises(ArgumentError, match="size"):
        workspace(size)


def test_roles_follow_from_the_markers() -> None:
    array = np.ones(3, np.float32)
    assert launch_arg(X, array).role == Role.IN
    assert launch_arg(X, out(3)).role == Role.OUT
    assert launch_arg(X, inout(array)).role == Role.INOUT
    assert launch_arg(X, workspace(64)).role == Role.WORKSPACE
    assert launch_arg(X, workspace(64)).data.nbytes == 64
    assert launch_arg(X, b"abcd").role == Role.TILING


def test_inout_leaves_the_callers_array_alone() -> None:
    array = np.ones(3, np.float32)
    assert not np.shares_memory(launch_arg(X, inout(array)).data, array)


class Struct(ctypes.Structure):
    _fields_ = (("n", ctypes.c_uint32), ("eps", ctypes.c_float))


@pytest.mark.parametrize("param", [X, value("DemoTiling")], ids=["pointer", "by value"])
def test_struct_is_passed_as_its_bytes(param: Param) -> None:
    dtype = np.dtype([("n", "u4"), ("eps", "f4")])
    expected = np.array((7, 0.5), dtype).tobytes()
    for given in (Struct(7, 0.5), np.array((7, 0.5), dtype), np.array([(7, 0.5)], dtype)[0], expected):
        assert launch_arg(param, given).data == expected


@pytest.mark.parametrize(
    ("ctype", "given", "expected"),
    [
        ("uint32_t", 7, np.uint32(7)),
        ("const uint32_t", np.int64(7), np.uint32(7)),
        ("std::int64_t", -7, np.int64(-7)),
        ("int", True, np.int32(1)),
        ("float", 2, np.float32(2)),
        ("float", np.float64(0.1), np.float32(0.1)),
        ("float", float("inf"), np.float32("inf")),
        ("half", 0.5, np.float16(0.5)),
        ("bfloat16_t", 1.5, ml_dtypes.bfloat16(1.5)),
        ("bool", True, np.bool_(True)),
    ],
)
def test_number_becomes_the_parameters_type(ctype: str, given: Any, expected: np.generic) -> None:
    arg = launch_arg(value(ctype), given)
    assert arg.kind == ArgKind.VALUE
    assert arg.data == expected.tobytes()


@pytest.mark.parametrize(
    ("ctype", "given", "message"),
    [
        ("uint32_t", -1, "'n' = -1 does not fit in uint32_t"),
        ("uint32_t", 2**32, "does not fit in uint32_t: 0 to 4294967295"),
        ("int8_t", 128, "does not fit in int8_t"),
        ("uint32_t", 4096.0, "'n' must be a whole number (uint32_t), not 4096.0"),
        ("uint32_t", "4096", "'n' must be a whole number"),
        ("float", "small", "'n' must be a number (float), not 'small'"),
        ("float", 1e300, "'n' = 1e+300 does not fit in float"),
        ("half", 1e6, "does not fit in half"),
        ("uint32_t", np.zeros(3, np.uint32), "'n' is an array, but the kernel's parameter is passed by value"),
        ("DemoTiling", 3, "'n' is of the C++ type DemoTiling"),
    ],
)
def test_number_that_would_become_another_is_refused(ctype: str, given: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        launch_arg(value(ctype), given)
    assert message in caught.value.what


@pytest.mark.parametrize("given", [3, 2.5, np.float32(1), True])
def test_number_for_a_pointer_is_refused(given: Any) -> None:
    with pytest.raises(ArgumentError, match="the kernel's parameter is a pointer"):
        launch_arg(X, given)


def test_none_is_a_null_pointer() -> None:
    made = launch_arg(X, None)
    assert made.absent
    assert made.nbytes == 0
    with pytest.raises(ArgumentError, match="'n'"):
        launch_arg(value("uint32_t"), None)
