"""The arguments of an aclnn call that a test program sends: tensors by shape and strides, scalars, arrays."""

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

#: The number of a type in acl -> NumPy's name.
TYPE_NAMES = {one.number: one.name for one in DTYPES.values() if one.number is not None}
_ARRAYS = {"ints": np.int64, "floats": np.float32, "bools": np.bool_}


class Mark(Enum):
    """An argument without a value: a null pointer, a destroyed object, a place for a result."""

    NONE = "none"
    DEAD = "dead"
    PLACE = "place"


_MARKS = {one.value: one for one in Mark}


@dataclass(frozen=True)
class SentTensor:
    """One tensor of a first call. stride and offset count elements. values: bytes, sent only if tiling reads them."""

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
        """Return an array of this shape, with the values if they were sent, else with zeros that take no memory."""
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
    """Return the next argument: a Mark, a SentTensor, an array, a number, a text, or a list of the first three."""
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
    """Return an input as the project takes it: an array of the tensor's shape, with values if tiling reads them.

    by_name: the call's other arguments; a scalar may be converted to the type of one of them.
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
    """Return the tensors of one argument, which may be a list of them."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, SentTensor)]


def wanted_output(declared: Parameter, by_name: Mapping[str, Any]) -> Any:
    """Return an output as ``chosen_outputs`` takes it: a tensor, a list of tensors, or None if it is left out."""
    value = by_name.get(declared.name, Mark.NONE)
    made = [Out(one.shape, as_dtype(one.dtype)) for one in sent_tensors(value)]
    if isinstance(value, list):
        return made
    return made[0] if made else None
