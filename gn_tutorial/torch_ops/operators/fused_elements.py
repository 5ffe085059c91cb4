"""``torch.ops.gn_tutorial.add_relu`` and ``.swiglu``: each fuses two element-wise operators; and their gradients.

They equal ``relu(x + y)`` and ``silu(x) * up`` with ``torch.nn.functional``, but do not broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_elements
from gn_tutorial.torch_ops.autocast import compute_in_the_widest
from gn_tutorial.torch_ops.batching import in_front
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import few_axes, like

__all__ = ["add_relu", "add_relu_backward", "swiglu", "swiglu_backward"]

_DEVICES = ("cpu", NPU)


@torch.library.custom_op("gn_tutorial::add_relu", mutates_args=(), device_types=_DEVICES)
def add_relu(x: Tensor, y: Tensor) -> Tensor:
    """Return max(x + y, 0), rounded once. x: float32, float16 or bfloat16, of any shape; y: as x.

    Raises ArgumentError, which names the argument.
    """
    made = _like("add_relu", x, y=y)
    launch("AddRelu", (few_axes(x), few_axes(y)), (), (few_axes(made),))
    return made


@torch.library.custom_op("gn_tutorial::add_relu_backward", mutates_args=(), device_types=_DEVICES)
def add_relu_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of ``add_relu``'s inputs, the same for both.

    x: the result of ``add_relu``. grad_y: the gradient of this result, as x. Errors are as in ``add_relu``.
    """
    made = _like("add_relu_backward", x, grad_y=grad_y)
    launch("AddReluBackward", (few_axes(grad_y), few_axes(x)), (), (few_axes(made),))
    return made


@torch.library.custom_op("gn_tutorial::swiglu", mutates_args=(), device_types=_DEVICES)
def swiglu(x: Tensor, up: Tensor) -> Tensor:
    """Return silu(x) * up. x: the gate; float32, float16 or bfloat16, any shape. up: as x. Errors: as ``add_relu``."""
    made = _like("swiglu", x, up=up)
    launch("SwiGlu", (few_axes(x), few_axes(up)), (), (few_axes(made),))
    return made


@torch.library.custom_op("gn_tutorial::swiglu_backward", mutates_args=(), device_types=_DEVICES)
def swiglu_backward(grad_y: Tensor, x: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and up, given grad_y, the gradient of ``swiglu(x, up)``.

    grad_y, up: as x. Errors are as in ``swiglu``.
    """
    made = _like("swiglu_backward", x, grad_y=grad_y, up=up), like(x)
    launch("SwiGluBackward", (few_axes(grad_y), few_axes(x), few_axes(up)), (), tuple(map(few_axes, made)))
    return made


def _like(op: str, x: Tensor, **others: Tensor) -> Tensor:
    """Allocate a result of ``op``.

    Raises ArgumentError for tensors that ``op`` does not accept, and in forward-mode differentiation.
    """
    check_elements(op, x, **others)
    transforms.refuse_forward_mode(op)
    return like(x)


@add_relu.register_fake
def _fake_add_relu(x: Tensor, y: Tensor) -> Tensor:
    check_elements("add_relu", x, y=y)
    return like(x)


@add_relu_backward.register_fake
def _fake_add_relu_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    check_elements("add_relu_backward", x, grad_y=grad_y)
    return like(x)


@swiglu.register_fake
def _fake_swiglu(x: Tensor, up: Tensor) -> Tensor:
    check_elements("swiglu", x, up=up)
    return like(x)


@swiglu_backward.register_fake
def _fake_swiglu_backward(grad_y: Tensor, x: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
    check_elements("swiglu_backward", x, grad_y=grad_y, up=up)
    return like(x), like(x)


def _save_result(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(output)


def _add_relu_gradients(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor]:
    grad = add_relu_backward(grad_y, *ctx.saved_tensors)
    return grad, grad


def _save_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _swiglu_gradients(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor]:
    return swiglu_backward(grad_y, *ctx.saved_tensors)


def _batch_of(op: torch.library.CustomOpDef) -> Callable[..., Any]:
    """Return the rule of vmap for the element-wise ``op``: the axis of examples is one more axis in front."""

    def batch(info: Any, places: tuple[Any, ...], *tensors: Tensor) -> tuple[Any, Any]:
        made = op(*in_front(info.batch_size, places, tensors))
        return made, (0,) * len(made) if isinstance(made, tuple) else 0

    return batch


compute_in_the_widest(add_relu)
compute_in_the_widest(swiglu)
transforms.with_gradient(add_relu, _save_result, _add_relu_gradients, _batch_of(add_relu))
transforms.with_gradient(swiglu, _save_inputs, _swiglu_gradients, _batch_of(swiglu))
transforms.as_gradient_of("add_relu", add_relu_backward, _batch_of(add_relu_backward))
transforms.as_gradient_of("swiglu", swiglu_backward, _batch_of(swiglu_backward))
