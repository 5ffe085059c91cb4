"""``torch.ops.gn_tutorial.group_norm_silu`` and its gradient: GroupNorm and SiLU in one kernel, forward and backward.

With g = GroupNorm(x) and s = 1 / (1 + e^-g), y = g s and dy/dg = s (1 + g (1 - s)). g is never stored: the backward
kernel recomputes it from x, mean and rstd. The kernel computes in float32, so a float16 or bfloat16 gradient is rounded
once, at the end.

The backward kernel reads (N, C, ...). A channels-last tensor would have to be packed for it, which costs more than the
kernel saves. So for a channels-last tensor PyTorch computes g and dy/dg, and ``group_norm_backward``, which has a
kernel for channels last, computes the gradients from them.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_backward, check_forward
from gn_tutorial.torch_ops.batching import batch_backward, batch_forward
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.operators.group_norm_backward import group_norm_backward
from gn_tutorial.torch_ops.outputs import backward_outputs, forward_outputs

__all__ = ["group_norm_silu", "group_norm_silu_backward"]

_NAME, _BACKWARD = "group_norm_silu", "group_norm_silu_backward"
Results = tuple[Tensor, Tensor, Tensor]


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def group_norm_silu(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """Return SiLU of ``group_norm``'s y, and mean and rstd. Arguments, results and errors are as in ``group_norm``."""
    check_forward(_NAME, x, weight, bias, num_groups, eps)
    transforms.refuse_forward_mode(_NAME)
    made = forward_outputs(x, num_groups)
    launch("GroupNormSilu", (x, weight, bias), (num_groups, eps), made)
    return made


@group_norm_silu.register_fake
def _fake(x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float = 1e-5) -> Results:
    check_forward(_NAME, x, weight, bias, num_groups, eps)
    return forward_outputs(x, num_groups)


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=("cpu", NPU))
def group_norm_silu_backward(
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    num_groups: int,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of x, weight and bias, given grad_y, the gradient of ``group_norm_silu``'s y.

    bias: as in ``group_norm``. The gradient of bias can be requested even if bias is None. Other arguments, results and
    errors are as in ``group_norm_backward``.
    """
    check_backward(_BACKWARD, grad_y, x, mean, rstd, weight, num_groups, output_mask, bias)
    transforms.refuse_forward_mode(_BACKWARD)
    made = backward_outputs(x, output_mask)
    if any(output_mask):
        sizes = (x.shape[0], x.shape[1], math.prod(x.shape[2:]))
        numbers = (*sizes, num_groups, tuple(output_mask))
        launch("GroupNormSiluBackward", (grad_y, x, mean, rstd, weight, bias), numbers, made)
    return made


@group_norm_silu_backward.register_fake
def _fake_backward(
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    num_groups: int,
    output_mask: list[bool],
) -> tuple[Tensor | None, ...]:
    check_backward(_BACKWARD, grad_y, x, mean, rstd, weight, num_groups, output_mask, bias)
    return backward_outputs(x, output_mask)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Results) -> None:
    x, weight, bias, ctx.num_groups, _ = inputs
    _, mean, rstd = output
    ctx.mark_non_differentiable(mean, rstd)
    ctx.save_for_backward(x, weight, bias, mean, rstd)


def _gradients(ctx: Any, grad_y: Tensor, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    x, weight, bias, mean, rstd = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[:3])
    gradients = _of_parts if _has_channels_last(x) else group_norm_silu_backward
    return *gradients(grad_y, x, mean, rstd, weight, bias, ctx.num_groups, wanted), None, None


def _has_channels_last(x: Tensor) -> bool:
    # The stride decides, because under torch.vmap PyTorch cannot tell whether the memory format is channels last.
    return x.ndim > 2 and not x.is_contiguous() and x.stride(1) == 1


def _of_parts(
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    num_groups: int,
    wanted: list[bool],
) -> tuple[Tensor | None, ...]:
    """Return the results of ``group_norm_silu_backward``, computed with PyTorch and ``group_norm_backward``."""
    wide_x, wide_weight = x.float(), None if weight is None else weight.float()
    g = normalised(wide_x, mean, rstd)
    if weight is not None:
        g = g * along_channels(wide_weight, x.ndim)
    if bias is not None:
        g = g + along_channels(bias.float(), x.ndim)
    sigmoid = torch.sigmoid(g)
    grad_g = grad_y.float() * sigmoid * (1 + g * (1 - sigmoid))
    grads = group_norm_backward(grad_g, wide_x, mean, rstd, wide_weight, num_groups, wanted)
    return tuple(None if one is None else one.to(x.dtype) for one in grads)


def normalised(x: Tensor, mean: Tensor, rstd: Tensor) -> Tensor:
    """Return (x - mean) * rstd for each group. x: (N, C, ...); mean, rstd: (N, groups)."""
    repeat = x.shape[1] // mean.shape[1]
    shape = (x.shape[0], x.shape[1], *[1] * (x.ndim - 2))
    centre, scale = (one.repeat_interleave(repeat, 1).reshape(shape) for one in (mean, rstd))
    return (x - centre) * scale


def along_channels(one: Tensor, ndim: int) -> Tensor:
    """Return ``one``, of shape (C,), in a shape that broadcasts to (N, C, ...) of ``ndim`` axes."""
    return one.reshape(-1, *[1] * (ndim - 2))


def _batch(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, ...]:
    return batch_forward(group_norm_silu, info.batch_size, places, *arguments)


def _batch_backward(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, ...]:
    return batch_backward(group_norm_silu_backward, info.batch_size, places, *arguments)


for _device in ("cpu", NPU):
    group_norm_silu.register_autocast(_device, torch.float32)
transforms.with_gradient(group_norm_silu, _save, _gradients, _batch)
transforms.as_gradient_of(_NAME, group_norm_silu_backward, _batch_backward)
