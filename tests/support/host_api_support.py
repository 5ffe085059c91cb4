"""Calls of the C functions with one argument changed, shared by the tests of refusals."""

from __future__ import annotations

import ctypes
from ctypes import c_uint64, c_void_p
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gn_tutorial import host
from gn_tutorial.host import Code, Tensor, whole_numbers

FLOAT, HALF, BFLOAT16, INT32, DOUBLE = 0, 1, 27, 3, 11
_ITEMS = {FLOAT: 4, HALF: 2, BFLOAT16: 2, INT32: 4, DOUBLE: 8}


@dataclass
class View:
    """A tensor's description. strides None: contiguous; storage None: as the view needs; data None: its own memory."""

    dims: tuple[int, ...]
    dtype: int = FLOAT
    strides: tuple[int, ...] | None = None
    offset: int = 0
    storage: tuple[int, ...] | None = None
    data: int | None = None
    memory: np.ndarray | None = field(default=None, init=False)

    def create(self) -> tuple[int, c_void_p]:
        """Return status and handle of GnCreateTensor."""
        strides = contiguous(self.dims) if self.strides is None else self.strides
        storage = self.storage
        if storage is None:
            reach = sum(max(count - 1, 0) * step for count, step in zip(self.dims, strides, strict=True))
            storage = (self.offset + reach + 1,)
        data = self.data
        if data is None:
            elements = min(max(int(np.prod([float(one) for one in storage])), 1), 1 << 16)
            self.memory = np.zeros(elements * _ITEMS.get(self.dtype, 8), np.uint8)
            data = self.memory.ctypes.data
        made = c_void_p()
        status = host.library().GnCreateTensor(
            whole_numbers(self.dims), len(self.dims), self.dtype, whole_numbers(strides), self.offset,
            whole_numbers(storage), len(storage), data, ctypes.byref(made),
        )  # fmt: skip
        return status, made


def far_views(*names: str, dims: tuple[int, ...], at: int = 1 << 40) -> dict[str, View]:
    """Return views of large tensors, far from each other, without memory: a first call reads no elements."""
    return {name: View(dims, data=at * (number + 1)) for number, name in enumerate(names)}


def contiguous(dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor."""
    strides = [1] * len(dims)
    for axis in range(len(dims) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(dims[axis], 1)
    return tuple(strides)


NULL = "null"
GONE = c_void_p(0x7777770)
#: A row's name, the changes to a right call, the status, and a part of the error's text.
Row = tuple[str, dict[str, Any], Code, str]


@dataclass
class Answer:
    """The result of a first call. ``text`` is the last error's; ``views`` keep the memory alive."""

    status: int
    text: str
    workspace: int
    executor: c_void_p
    views: dict[str, Any]


def first_call(name: str, arguments: dict[str, Any], **changed: Any) -> Answer:
    """Calls ``<name>GetWorkspaceSize`` with these arguments; a View becomes a tensor, NULL a null pointer."""
    values = {**arguments, **changed}
    assert values.keys() <= {*arguments, "workspaceSize", "executor"}
    library = host.library()
    words: list[Any] = []
    made = []
    for key in arguments:
        value = values[key]
        if isinstance(value, View):
            view = replace(value)  # a copy with its own memory: these tables are shared
            status, handle = view.create()
            assert status == 0, library.GnGetRecentErrMsg()
            made.append((view, handle))
            words.append(handle)
        elif isinstance(value, Tensor):
            words.append(value.handle)
        elif key == "outputMask" and value is not NULL:
            words.append((ctypes.c_uint8 * len(value))(*value))
        else:
            words.append(None if value is NULL else value)
    size, executor = c_uint64(77), c_void_p(77)
    ends = [
        None if values.get(end) is NULL else ctypes.byref(one)
        for end, one in (("workspaceSize", size), ("executor", executor))
    ]
    status = getattr(library, f"{name}GetWorkspaceSize")(*words, *ends)
    text = (library.GnGetRecentErrMsg() or b"").decode()
    for _, handle in made:
        assert library.GnDestroyTensor(handle) == 0
    return Answer(status, text, size.value, executor, {"made": made})


def refused(name: str, arguments: dict[str, Any], changed: dict[str, Any], code: Code, text: str) -> None:
    """Assert that the changed first call is refused with code and text, returns nothing, and reports the text once."""
    answer = first_call(name, arguments, **changed)
    assert (answer.status, text in answer.text) == (code, True), answer
    assert f"\n  where: {name}GetWorkspaceSize" in answer.text
    if not {"workspaceSize", "executor"} & changed.keys():
        assert (answer.workspace, answer.executor.value) == (0, None)
    assert host.library().GnGetRecentErrMsg() is None, "a message is returned once"
