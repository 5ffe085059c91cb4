"""``torch.ops.gn_tutorial.group_norm``: its kernels, fake kernel, gradient, and rules for vmap and autocast."""

from __future__ import annotations

import math
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

__all__ = ["group_norm"]

_NAME = "group_norm"
Results = tuple[Tensor, Tensor, Tensor]


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the GroupNorm y of x, and mean and rstd of each group.

    x: (N, C, ...) of 2 to 8 axes; float32, float16 or bfloat16. weight, bias: of shape (C,) and x's dtype, or None for
    ones and zeros. y: as x, channels last if x is. mean, rstd: float32, of shape (N, num_groups); not differentiable.
    Raises ArgumentError, which names the argument.
    """
    check_forward(_NAME, x, weight, bias, num_groups, eps)
    transforms.refuse_forward_mode(_NAME)
    made = forward_outputs(x, num_groups)
    sizes = (x.shape[0], x.shape[1], math.prod(x.shape[2:]))
    launch("GroupNorm", (x, weight, bias), (*sizes, num_groups, eps), made)
    return made


# The dispatcher omits arguments that equal the schema's default, so every function here repeats the default.
@group_norm.register_fake
def _fake(x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float = 1e-5) -> Results:
    check_forward(_NAME, x, weight, bias, num_groups, eps)
    return forward_outputs(x, num_groups)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Results) -> None:
    x, weight, _, ctx.num_groups, _ = inputs
    _, mean, rstd = output
    ctx.mark_non_differentiable(mean, rstd)
    ctx.save_for_backward(x, weight, mean, rstd)


def _gradients(ctx: Any, grad_y: Tensor, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    x, weight, mean, rstd = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[:3])
    return *group_norm_backward(grad_y, x, mean, rstd, weight, ctx.num_groups, wanted), None, None


def _batch(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, ...]:
    return batch_forward(group_norm, info.batch_size, places, *arguments)


for _device in ("cpu", NPU):
    group_norm.register_autocast(_device, torch.float32)
transforms.with_gradient(group_norm, _save, _gradients, _batch)
