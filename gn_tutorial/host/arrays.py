"""Creates the host API's tensors for NumPy arrays, and makes both calls of an operator on them."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_uint8
from typing import Any

import numpy as np

from gn_tutorial.compiler.dtype_macros import graph_number
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import c_library
from gn_tutorial.host.stream import Stream
from gn_tutorial.operators.arguments import require_array


class Tensor:
    """A descriptor of an array's memory. It keeps the array alive. Pass ``handle`` to the C functions.

    The array's strides must be multiples of the element's size, and not negative. Raises ArgumentError for strides that
    are no multiples, for a dtype that has no number in CANN's list, and for an object that is no array; Refused for an
    array that the C side refuses, for example for a negative stride.
    """

    def __init__(self, array: np.ndarray) -> None:
        require_array("array", array)
        if array.dtype.itemsize == 0 or any(step % array.dtype.itemsize for step in array.strides):
            what = f"the strides {array.strides} are not multiples of the element size of {array.dtype}"
            raise ArgumentError(what, hint="give a contiguous array")
        self.array = array
        loaded = c_library.library()
        strides = [step // array.dtype.itemsize for step in array.strides]
        address = array.__array_interface__["data"][0]
        self.handle = c_library.describe(loaded, array.shape, strides, graph_number(array.dtype.name), address)
        weakref.finalize(self, loaded.GnDestroyTensor, self.handle)


def checked(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operator's function, wrapped to raise ArgumentError for arguments that do not fit its annotations.

    Otherwise NumPy or ctypes would refuse a list or None in their own words, at a line that the caller did not write.
    An object that is not a function, such as a class of results, is returned unchanged.
    """
    if not inspect.isfunction(operator):
        return operator
    signature = inspect.signature(operator)

    @functools.wraps(operator)
    def call(*values: Any, **named: Any) -> Any:
        given = signature.bind(*values, **named).arguments
        for name, value in given.items():
            _check_argument(name, str(signature.parameters[name].annotation), value)
        return operator(*values, **named)

    return call


def _check_argument(name: str, wanted: str, value: Any) -> None:
    kinds = [one.strip() for one in wanted.split("|")]
    if value is None and "None" in kinds:
        return
    match kinds[0]:
        case "np.ndarray":
            require_array(name, value)
        case "int":
            c_library.whole_number(name, value)
        case "float" if isinstance(value, str) or not hasattr(value, "__float__"):
            raise ArgumentError(f"'{name}' must be a number, not {value!r}")
        case "str" if not isinstance(value, str):
            raise ArgumentError(f"'{name}' must be a word, not {type(value).__name__}")
        case "Stream" if not isinstance(value, Stream):
            raise ArgumentError(f"'{name}' must be a Stream, not {value!r}", hint="gnt.host.Stream()")
        case "Sequence[bool]" if not isinstance(value, (list, tuple, np.ndarray)):
            raise ArgumentError(f"'{name}' must be a list of booleans, not {value!r}")


def run(
    name: str,
    inputs: Sequence[np.ndarray | None],
    numbers: Sequence[Any],
    outputs: Sequence[np.ndarray | None],
    stream: Stream | None,
) -> None:
    """Make both calls of operator ``name`` on the stream, which keeps the arrays and the workspace alive.

    numbers: the arguments between inputs and outputs. stream: with None the function makes a stream for this call alone
    and waits for it. Raises as ``Tensor``, ``Stream`` and ``c_library.call`` do.
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
    """Return the arrays of three gradients, None where ``output_mask`` is False, and the mask and its length for C.

    shapes: those of the three gradients. The C side refuses a mask whose length is not 3.
    """
    mask = [bool(one) for one in output_mask]
    wanted = (*mask, False, False, False)[:3]
    made = [np.empty(shape, dtype) if one else None for shape, one in zip(shapes, wanted, strict=True)]
    return made, ((c_uint8 * len(mask))(*mask), len(mask))


def _allocate(size: int) -> tuple[np.ndarray, int]:
    memory = np.empty(size, np.uint8)
    return memory, memory.ctypes.data
