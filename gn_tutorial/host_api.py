"""The host API of the operator (docs/host-api.md) from Python: NumPy arrays as tensors, streams, two calls an operator.

``kernels/host_api`` is the API, in C++ with a C interface; ``host_library`` builds and declares it, ``host_stream`` has
its streams. Here are the calls for arrays: ``group_norm`` is both calls of the operator of that name.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from ctypes import c_uint8
from typing import Any, NamedTuple

import numpy as np

from gn_tutorial import host_library
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host_library import (
    KERNELS,
    Code,
    Refused,
    build_kernels,
    build_library,
    check,
    declared,
    include_folders,
    library,
    source_text,
    whole_number,
    whole_numbers,
)
from gn_tutorial.host_stream import Stream
from gn_tutorial.op_macros import graph_number

__all__ = [
    "KERNELS",
    "Code",
    "GroupNormArrays",
    "GroupNormGradients",
    "Refused",
    "Stream",
    "Tensor",
    "build_kernels",
    "build_library",
    "check",
    "declared",
    "group_norm",
    "group_norm_backward",
    "group_norm_silu",
    "include_folders",
    "library",
    "source_text",
    "whole_numbers",
]


class GroupNormGradients(NamedTuple):
    """What ``group_norm_backward`` writes; None for what was not asked for. Valid after the stream is synchronised."""

    grad_input: np.ndarray | None
    grad_gamma: np.ndarray | None
    grad_beta: np.ndarray | None


class GroupNormArrays(NamedTuple):
    """What ``group_norm`` writes. Valid when the stream has been synchronised."""

    out: np.ndarray
    mean: np.ndarray
    rstd: np.ndarray


class Tensor:
    """A descriptor of an array's memory, which it keeps alive. ``handle`` goes to the C functions.

    array: any strides that are whole elements and not negative. Raises Refused, ArgumentError for a dtype without a
    number in CANN's list.
    """

    def __init__(self, array: np.ndarray) -> None:
        if array.dtype.itemsize == 0 or any(step % array.dtype.itemsize for step in array.strides):
            raise ArgumentError(f"the strides {array.strides} are no whole elements of {array.dtype}")
        self.array = array
        loaded = host_library.library()
        strides = [step // array.dtype.itemsize for step in array.strides]
        address = array.__array_interface__["data"][0]
        self.handle = host_library.describe(loaded, array.shape, strides, graph_number(array.dtype.name), address)
        weakref.finalize(self, loaded.GnDestroyTensor, self.handle)


def group_norm(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> GroupNormArrays:
    """GroupNorm of x, shape (N, C, ...), through both calls.

    gamma, beta: shape (C,), x's dtype, None for ones and zeros. out: where to write the result, of x's shape and dtype
    and any strides; a contiguous array otherwise. mean and rstd: float32, shape (N, num_groups). With a ``stream`` this
    returns before anything is computed; ``stream.synchronize()`` makes the arrays valid. Without, it waits.
    Raises Refused for arguments that do not fit; KernelFault as ``Stream.synchronize``.
    """
    made = _forward_arrays(x, num_groups, out)
    _run("GroupNorm", (x, gamma, beta), (*_sizes(x), num_groups, float(eps)), made, stream)
    return made


def group_norm_silu(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> GroupNormArrays:
    """SiLU of GroupNorm of x, in one kernel; arguments, results and errors as ``group_norm``."""
    made = _forward_arrays(x, num_groups, out)
    _run("GroupNormSilu", (x, gamma, beta), (num_groups, float(eps)), made, stream)
    return made


def group_norm_backward(
    grad_out: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    gamma: np.ndarray | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
) -> GroupNormGradients:
    """The gradients of ``group_norm`` through both calls.

    grad_out, x: shape (N, C, ...), one dtype. mean, rstd: what ``group_norm`` returned. gamma: shape (C,), None for
    ones. output_mask: whether the gradients of x, gamma and beta are wanted. ``stream`` and errors as ``group_norm``.
    """
    sizes = _sizes(x)
    mask = [bool(one) for one in output_mask]
    wanted = (*mask, False, False, False)[:3]  # a mask of another length is for the C side to refuse
    shapes = (x.shape, sizes[1:2], sizes[1:2])
    made = GroupNormGradients(
        *(np.empty(shape, x.dtype) if one else None for shape, one in zip(shapes, wanted, strict=True))
    )
    numbers = (*sizes, whole_number("num_groups", num_groups), (c_uint8 * len(mask))(*mask), len(mask))
    _run("GroupNormBackward", (grad_out, x, mean, rstd, gamma), numbers, made, stream)
    return made


def _forward_arrays(x: np.ndarray, num_groups: int, out: np.ndarray | None) -> GroupNormArrays:
    """Room for what a forward pass writes. Raises ArgumentError."""
    (n, channels, _), groups = _sizes(x), whole_number("num_groups", num_groups)
    statistics = (n, groups) if 0 < groups <= channels else (0, 0)  # then the C side refuses it
    y = np.empty(x.shape, x.dtype) if out is None else out
    return GroupNormArrays(y, np.empty(statistics, np.float32), np.empty(statistics, np.float32))


def _sizes(x: np.ndarray) -> tuple[int, int, int]:
    """N, C and HxW; zeros, which the C side refuses, for an array with fewer axes."""
    return (*x.shape[:2], math.prod(x.shape[2:])) if x.ndim >= 2 else (0, 0, 0)


def _run(
    name: str,
    inputs: Sequence[np.ndarray | None],
    numbers: Sequence[Any],
    outputs: Sequence[np.ndarray | None],
    stream: Stream | None,
) -> None:
    """Both calls of operator ``name`` on the stream, which holds on to the memory; waits if there was none."""
    if stream is None:
        with Stream() as own:
            return _run(name, inputs, numbers, outputs, own)
    tensors = [[None if one is None else Tensor(one) for one in some] for some in (inputs, outputs)]
    before, behind = ([one and one.handle for one in some] for some in tensors)
    workspace = host_library.call(host_library.library(), name, (*before, *numbers, *behind), stream.handle, _allocate)
    stream.keep(tensors, workspace)
    return None


def _allocate(size: int) -> tuple[np.ndarray, int]:
    memory = np.empty(size, np.uint8)
    return memory, memory.ctypes.data
