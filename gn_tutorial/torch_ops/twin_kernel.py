"""A registered kernel on tensors of the CPU, in this process: for operators that the host API does not have.

The host API is GroupNorm's. The other cases of the course, GELU and Linear, go the shorter way that ``gnt.kernel``
goes: checks and tiling from ``op.toml``, then the launch. It has no NPU behind it, and a tensor there is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from gn_tutorial.errors import KernelError
from gn_tutorial.kernel import Kernel, kernel
from gn_tutorial.torch_ops import outputs


def run(op: str, inputs: Sequence[Tensor | None], **attributes: Any) -> tuple[Tensor, ...]:
    """The outputs of the registered operator ``op``, contiguous; empty where an output mask does not ask for one.

    inputs: in the order of ``op.toml``, any strides; the caller has checked them. None: left out.
    Raises KernelError where they are on an NPU, ArgumentError for what the operator refuses.
    """
    first = next(one for one in inputs if one is not None)
    if first.device.type != "cpu":
        raise KernelError(
            f"{op} has no launch for {first.device.type}: its kernel is compiled for the CPU twin only",
            where=f"torch.ops.gn_tutorial.{op}",
            hint="move the tensors to the CPU; only GroupNorm's operators have a build for an NPU",
        )
    arrays = [None if one is None else _array(one) for one in inputs]
    result = _kernel(op)(*arrays, observed=False, isolated=False, **attributes)
    return tuple(_tensor(array) for array in result.outputs.values())


def run_elements(op: str, inputs: Sequence[Tensor]) -> Tensor:
    """The same for an operator that works element by element, with one output in the layout of ``inputs[-1]``.

    All inputs have one shape. They are read in the order of that layout, so that a channels-last tensor is not copied.
    """
    order = outputs.memory_format(inputs[-1])
    made = outputs.like(inputs[-1])
    flat = [_flat(one.contiguous(memory_format=order)) for one in inputs]
    _flat(made).copy_(run(op, flat)[0])
    return made


def _flat(tensor: Tensor) -> Tensor:
    """A dense tensor's memory from its first element to its last."""
    return tensor.as_strided((tensor.numel(),), (1,))


@functools.cache
def _kernel(op: str) -> Kernel:
    return kernel(op)


def _array(tensor: Tensor) -> np.ndarray:
    """The tensor's numbers, without a copy if it is contiguous; bfloat16 too, which PyTorch does not hand to NumPy."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _tensor(array: np.ndarray) -> Tensor:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
