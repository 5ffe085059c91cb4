"""Checks the values that a learner passes to ``Kernel.run``, and converts each to a launch argument."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gn_tutorial.abi.dtypes import ARRAY_DTYPES, DTYPES
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.abi.tensor_list import list_words
from gn_tutorial.cpp.entries import Param
from gn_tutorial.errors import ArgumentError, shown
from gn_tutorial.operators.memory_check import require_room
from gn_tutorial.operators.tiling import Tiling
from gn_tutorial.runtime.launch_types import LaunchArg

#: C++ type of a by-value kernel parameter -> dtype name.
_VALUE_DTYPES = {ctype: one.name for one in DTYPES.values() for ctype in one.ctypes}


def as_dtype(dtype: Any) -> np.dtype:
    """Return ``dtype`` (``"float32"``, ``np.float16``, ``"bfloat16"``, a dtype) as a NumPy dtype in native byte order.

    Raises ArgumentError, whose hint says what to use instead, for a dtype that a kernel's array cannot have.
    """
    try:
        if isinstance(dtype, str) and dtype == "bfloat16":
            import ml_dtypes  # costs as much as NumPy to import, and most launches have no bfloat16

            return np.dtype(ml_dtypes.bfloat16)
        found = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):  # NumPy parses texts, such as "(2" or a lone surrogate
        found = None
    if found is not None and found.name in ARRAY_DTYPES:
        return found if found.isnative else found.newbyteorder("=")
    name = repr(dtype) if found is None else found.name
    if name == "float64":
        hint = "convert it with .astype(np.float32): the device has no float64 (to move 8-byte words, view it as int64)"
    elif name.startswith("complex"):
        hint = "pass the real and the imaginary part as two arrays"
    else:
        hint = f"one of {', '.join(ARRAY_DTYPES)}"
    raise ArgumentError(f"a kernel's array cannot be {name}", hint=hint)


@dataclass(frozen=True)
class Out:
    """An output: the caller gives only its shape and dtype. Its memory is poisoned before the launch."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class Same:
    """An argument that shares the memory of the earlier parameter ``name``, with the shape and dtype of ``array``."""

    name: str
    array: np.ndarray


@dataclass(frozen=True)
class SameList:
    """An argument that shares the list of tensors of the earlier parameter ``name``: same descriptor, same memory."""

    name: str


@dataclass(frozen=True)
class InOut:
    """An array that the kernel reads and writes."""

    array: np.ndarray


@dataclass(frozen=True)
class Scratch:
    """Scratch memory in global memory; ``size`` in bytes."""

    size: int


@dataclass(frozen=True)
class TensorList:
    """A list of tensors, which the kernel reads with ListTensorDesc: arrays, ``Out`` or ``InOut``."""

    tensors: tuple[np.ndarray | Out | InOut, ...]


def out(shape: int | Sequence[int], dtype: Any = "float32") -> Out:
    """Return an output for ``Kernel.run``: ``y=out((2, 8), "float16")`` or ``y=out(4096)``. Raises ArgumentError."""
    axes = shape if isinstance(shape, (tuple, list)) else (shape,)
    try:
        lengths = tuple(operator.index(axis) for axis in axes)
    except TypeError:
        raise ArgumentError(f"an output's shape is whole numbers, not {shape!r}") from None
    if any(length < 0 for length in lengths):
        raise ArgumentError(f"an output's shape cannot be negative: {lengths}")
    found = as_dtype(dtype)
    require_room("an output of this shape", lengths, found.itemsize)
    return Out(lengths, found)


def inout(array: np.ndarray) -> InOut:
    """Return an array for the kernel to read and write, as ``InOut``. Raises ArgumentError as ``check_array`` does.

    The caller's array stays unchanged: the kernel writes to a copy, which the result has.
    """
    return InOut(check_array("inout", array))


def workspace(size: int) -> Scratch:
    """Return scratch memory of ``size`` bytes in global memory. Raises ArgumentError for an impossible size."""
    try:
        whole = operator.index(size)
    except TypeError:
        raise ArgumentError(f"a workspace's size is a whole number of bytes, not {size!r}") from None
    if whole < 0:
        raise ArgumentError(f"a workspace's size cannot be negative: {whole}")
    require_room("this workspace", (whole,), 1)
    return Scratch(whole)


def check_array(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as a C-contiguous array in native byte order: ``value`` itself if it is one, else a copy.

    Raises ArgumentError, whose hint has the conversion to write, for lists, tensors, masked arrays, and dtypes that the
    device lacks.
    """
    require_array(name, value)
    try:
        dtype = as_dtype(value.dtype)
    except ArgumentError as error:
        raise ArgumentError(f"'{name}': {error.what}", hint=error.hint) from None
    # np.ascontiguousarray would turn a 0-d array into a 1-d one.
    return np.asarray(value, dtype=dtype, order="C")


def require_array(name: str, value: Any) -> None:
    """Raise ArgumentError, whose hint has the conversion to write, unless ``value`` is an array without a mask."""
    if isinstance(value, (list, tuple, range)):
        hint = f"np.array({name}, dtype=np.float32): the dtype has to be chosen"
        raise ArgumentError(f"'{name}' is a {type(value).__name__}, not an array", hint=hint)
    if not isinstance(value, np.ndarray):
        hint = f"np.asarray({name})" if hasattr(value, "__array__") else "pass a NumPy array"
        raise ArgumentError(f"'{name}' is of type {type(value).__name__}, not an array", hint=hint)
    # Do not import numpy.ma, which takes 10 ms: while nothing has imported it, no masked array can exist.
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"'{name}' is a masked array, and a kernel sees no mask", hint=f"{name}.filled(0)")


def launch_args(params: Sequence[Param], values: Mapping[str, Any]) -> list[LaunchArg]:
    """Return the arguments of a launch: one for each parameter, then the tensors of lists, as ``x[0]``, ``x[1]``.

    values: parameter name -> value. Raises ArgumentError, which names the parameter.
    """
    args, tensors = [], []
    for param in params:
        value = values[param.name]
        if isinstance(value, SameList):
            owner = next(one for one in args if one.name == value.name)
            args.append(LaunchArg(param.name, owner.kind, owner.role, owner.data, same_as=value.name))
            continue
        if not isinstance(value, TensorList):
            args.append(launch_arg(param, value))
            continue
        if param.kind == ArgKind.VALUE:
            raise ArgumentError(
                f"'{param.name}' is a list of tensors, but the kernel's parameter is passed by value ({param.ctype})",
                hint="declare the parameter as GM_ADDR",
            )
        own = [
            launch_arg(dataclasses.replace(param, name=f"{param.name}[{index}]"), one)
            for index, one in enumerate(value.tensors)
        ]
        words = list_words([one.data.shape for one in own], len(params) + len(tensors))
        args.append(LaunchArg(param.name, ArgKind.TENSOR, Role.LIST, words))
        tensors += own
    return [*args, *tensors]


def launch_arg(param: Param, value: Any) -> LaunchArg:
    """Return the launch argument for ``param`` with this value. None, for an optional array, becomes a null pointer.

    Raises ArgumentError, which names the parameter.
    """
    if param.kind == ArgKind.VALUE:
        return LaunchArg(param.name, ArgKind.VALUE, Role.IN, _value_bytes(param, value))
    match value:
        case None:
            return LaunchArg(param.name, ArgKind.TENSOR, Role.IN, b"", absent=True)
        case Out():
            return LaunchArg(param.name, ArgKind.TENSOR, Role.OUT, np.empty(value.shape, value.dtype))
        case InOut():
            # A copy, because a launch inside this process writes in place.
            return LaunchArg(param.name, ArgKind.TENSOR, Role.INOUT, value.array.copy())
        case Same():
            return LaunchArg(param.name, ArgKind.TENSOR, Role.IN, value.array, same_as=value.name)
        case Scratch():
            return LaunchArg(param.name, ArgKind.TENSOR, Role.WORKSPACE, np.empty(value.size, np.uint8))
    struct = _struct_bytes(value)
    if struct is not None:
        return LaunchArg(param.name, ArgKind.TENSOR, Role.TILING, struct)
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        raise ArgumentError(
            f"'{param.name}' is a number ({shown(value)}), but the kernel's parameter is a pointer ({param.ctype})",
            hint="pass an array, or declare the parameter as a number, for example uint32_t",
        )
    return LaunchArg(param.name, ArgKind.TENSOR, Role.IN, check_array(param.name, value))


def _struct_bytes(value: Any) -> bytes | None:
    """Return the bytes of a struct (tiling data); None if ``value`` is not a struct."""
    if isinstance(value, Tiling):
        return value.bytes
    if isinstance(value, (bytes, bytearray, ctypes.Structure)):
        return bytes(value)
    if isinstance(value, np.void):
        return value.tobytes()
    if isinstance(value, np.ndarray) and value.dtype.fields and value.ndim == 0:
        return value.tobytes()
    return None


def _value_bytes(param: Param, value: Any) -> bytes:
    struct = _struct_bytes(value)
    if struct is not None:
        return struct
    ctype = " ".join(word for word in param.ctype.replace("&", " ").split() if word not in ("const", "volatile"))
    ctype = ctype.removeprefix("std::")
    if isinstance(value, (np.ndarray, list, tuple, Out, InOut, Scratch)) and not np.isscalar(value):
        raise ArgumentError(
            f"'{param.name}' is an array, but the kernel's parameter is passed by value ({param.ctype})",
            hint="pass a number, or declare the parameter as GM_ADDR",
        )
    if ctype not in _VALUE_DTYPES:
        raise ArgumentError(
            f"'{param.name}' is of the C++ type {param.ctype}, which {value!r} cannot be converted to",
            hint="pass its bytes: a Tiling, a ctypes.Structure, or a NumPy structured scalar",
        )
    return _number(param, value, _VALUE_DTYPES[ctype]).tobytes()


def _number(param: Param, value: Any, name: str) -> np.generic:
    """Return ``value`` as a NumPy scalar of dtype ``name``; a real number is rounded.

    Raises ArgumentError for a value that is not a number, is not whole for an integer, or does not fit, which C++ would
    silently change.
    """
    if name.startswith(("int", "uint")):
        bits = np.iinfo(name)
        try:
            whole = operator.index(value)
        except TypeError:
            hint = f"int({param.name})" if isinstance(value, (float, np.floating)) else ""
            raise ArgumentError(
                f"'{param.name}' must be a whole number ({param.ctype}), not {shown(value)}", hint=hint
            ) from None
        if not bits.min <= whole <= bits.max:
            fitting = f"{bits.min} to {bits.max}"
            raise ArgumentError(f"'{param.name}' = {shown(whole)} does not fit in {param.ctype}: {fitting}")
        return np.dtype(name).type(whole)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"'{param.name}' must be a number ({param.ctype}), not {shown(value)}") from None
    if name == "bool":
        return np.bool_(value)
    dtype = np.dtype("float64") if name == "float64" else as_dtype(name)
    with np.errstate(over="ignore"):
        result = dtype.type(number)
    if math.isfinite(number) and not math.isfinite(float(result)):
        raise ArgumentError(f"'{param.name}' = {value!r} does not fit in {param.ctype}")
    return result
