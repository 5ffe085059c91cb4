"""Launches one operator of the host API on the memory of tensors, without a copy.

The first of an operator's two calls checks and plans, which takes longer than a small kernel. The plan depends only on
the device, shapes, strides, dtypes and numbers. So it is made once for each combination of these, as a repeatable
executor, and later launches pass only addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.host import c_library
from gn_tutorial.torch_ops.arguments import DTYPES
from gn_tutorial.torch_ops.devices import device_of

#: The most plans to keep. A model needs a few for each layer. Without a limit, changing sizes would fill the memory.
_MOST = 1024
_PLANS: dict[tuple[Any, ...], _Plan] = {}


def launch(
    name: str, inputs: Sequence[Tensor | None], numbers: tuple[Any, ...], outputs: Sequence[Tensor | None]
) -> None:
    """Launch operator ``name`` of the host API, which writes the outputs, on the stream of ``inputs[0]``'s device.

    The caller must have checked that all tensors are on that device. numbers: the arguments between inputs and outputs;
    a mask is a tuple of booleans. outputs: new tensors, or None for an unwanted output. The key of a plan has the
    layouts of the inputs, the numbers, and which outputs are None. So these must determine the shapes, strides and
    dtypes of the outputs.
    Raises Refused, KernelError.
    """
    device = device_of(inputs[0])
    loaded = device.library()
    with device.chosen():
        stream = device.stream(name)
        inputs = device.plain(inputs)
        layouts = [None if one is None else (one.shape, one.stride(), one.dtype) for one in inputs]
        # A plan belongs to its device, because it divides the work among that device's cores.
        key = (name, loaded._handle, inputs[0].device, numbers, *layouts, *(one is None for one in outputs))
        plan = _PLANS.get(key)
        if plan is None:
            plan = _Plan(loaded, name, inputs, numbers, outputs)
            if len(_PLANS) >= _MOST:
                _PLANS.clear()  # a plan in use lives until its call ends
            if not any(isinstance(one, ctypes.Array) for one in numbers):  # equal ctypes arrays are different keys
                _PLANS[key] = plan
        plan.run(stream, [*inputs, *outputs])


class _Plan:
    """A plan: the repeatable executor of one key of ``_PLANS``. A run does not change the plan, so threads share it."""

    def __init__(
        self,
        loaded: ctypes.CDLL,
        name: str,
        inputs: Sequence[Tensor | None],
        numbers: tuple[Any, ...],
        outputs: Sequence[Tensor | None],
    ) -> None:
        self._loaded = loaded
        handles: list[ctypes.c_void_p | None] = []
        try:
            for one in (*inputs, *outputs):
                handles.append(None if one is None else _describe(loaded, one))
            words = (*handles[: len(inputs)], *_in_c(numbers), *handles[len(inputs) :])
            self._executor, self._bytes = c_library.repeatable(loaded, name, words, handles)
        finally:
            for handle in handles:
                if handle is not None:
                    loaded.GnDestroyTensor(handle)
        self._addresses = ctypes.c_void_p * len(handles)

    def run(self, stream: ctypes.c_void_p, tensors: Sequence[Tensor | None]) -> None:
        """Put the plan's work on the stream. tensors: inputs, then outputs. Raises Refused, KernelError."""
        addresses = self._addresses(*[None if one is None else one.data_ptr() for one in tensors])
        # The workspace is PyTorch's memory, because on an NPU PyTorch's allocator reuses memory in the stream's order.
        size = self._bytes
        workspace = torch.empty(size, dtype=torch.uint8, device=tensors[0].device) if size else None
        status = self._loaded.GnRunExecutor(
            self._executor, addresses, len(addresses), workspace.data_ptr() if size else None, size, stream
        )
        if status:
            c_library.check(status, self._loaded)

    def __del__(self) -> None:
        if executor := getattr(self, "_executor", None):  # None if __init__ raised
            self._loaded.GnDestroyExecutor(executor)


def _describe(loaded: ctypes.CDLL, one: Tensor) -> ctypes.c_void_p:
    return c_library.describe(loaded, one.shape, one.stride(), DTYPES[one.dtype], one.data_ptr())


def _in_c(numbers: tuple[Any, ...]) -> list[Any]:
    """Return the numbers as arguments of the C functions: a mask becomes its bytes and their count."""
    words: list[Any] = []
    for one in numbers:
        words += [(ctypes.c_uint8 * len(one))(*one), len(one)] if isinstance(one, tuple) else [one]
    return words
