"""``torch.ops.gn_tutorial.linear_gelu``: GELU of x W^T + b in one launch on the vector unit, and the gradients.

The operator equals ``torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias), approximate=approximate)``,
except that GELU takes the pre-activation x W^T + b in float32, not rounded to x's dtype.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gn_tutorial.host.operators.gelu import FORMS
from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_approximate, check_like
from gn_tutorial.torch_ops.autocast import compute_as_set
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.operators.linear import (
    check_backward,
    check_forward,
    example_of,
    gradient_outputs,
    gradients_one_by_one,
    linear,
)
from gn_tutorial.torch_ops.outputs import few_axes

__all__ = ["linear_gelu", "linear_gelu_backward"]

_NAME, _BACKWARD = "linear_gelu", "linear_gelu_backward"


def _outputs(x: Tensor, weight: Tensor, bias: Tensor | None, approximate: str, keep: bool) -> tuple[Tensor, Tensor]:
    """Allocate y and the pre-activation. Raises ArgumentError for arguments that the operator does not accept."""
    check_forward(_NAME, x, weight, bias)
    check_approximate(f"argument approximate of torch.ops.gn_tutorial.{_NAME}", approximate)
    shape = (*x.shape[:-1], weight.shape[0])
    return x.new_empty(shape), x.new_empty(shape if keep else (0,))


def _gradients_of(
    grad_y: Tensor, preactivation: Tensor, x: Tensor, weight: Tensor, output_mask: list[bool], approximate: str
) -> tuple[Tensor | None, ...]:
    """Allocate the gradients of x, weight and bias. Raises ArgumentError for arguments that do not fit the operator."""
    check_backward(_BACKWARD, grad_y, x, weight, output_mask)
    check_like(_BACKWARD, "preactivation", preactivation, x.device, x.dtype, grad_y.shape, "the shape of y")
    check_approximate(f"argument approximate of torch.ops.gn_tutorial.{_BACKWARD}", approximate)
    return gradient_outputs(x, weight, output_mask)


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def linear_gelu(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, approximate: str = "none", keep: bool = True
) -> tuple[Tensor, Tensor]:
    """Return y, the GELU of ``linear(x, weight, bias)``, and the linear result, called the pre-activation.

    x: (..., K), weight: (O, K), bias: (O,) or None; y: (..., O). approximate: as in ``gelu``. keep: whether to
    return the pre-activation, of y's shape. If not, it has shape (0,), and the backward pass computes ``linear`` again.
    The pre-activation is not differentiable. Dtypes and errors are as in ``linear``.
    """
    made = _outputs(x, weight, bias, approximate, keep)
    transforms.refuse_forward_mode(_NAME)
    y, saved = few_axes(made[0]), few_axes(made[1]) if keep else None
    launch("LinearGelu", (few_axes(x), weight, bias), (FORMS.index(approximate),), (y, saved))
    return made


# The dispatcher omits arguments that equal the schema's default, so every function here repeats the default.
@linear_gelu.register_fake
def _fake(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, approximate: str = "none", keep: bool = True
) -> tuple[Tensor, Tensor]:
    return _outputs(x, weight, bias, approximate, keep)


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=("cpu", NPU))
def linear_gelu_backward(
    grad_y: Tensor, preactivation: Tensor, x: Tensor, weight: Tensor, output_mask: list[bool], approximate: str = "none"
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of x, weight and bias, given grad_y, the gradient of y; None where ``output_mask`` is False.

    grad_y, preactivation: (..., O), dtype and device as x. Errors are as in ``linear_gelu``.
    """
    made = _gradients_of(grad_y, preactivation, x, weight, output_mask, approximate)
    transforms.refuse_forward_mode(_BACKWARD)
    if any(output_mask):
        dx, *others = made
        inputs = (few_axes(grad_y), few_axes(preactivation), few_axes(x), weight)
        outputs = (None if dx is None else few_axes(dx), *others)
        launch("LinearGeluBackward", inputs, (FORMS.index(approximate), tuple(output_mask)), outputs)
    return made


@linear_gelu_backward.register_fake
def _fake_backward(
    grad_y: Tensor, preactivation: Tensor, x: Tensor, weight: Tensor, output_mask: list[bool], approximate: str = "none"
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    return _gradients_of(grad_y, preactivation, x, weight, output_mask, approximate)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, bias, ctx.approximate, ctx.keep = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.has_bias = bias is not None
    ctx.save_for_backward(x, weight, output[1] if ctx.keep else bias)


def _gradients(ctx: Any, grad_y: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    x, weight, kept = ctx.saved_tensors
    preactivation = kept if ctx.keep else linear(x, weight, kept)
    wanted = [*ctx.needs_input_grad[:2], ctx.has_bias and ctx.needs_input_grad[2]]
    return *linear_gelu_backward(grad_y, preactivation, x, weight, wanted, ctx.approximate), None, None


def _batch(
    info: Any,
    places: tuple[int | None, ...],
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    approximate: str = "none",
    keep: bool = True,
) -> tuple[tuple[Tensor, Tensor], tuple[int, int | None]]:
    """Return the results for all examples: by one call if they share weight and bias, else by one call for each."""
    at, tensors = places[:3], (x, weight, bias)
    if at[1:] == (None, None):
        return linear_gelu(x.movedim(at[0], 0), weight, bias, approximate, keep), (0, 0 if keep else None)
    calls = [linear_gelu(*example_of(tensors, at, number), approximate, keep) for number in range(info.batch_size)]
    y, kept = (torch.stack(ones) for ones in zip(*calls, strict=True))
    return (y, kept), (0, 0)


def _batch_backward(
    info: Any, places: tuple[int | None, ...], *arguments: Any
) -> tuple[tuple[Tensor | None, ...], tuple[int | None, ...]]:
    return gradients_one_by_one(linear_gelu_backward, info.batch_size, places, arguments[:4], *arguments[4:])


# Under autocast linear_gelu computes in the dtype in which torch.nn.functional.linear computes. In PyTorch, GELU after
# linear computes in the dtype that linear returns.
compute_as_set(linear_gelu)
transforms.with_gradient(linear_gelu, _save, _gradients, _batch)
transforms.as_gradient_of(_NAME, linear_gelu_backward, _batch_backward)
