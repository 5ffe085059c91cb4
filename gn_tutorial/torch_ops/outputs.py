"""Allocates results in the memory format that PyTorch's own operators would choose."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from gn_tutorial.errors import ArgumentError
from gn_tutorial.torch_ops.arguments import MOST_AXES, certainly

#: Number of axes -> the channels-last format, and the axes sorted by their stride in it, smallest first.
_CHANNELS_LAST = {
    4: (torch.channels_last, (1, 3, 2, 0)),
    5: (torch.channels_last_3d, (1, 4, 3, 2, 0)),
}


def forward_outputs(x: Tensor, num_groups: int) -> tuple[Tensor, Tensor, Tensor]:
    """Allocate y like x, and mean and rstd in float32, of shape (N, num_groups)."""
    statistics = [torch.empty((x.shape[0], num_groups), dtype=torch.float32, device=x.device) for _ in range(2)]
    return like(x), *statistics


def backward_outputs(x: Tensor, output_mask: list[bool]) -> tuple[Tensor | None, ...]:
    """Allocate the gradients of x, weight and bias; None where ``output_mask`` is False."""
    channels = [torch.empty(x.shape[1], dtype=x.dtype, device=x.device) if one else None for one in output_mask[1:]]
    return like(x) if output_mask[0] else None, *channels


def like(x: Tensor) -> Tensor:
    """Allocate a tensor of x's shape, dtype and device: channels last if x is, otherwise contiguous."""
    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=memory_format(x))


def few_axes(x: Tensor) -> Tensor:
    """Return x with its first axes merged, so that it has no more axes than a tensor of the host API can have.

    The result is x itself if x has at most ``MOST_AXES`` axes. Otherwise it is a view of x if x's strides allow a view,
    as the strides of a contiguous tensor do, and a copy if they do not.
    """
    return x if x.ndim <= MOST_AXES else x.flatten(0, x.ndim - MOST_AXES)


def memory_format(x: Tensor) -> torch.memory_format:
    """Return the format that x's strides show, by the rule of PyTorch's own operators: channels last may have gaps.

    The axes of a channels-last tensor must not overlap. Raises ArgumentError while a graph is traced, if the format
    depends on strides that are known only at run time.
    """
    if x.ndim not in _CHANNELS_LAST:
        return torch.contiguous_format
    name, order = _CHANNELS_LAST[x.ndim]
    numbers = (*x.shape, *x.stride())
    if any(isinstance(one, torch.SymInt) for one in numbers) and _known_at_run_time(numbers):
        return _certain_format(x, name, order)
    least, channel = 0, x.stride(1)
    if channel == 0:
        return torch.contiguous_format
    for axis in order:
        length, stride = x.shape[axis], x.stride(axis)
        # With one channel or one position both formats fit, and the contiguous one is chosen.
        if length == 0 or stride < least or (axis == 0 and least == channel):
            return torch.contiguous_format
        least = stride * length if length > 1 else stride
    return name


def _known_at_run_time(numbers: Sequence[int | torch.SymInt]) -> bool:
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return bool(free_unbacked_symbols(numbers))


def _certain_format(x: Tensor, name: torch.memory_format, order: Sequence[int]) -> torch.memory_format:
    """Return the format that x has for all sizes it may have at run time. Raises ArgumentError if there is none.

    If the kernel chose another format at run time, the graph would misread the y that the kernel writes.
    """
    if any(certainly(x.stride(axis) < x.stride(1)) for axis in order[1:]):
        return torch.contiguous_format
    for found, axes in ((torch.contiguous_format, range(x.ndim - 1, -1, -1)), (name, order)):
        # PyTorch treats an axis of length 0 as one of length 1 in some places, but not in others.
        if any(_strides_are(x, axes, least) for least in (0, 1)):
            return found
    raise ArgumentError(
        f"the layout of x is known only at run time: its strides are {tuple(x.stride())}",
        where="argument x of torch.ops.gn_tutorial",
        hint="x.contiguous(), or x.contiguous(memory_format=torch.channels_last), has a layout that is known",
    )


def _strides_are(x: Tensor, axes: Sequence[int], least: int) -> bool:
    """Whether x is certainly dense, with axes[0] the innermost. An axis shorter than ``least`` counts as ``least``."""
    stride = 1
    for axis in axes:
        if not certainly(x.stride(axis) == stride):
            return False
        stride = stride * (torch.sym_max(x.shape[axis], least) if least else x.shape[axis])
    return True
