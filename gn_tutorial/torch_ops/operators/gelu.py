"""``torch.ops.gn_tutorial.gelu``, GELU in its tanh form, and its gradient: the smallest operator of this kind.

No attribute, no second input, nothing saved but x: what is left is what every registration needs, a kernel, a fake one,
a gradient, vmap. As ``torch.nn.functional.gelu(x, approximate="tanh")``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_elements
from gn_tutorial.torch_ops.batching import in_front
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import few_axes, like

__all__ = ["gelu", "gelu_backward"]

_NAME, _BACKWARD = "gelu", "gelu_backward"


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def gelu(x: Tensor) -> Tensor:
    """GELU of every element. x: float32, float16 or bfloat16, any shape; channels last stays channels last.

    Raises ArgumentError, which names the argument.
    """
    check_elements(_NAME, x)
    transforms.refuse_forward_mode(_NAME)
    made = like(x)
    launch("Gelu", (few_axes(x),), (), (few_axes(made),))
    return made


@gelu.register_fake
def _fake(x: Tensor) -> Tensor:
    check_elements(_NAME, x)
    return like(x)


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=("cpu", NPU))
def gelu_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    """The gradient of x from that of ``gelu(x)``. grad_y: as x. Errors as there."""
    check_elements(_BACKWARD, x, grad_y=grad_y)
    transforms.refuse_forward_mode(_BACKWARD)
    made = like(x)
    launch("GeluBackward", (few_axes(grad_y), few_axes(x)), (), (few_axes(made),))
    return made


@gelu_backward.register_fake
def _fake_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    check_elements(_BACKWARD, x, grad_y=grad_y)
    return like(x)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _gradients(ctx: Any, grad_y: Tensor) -> Tensor:
    return gelu_backward(grad_y, *ctx.saved_tensors)


gelu.register_autograd(_gradients, setup_context=_save)
gelu_backward.register_autograd(transforms.no_second_derivative_of(_NAME))


def _batch(_: Any, places: tuple[Any, ...], x: Tensor) -> tuple[Tensor, int]:
    return gelu(x.movedim(places[0], 0)), 0


def _batch_backward(info: Any, places: tuple[Any, ...], *both: Tensor) -> tuple[Tensor, int]:
    return gelu_backward(*in_front(info.batch_size, places, both)), 0


gelu.register_vmap(_batch)
gelu_backward.register_vmap(_batch_backward)


transforms.around(gelu, _save, _gradients, _batch)
transforms.around(gelu_backward, lambda *_: None, transforms.no_second_derivative_of(_NAME), _batch_backward)
