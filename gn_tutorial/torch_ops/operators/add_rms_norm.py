"""``torch.ops.gn_tutorial.add_rms_norm``: the sum of two tensors, RMSNorm of the sum, and the gradients.

y equals ``torch.nn.functional.rms_norm(x + residual, weight.shape, weight, eps)``: the operator, too, rounds the sum to
x's dtype before it normalises. But the operator does not broadcast. The sum is also a result, because a transformer's
next layer uses it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_like, check_optional_eps
from gn_tutorial.torch_ops.batching import in_front, one_by_one
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.operators.rms_norm import (
    DEFAULT_EPS,
    as_rows,
    backward_outputs,
    check_rows,
    rstd_shape,
)
from gn_tutorial.torch_ops.outputs import like

__all__ = ["add_rms_norm", "add_rms_norm_backward"]

_NAME, _BACKWARD = "add_rms_norm", "add_rms_norm_backward"
_DEVICES = ("cpu", NPU)


def _outputs(x: Tensor, residual: Tensor, weight: Tensor, eps: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """Allocate y, sum and rstd. Raises ArgumentError for arguments that the operator does not accept."""
    check_rows(_NAME, x, weight, weight.shape, "weight has shape")
    check_like(_NAME, "residual", residual, x.device, x.dtype, x.shape, "the shape of x")
    check_optional_eps(f"argument eps of torch.ops.gn_tutorial.{_NAME}", eps)
    return like(x), like(x), torch.empty(rstd_shape(x, weight.shape), dtype=torch.float32, device=x.device)


def _gradients_of(grad_y: Tensor, grad_sum: Tensor, x: Tensor, rstd: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Allocate the gradients of x and weight. Raises ArgumentError for arguments that the operator does not accept."""
    check_rows(_BACKWARD, x, weight, weight.shape, "weight has shape")
    check_like(_BACKWARD, "grad_y", grad_y, x.device, x.dtype, x.shape, "the shape of x")
    check_like(_BACKWARD, "grad_sum", grad_sum, x.device, x.dtype, x.shape, "the shape of x")
    shape = rstd_shape(x, weight.shape)
    check_like(_BACKWARD, "rstd", rstd, x.device, torch.float32, shape, "x's, with ones for the axes of weight")
    return backward_outputs(x, weight.shape)


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=_DEVICES)
def add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor, eps: float | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return y, sum and rstd: sum = x + residual, and y = sum * rstd * weight, which is RMSNorm over the last axes.

    x: float32, float16 or bfloat16. residual: as x. weight: of x's dtype, with the shape of x's last axes, which are
    normalised. eps: None for float32's epsilon. y, sum: as x. rstd: float32, of x's shape with ones for the axes of
    weight; not differentiable. Raises ArgumentError, which names the argument.
    """
    made = _outputs(x, residual, weight, eps)
    transforms.refuse_forward_mode(_NAME)
    *given, y, total, rstd = as_rows(x, weight.shape, (x, residual, weight, *made))
    launch("AddRmsNorm", given, (DEFAULT_EPS if eps is None else eps,), (y, rstd, total))
    return made


# The dispatcher omits arguments that equal the schema's default, so every function here repeats the default.
@add_rms_norm.register_fake
def _fake(x: Tensor, residual: Tensor, weight: Tensor, eps: float | None = None) -> tuple[Tensor, Tensor, Tensor]:
    return _outputs(x, residual, weight, eps)


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=_DEVICES)
def add_rms_norm_backward(
    grad_y: Tensor, grad_sum: Tensor, x: Tensor, rstd: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradient of ``add_rms_norm``'s x, which is also that of its residual, and the gradient of weight.

    x, rstd: the sum and the rstd that ``add_rms_norm`` returned. grad_y, grad_sum: the gradients of its y and sum, of
    the shape and dtype of x. The gradient of weight is float32 for every dtype of x. Errors: as ``add_rms_norm``.
    """
    made = _gradients_of(grad_y, grad_sum, x, rstd, weight)
    transforms.refuse_forward_mode(_BACKWARD)
    *given, dx, dweight = as_rows(x, weight.shape, (grad_y, grad_sum, x, rstd, weight, *made))
    launch("AddRmsNormGrad", given, (), (dx, dweight))
    return made


@add_rms_norm_backward.register_fake
def _fake_backward(grad_y: Tensor, grad_sum: Tensor, x: Tensor, rstd: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return _gradients_of(grad_y, grad_sum, x, rstd, weight)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    _, total, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(total, rstd, inputs[2])


def _gradients(ctx: Any, grad_y: Tensor, grad_sum: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    total, rstd, weight = ctx.saved_tensors
    dx, dweight = add_rms_norm_backward(grad_y, grad_sum, total, rstd, weight)
    return dx, dx, dweight.to(weight.dtype), None


def _batch(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Return the results for all examples: by one call if they share the weight, else by one call for each."""
    if places[2] is not None:
        return one_by_one(add_rms_norm, info.batch_size, places, arguments)
    x, residual = in_front(info.batch_size, places[:2], arguments[:2])
    return add_rms_norm(x, residual, *arguments[2:]), (0, 0, 0)


def _batch_backward(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Return the gradients, with one call for each example, because each example has its own gradient of the weight."""
    return one_by_one(add_rms_norm_backward, info.batch_size, places, arguments)


for _device in _DEVICES:
    add_rms_norm.register_autocast(_device, torch.float32)  # as for rms_norm
transforms.with_gradient(add_rms_norm, _save, _gradients, _batch)
transforms.as_gradient_of(_NAME, add_rms_norm_backward, _batch_backward)
