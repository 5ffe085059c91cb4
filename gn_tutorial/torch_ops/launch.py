"""One operator of the host API on tensors: both calls, from the tensors' own addresses and strides, without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.host import c_library
from gn_tutorial.torch_ops.arguments import DTYPES
from gn_tutorial.torch_ops.devices import device_of


def launch(
    name: str, inputs: Sequence[Tensor | None], numbers: Sequence[Any], outputs: Sequence[Tensor | None]
) -> None:
    """Run operator ``name`` of the host API on the device of ``inputs[0]``; the outputs are written in its order.

    All tensors on that device, which the caller has checked. numbers: the arguments between inputs and outputs.
    Raises Refused, KernelError.
    """
    device = device_of(inputs[0])
    loaded = device.library()
    workspaces: list[Tensor] = []
    handles = []

    def allocate(size: int) -> tuple[Tensor, int]:
        # PyTorch's allocator: on an NPU the memory goes back in the order of the current stream.
        workspaces.append(torch.empty(size, dtype=torch.uint8, device=inputs[0].device))
        return workspaces[0], workspaces[0].data_ptr()

    def described(tensor: Tensor | None) -> Any:
        if tensor is None:
            return None
        number, address = DTYPES[tensor.dtype], tensor.data_ptr()
        handles.append(c_library.describe(loaded, tensor.shape, tensor.stride(), number, address))
        return handles[-1]

    with device.chosen():
        stream = device.stream(name)
        try:
            before, behind = ([described(one) for one in some] for some in (inputs, outputs))
            c_library.call(loaded, name, (*before, *numbers, *behind), stream, allocate)
        finally:
            # Also when the user interrupts: queued work must not meet memory that was given back.
            try:
                device.finish()
            finally:
                for handle in handles:
                    loaded.GnDestroyTensor(handle)
