"""The arguments of an aclnn call, as a test program sends them: scalars, arrays, tensors as shape and strides."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.operators.arguments import Out, as_dtype
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.parameters import Parameter

#: Number of a dtype in acl (aclDataType) -> its NumPy name.
TYPE_NAMES = {one.number: one.name for one in DTYPES.values() if one.number is not None}
_ARRAYS = {"ints": np.int64, "floats": np.float32, "bools": np.bool_}


class Mark(Enum):
    """An argument without a value: a null pointer, a destroyed object, or a pointer to which a result is written."""

    NONE = "none"
    DEAD = "dead"
    PLACE = "place"


_MARKS = {one.value: one for one in Mark}


@dataclass(frozen=True)
class SentTensor:
    """One tensor of an aclnn first call (GetWorkspaceSize). stride and offset count elements.

    values: the bytes of the storage, sent only if the tiling function reads them.
    """

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    has_data: bool
    values: bytes | None = None

    @property
    def contiguous(self) -> bool:
        """Whether the elements are stored one after the other."""
        expected = 1
        for length, step in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if length != 1 and step != expected:
                return 0 in self.shape
            expected *= length
        return True

    def blank(self) -> np.ndarray:
        """Return a contiguous array of this shape: the values if they were sent, else zeros."""
        if self.values is not None:
            return np.ascontiguousarray(self.view(bytearray(self.values)))
        return np.zeros(self.shape, as_dtype(self.dtype))

    def view(self, raw: bytearray, *, as_stored: bool = False) -> np.ndarray:
        """Return a view of the elements in ``raw``, the bytes of the storage. as_stored: ignore the strides."""
        dtype = as_dtype(self.dtype)
        if 0 in self.shape:
            return np.zeros(self.shape, dtype)
        flat = np.frombuffer(raw, dtype)[self.offset :]
        if as_stored:
            return flat[: int(np.prod(self.shape, dtype=np.int64))].reshape(self.shape)
        steps = [one * dtype.itemsize for one in self.stride]
        return np.lib.stride_tricks.as_strided(flat, self.shape, steps)


def read_argument(line: Callable[[], str]) -> Any:
    """Read and return the next argument. line: returns the next line of the pipe.

    The argument is a Mark, a SentTensor, an array, a number, a text, or a list of Marks, SentTensors and arrays.
    """
    kind, _, rest = line().partition(" ")
    words = rest.split(" ")
    if kind in _MARKS:
        return _MARKS[kind]
    if kind in ("tensors", "scalars"):
        return [read_argument(line) for _ in range(int(words[0]))]
    if kind == "tensor":
        return _tensor(words)
    if kind == "scalar":
        raw = bytes.fromhex(words[1][1:])
        return np.frombuffer(raw, as_dtype(TYPE_NAMES.get(int(words[0]), "unknown"))).reshape(1)
    if kind in _ARRAYS:
        return np.frombuffer(bytes.fromhex(rest[1:]), _ARRAYS[kind])
    if kind == "string":
        return bytes.fromhex(rest[1:]).decode("utf-8", "replace")
    if kind == "float":
        return struct.unpack("<d", bytes.fromhex(rest[1:]))[0]
    return bool(int(rest)) if kind == "bool" else int(rest)


def _tensor(words: Sequence[str]) -> SentTensor:
    values = None
    if words[-1].startswith("x"):
        values, words = bytes.fromhex(words[-1][1:]), words[:-1]
    numbers = [int(one) for one in words]
    dtype, _format, has_data, offset, axes = numbers[:5]
    return SentTensor(
        dtype=TYPE_NAMES.get(dtype, ""),
        shape=tuple(numbers[5 : 5 + axes]),
        stride=tuple(numbers[6 + axes : 6 + 2 * axes]),
        offset=offset,
        has_data=bool(has_data),
        values=values,
    )


def converted(declared: Parameter, value: Any, by_name: Mapping[str, Any]) -> Any:
    """Return an input in the form that the project takes: an array, or a list of arrays.

    A tensor gives an array of the tensor's shape and dtype, with its values if they were sent, else zeros. Another
    input gives an array of the declared dtype; a scalar gives one of the dtype of the tensor ``declared.to_input``, if
    there is one. by_name: all arguments of the call.
    """
    if isinstance(value, list):
        return [converted(declared, one, by_name) for one in value]
    if isinstance(value, SentTensor):
        return value.blank()
    if declared.scalar and isinstance(by_name.get(declared.to_input), SentTensor):
        return value.astype(as_dtype(by_name[declared.to_input].dtype))
    wanted = declared.to_dtype or next(iter(declared.dtypes or declared.every_dtype), "")
    name = dtype_name(wanted)
    return value.astype(as_dtype(name)) if name in DTYPES and value.dtype.name != name else value


def sent_tensors(value: Any) -> list[SentTensor]:
    """Return the tensors in one argument, which is a list, one tensor, or a value without tensors."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, SentTensor)]


def wanted_output(declared: Parameter, by_name: Mapping[str, Any]) -> Any:
    """Return an output as ``chosen_outputs`` takes it: a tensor, a list of tensors, or None if it is left out."""
    value = by_name.get(declared.name, Mark.NONE)
    made = [Out(one.shape, as_dtype(one.dtype)) for one in sent_tensors(value)]
    if isinstance(value, list):
        return made
    return made[0] if made else None
