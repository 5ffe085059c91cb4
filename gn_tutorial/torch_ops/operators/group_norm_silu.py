"""``torch.ops.gn_tutorial.group_norm_silu``: GroupNorm and SiLU in one kernel; its gradient is made of existing parts.

With g = GroupNorm(x) and s = 1 / (1 + e^-g), y = g s and dy/dg = s (1 + g (1 - s)). g was never stored: the backward
pass makes it again from x, mean and rstd, multiplies, and gives the rest to ``group_norm_backward``. All of that is in
float32, so that a half gradient is rounded once, at its end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_forward
from gn_tutorial.torch_ops.batching import batch_forward
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.operators.group_norm_backward import group_norm_backward
from gn_tutorial.torch_ops.outputs import forward_outputs

__all__ = ["group_norm_silu"]

_NAME = "group_norm_silu"
Results = tuple[Tensor, Tensor, Tensor]


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def group_norm_silu(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """SiLU of ``group_norm``, and its mean and rstd; arguments and errors as there."""
    check_forward(_NAME, x, weight, bias, num_groups, eps)
    transforms.refuse_forward_mode(_NAME)
    made = forward_outputs(x, num_groups)
    launch("GroupNormSilu", (x, weight, bias), (num_groups, eps), made)
    return made


@group_norm_silu.register_fake
def _fake(x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float = 1e-5) -> Results:
    check_forward(_NAME, x, weight, bias, num_groups, eps)
    return forward_outputs(x, num_groups)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Results) -> None:
    x, weight, bias, ctx.num_groups, _ = inputs
    _, mean, rstd = output
    ctx.mark_non_differentiable(mean, rstd)
    ctx.save_for_backward(x, weight, bias, mean, rstd)


def _gradients(ctx: Any, grad_y: Tensor, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    x, weight, bias, mean, rstd = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[:3])
    wide_x, wide_weight = x.float(), None if weight is None else weight.float()
    g = normalised(wide_x, mean, rstd)
    if weight is not None:
        g = g * along_channels(wide_weight, x.ndim)
    if bias is not None:
        g = g + along_channels(bias.float(), x.ndim)
    sigmoid = torch.sigmoid(g)
    grad_g = grad_y.float() * sigmoid * (1 + g * (1 - sigmoid))
    grads = group_norm_backward(grad_g, wide_x, mean, rstd, wide_weight, ctx.num_groups, wanted)
    return *(None if one is None else one.to(x.dtype) for one in grads), None, None


def normalised(x: Tensor, mean: Tensor, rstd: Tensor) -> Tensor:
    """(x - mean) * rstd for each group. x: (N, C, ...); mean, rstd: (N, groups)."""
    repeat = x.shape[1] // mean.shape[1]
    shape = (x.shape[0], x.shape[1], *[1] * (x.ndim - 2))
    centre, scale = (one.repeat_interleave(repeat, 1).reshape(shape) for one in (mean, rstd))
    return (x - centre) * scale


def along_channels(one: Tensor, ndim: int) -> Tensor:
    """A number for each channel, shaped to meet a tensor of ``ndim`` axes."""
    return one.reshape(-1, *[1] * (ndim - 2))


def _batch(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, ...]:
    return batch_forward(group_norm_silu, info.batch_size, places, *arguments)


for _device in ("cpu", NPU):
    group_norm_silu.register_autocast(_device, torch.float32)
transforms.with_gradient(group_norm_silu, _save, _gradients, _batch)
