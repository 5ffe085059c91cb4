"""Memory for results, in the layout that PyTorch's own operators would choose."""

from __future__ import annotations

import torch
from torch import Tensor

#: Number of axes -> the channels-last format of it, and its axes from the one with the smallest stride on.
_CHANNELS_LAST = {
    4: (torch.channels_last, (1, 3, 2, 0)),
    5: (torch.channels_last_3d, (1, 4, 3, 2, 0)),
}


def forward_outputs(x: Tensor, num_groups: int) -> tuple[Tensor, Tensor, Tensor]:
    """y, as x; mean and rstd, float32 of shape (N, num_groups). Nothing is written yet."""
    statistics = [torch.empty((x.shape[0], num_groups), dtype=torch.float32, device=x.device) for _ in range(2)]
    return like(x), *statistics


def backward_outputs(x: Tensor, output_mask: list[bool]) -> tuple[Tensor | None, ...]:
    """The gradients of x, weight and bias, None for those that are not wanted. Nothing is written yet."""
    channels = [torch.empty(x.shape[1], dtype=x.dtype, device=x.device) if one else None for one in output_mask[1:]]
    return like(x) if output_mask[0] else None, *channels


def like(x: Tensor) -> Tensor:
    """Memory of x's shape, dtype and device: channels last if x is, otherwise contiguous."""
    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=memory_format(x))


def memory_format(x: Tensor) -> torch.memory_format:
    """The format that x's strides show, decided as the built-in operators do: gaps are allowed, overlaps are not."""
    if x.ndim not in _CHANNELS_LAST:
        return torch.contiguous_format
    name, order = _CHANNELS_LAST[x.ndim]
    least, channel = 0, x.stride(1)
    if channel == 0:
        return torch.contiguous_format
    for axis in order:
        length, stride = x.shape[axis], x.stride(axis)
        # One channel, or one place: both formats fit, and the usual one is taken.
        if length == 0 or stride < least or (axis == 0 and least == channel):
            return torch.contiguous_format
        least = stride * length if length > 1 else stride
    return name
