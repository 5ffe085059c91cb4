"""``torch.ops.gn_tutorial.group_norm_backward``: its kernels, fake kernel and rule for vmap. It has no gradient."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_backward
from gn_tutorial.torch_ops.batching import batch_backward
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import backward_outputs

__all__ = ["group_norm_backward"]

_NAME = "group_norm_backward"


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def group_norm_backward(
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    num_groups: int,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of x, weight and bias, given grad_y, the gradient of y; None where ``output_mask`` is False.

    grad_y: as x. mean, rstd: as ``group_norm`` returned them for x. weight: as in ``group_norm``; if it is None, its
    gradient cannot be requested. Raises ArgumentError, which names the argument.
    """
    check_backward(_NAME, grad_y, x, mean, rstd, weight, num_groups, output_mask)
    transforms.refuse_forward_mode(_NAME)
    made = backward_outputs(x, output_mask)
    if any(output_mask):
        sizes = (x.shape[0], x.shape[1], math.prod(x.shape[2:]))
        numbers = (*sizes, num_groups, tuple(output_mask))
        launch("GroupNormBackward", (grad_y, x, mean, rstd, weight), numbers, made)
    return made


@group_norm_backward.register_fake
def _fake(
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    num_groups: int,
    output_mask: list[bool],
) -> tuple[Tensor | None, ...]:
    check_backward(_NAME, grad_y, x, mean, rstd, weight, num_groups, output_mask)
    return backward_outputs(x, output_mask)


def _batch(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, ...]:
    return batch_backward(group_norm_backward, info.batch_size, places, *arguments)


transforms.as_gradient_of("group_norm", group_norm_backward, _batch)
