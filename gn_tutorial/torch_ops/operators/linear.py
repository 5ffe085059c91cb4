"""``torch.ops.gn_tutorial.linear``: y = x W^T + b on the vector unit, and the gradients of x, weight and bias.

The operator equals ``torch.nn.functional.linear``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_dtype, check_like, check_mask, refuse
from gn_tutorial.torch_ops.autocast import compute_as_set
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import few_axes

__all__ = ["linear", "linear_backward"]

_NAME, _BACKWARD = "linear", "linear_backward"


def check_forward(op: str, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Raise ArgumentError unless x is (..., K), weight is (O, K), and bias is (O,) or None.

    All must be on one device, and of one dtype: float32, float16 or bfloat16.
    """
    check_dtype(op, x)
    if x.ndim < 1 or weight.ndim != 2:
        name, one, axes = ("x", x, "at least one axis") if x.ndim < 1 else ("weight", weight, "two axes")
        refuse(op, name, f"{name} has shape {tuple(one.shape)}; it needs {axes}", "x is (..., K), weight is (O, K)")
    shape = (weight.shape[0], x.shape[-1])
    check_like(op, "weight", weight, x.device, x.dtype, shape, "a column for each element of x's last axis")
    if bias is not None:
        check_like(op, "bias", bias, x.device, x.dtype, weight.shape[:1], "one number for each row of weight")


def check_backward(op: str, grad_y: Tensor, x: Tensor, weight: Tensor, output_mask: Sequence[bool]) -> None:
    """Check the arguments of a backward pass. Raises ArgumentError, which names the argument.

    output_mask: which of the gradients of x, weight and bias to compute.
    """
    check_forward(op, x, weight, None)
    shape = (*x.shape[:-1], weight.shape[0])
    check_like(op, "grad_y", grad_y, x.device, x.dtype, shape, "the shape of y")
    check_mask(op, output_mask)


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``x @ weight.T + bias``, of shape (..., O). x: (..., K), weight: (O, K), bias: (O,) or None.

    All have one dtype, float32, float16 or bfloat16; sums are float32. Raises ArgumentError, which names the argument.
    """
    check_forward(_NAME, x, weight, bias)
    transforms.refuse_forward_mode(_NAME)
    made = x.new_empty((*x.shape[:-1], weight.shape[0]))
    launch("Linear", (few_axes(x), weight, bias), (), (few_axes(made),))
    return made


# The dispatcher omits arguments that equal the schema's default, so every function here repeats the default.
@linear.register_fake
def _fake(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    check_forward(_NAME, x, weight, bias)
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=("cpu", NPU))
def linear_backward(
    grad_y: Tensor, x: Tensor, weight: Tensor, output_mask: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of x, weight and bias, given grad_y, the gradient of y; None where ``output_mask`` is False.

    grad_y: (..., O), dtype and device as x. Errors are as in ``linear``.
    """
    check_backward(_BACKWARD, grad_y, x, weight, output_mask)
    transforms.refuse_forward_mode(_BACKWARD)
    made = gradient_outputs(x, weight, output_mask)
    if any(output_mask):
        dx, *others = made
        outputs = (None if dx is None else few_axes(dx), *others)
        launch("LinearBackward", (few_axes(grad_y), few_axes(x), weight), (tuple(output_mask),), outputs)
    return made


@linear_backward.register_fake
def _fake_backward(
    grad_y: Tensor, x: Tensor, weight: Tensor, output_mask: list[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    check_backward(_BACKWARD, grad_y, x, weight, output_mask)
    return gradient_outputs(x, weight, output_mask)


def gradient_outputs(x: Tensor, weight: Tensor, output_mask: list[bool]) -> tuple[Tensor | None, ...]:
    """Allocate the gradients of x, weight and bias; None where ``output_mask`` is False."""
    shapes = (x.shape, weight.shape, weight.shape[:1])
    return tuple(x.new_empty(shape) if wanted else None for shape, wanted in zip(shapes, output_mask, strict=True))


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])
    ctx.has_bias = len(inputs) > 2 and inputs[2] is not None


def _gradients(ctx: Any, grad_y: Tensor) -> tuple[Tensor | None, ...]:
    wanted = [*ctx.needs_input_grad[:2], ctx.has_bias and ctx.needs_input_grad[2]]
    return linear_backward(grad_y, *ctx.saved_tensors, wanted)


def _batch(info: Any, places: tuple[int | None, ...], *tensors: Tensor | None) -> tuple[Tensor, int]:
    """Return the results for all examples: by one call if they share weight and bias, else by one call for each."""
    if all(place is None for place in places[1:]):
        return linear(tensors[0].movedim(places[0], 0), *tensors[1:]), 0
    made = [linear(*example_of(tensors, places, number)) for number in range(info.batch_size)]
    return torch.stack(made), 0


def _batch_backward(
    info: Any, places: tuple[int | None, ...], *arguments: Any
) -> tuple[tuple[Tensor | None, ...], tuple[int | None, ...]]:
    *tensors, mask = arguments
    return gradients_one_by_one(linear_backward, info.batch_size, places, tensors, mask)


def gradients_one_by_one(
    op: Callable[..., Any],
    count: int,
    places: tuple[int | None, ...],
    tensors: Sequence[Tensor],
    mask: list[bool],
    *behind: Any,
) -> tuple[tuple[Tensor | None, ...], tuple[int | None, ...]]:
    """Return the stacked gradients of ``count`` examples under vmap, and the axis of examples in each.

    Each example has a call ``op(*tensors, mask, *behind)``, because each has its own gradient of the weight. places:
    the axis of examples in each tensor, or None for a shared tensor.
    """
    calls = [op(*example_of(tensors, places, number), mask, *behind) for number in range(count)]
    made = tuple(
        torch.stack(ones) if wanted else None for ones, wanted in zip(zip(*calls, strict=True), mask, strict=True)
    )
    return made, tuple(0 if wanted else None for wanted in mask)


def example_of(tensors: Any, places: tuple[int | None, ...], number: int) -> list[Tensor | None]:
    """Return the tensors of example ``number`` under vmap. places: each tensor's axis of examples; None if shared."""
    return [one if place is None else one.select(place, number) for one, place in zip(tensors, places, strict=False)]


compute_as_set(linear)  # under autocast, as torch.nn.functional.linear does
transforms.with_gradient(linear, _save, _gradients, _batch)
transforms.as_gradient_of(_NAME, linear_backward, _batch_backward)
