"""NumPy arrays as tensors of the host API, and both calls of an operator on them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from ctypes import c_uint8
from typing import Any

import numpy as np

from gn_tutorial.compiler.dtype_macros import graph_number
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import c_library
from gn_tutorial.host.stream import Stream


class Tensor:
    """A descriptor of an array's memory, which it keeps alive. ``handle`` goes to the C functions.

    array: any strides that are whole elements and not negative. Raises Refused, ArgumentError for a dtype without a
    number in CANN's list.
    """

    def __init__(self, array: np.ndarray) -> None:
        if array.dtype.itemsize == 0 or any(step % array.dtype.itemsize for step in array.strides):
            raise ArgumentError(f"the strides {array.strides} are no whole elements of {array.dtype}")
        self.array = array
        loaded = c_library.library()
        strides = [step // array.dtype.itemsize for step in array.strides]
        address = array.__array_interface__["data"][0]
        self.handle = c_library.describe(loaded, array.shape, strides, graph_number(array.dtype.name), address)
        weakref.finalize(self, loaded.GnDestroyTensor, self.handle)


def run(
    name: str,
    inputs: Sequence[np.ndarray | None],
    numbers: Sequence[Any],
    outputs: Sequence[np.ndarray | None],
    stream: Stream | None,
) -> None:
    """Both calls of operator ``name`` on the stream, which holds on to the memory; waits if there was none.

    numbers: the arguments between inputs and outputs. Raises as they do.
    """
    if stream is None:
        with Stream() as own:
            return run(name, inputs, numbers, outputs, own)
    tensors = [[None if one is None else Tensor(one) for one in some] for some in (inputs, outputs)]
    before, behind = ([one and one.handle for one in some] for some in tensors)
    words = (*before, *numbers, *behind)
    workspace = c_library.call(c_library.library(), name, words, stream.ready(name), _allocate)
    stream.keep(tensors, workspace)
    return None


def masked(
    output_mask: Sequence[bool], shapes: Sequence[tuple[int, ...]], dtype: np.dtype
) -> tuple[list[np.ndarray | None], tuple[Any, int]]:
    """Room for the gradients that a mask of three asks for, None for the others; and the mask as C takes it.

    A mask of another length is for the C side to refuse.
    """
    mask = [bool(one) for one in output_mask]
    wanted = (*mask, False, False, False)[:3]
    made = [np.empty(shape, dtype) if one else None for shape, one in zip(shapes, wanted, strict=True)]
    return made, ((c_uint8 * len(mask))(*mask), len(mask))


def _allocate(size: int) -> tuple[np.ndarray, int]:
    memory = np.empty(size, np.uint8)
    return memory, memory.ctypes.data
