"""``torch.ops.gn_tutorial.gelu`` and its gradient: the smallest operator here.

The operator has one input and one attribute, and saves only x. So the module shows just the parts that every
registration needs: a kernel, a fake kernel, a gradient and a rule for vmap. The operator equals
``torch.nn.functional.gelu``, in both its forms.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gn_tutorial.host.operators.gelu import FORMS
from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import check_approximate, check_elements
from gn_tutorial.torch_ops.batching import in_front
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import few_axes, like

__all__ = ["gelu", "gelu_backward"]

_NAME, _BACKWARD = "gelu", "gelu_backward"


def _check(op: str, x: Tensor, approximate: str, **like_x: Tensor) -> None:
    check_elements(op, x, **like_x)
    check_approximate(f"argument approximate of torch.ops.gn_tutorial.{op}", approximate)


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Return GELU of every element. x: float32, float16 or bfloat16, any shape; channels last stays channels last.

    approximate: "none" for the exact form with erf; "tanh" for the tanh form. Raises ArgumentError, which names the
    argument.
    """
    _check(_NAME, x, approximate)
    transforms.refuse_forward_mode(_NAME)
    made = like(x)
    launch("GeluV2", (few_axes(x),), (FORMS.index(approximate),), (few_axes(made),))
    return made


# The dispatcher omits arguments that equal the schema's default, so every function here repeats the default.
@gelu.register_fake
def _fake(x: Tensor, approximate: str = "none") -> Tensor:
    _check(_NAME, x, approximate)
    return like(x)


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=("cpu", NPU))
def gelu_backward(grad_y: Tensor, x: Tensor, approximate: str = "none") -> Tensor:
    """Return the gradient of x, given grad_y, that of ``gelu(x, approximate)``. grad_y: as x. Errors as in ``gelu``."""
    _check(_BACKWARD, x, approximate, grad_y=grad_y)
    transforms.refuse_forward_mode(_BACKWARD)
    made = like(x)
    launch("GeluBackwardV2", (few_axes(grad_y), few_axes(x)), (approximate.encode(),), (few_axes(made),))
    return made


@gelu_backward.register_fake
def _fake_backward(grad_y: Tensor, x: Tensor, approximate: str = "none") -> Tensor:
    _check(_BACKWARD, x, approximate, grad_y=grad_y)
    return like(x)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, ctx.approximate = inputs
    ctx.save_for_backward(x)


def _gradients(ctx: Any, grad_y: Tensor) -> tuple[Tensor, None]:
    return gelu_backward(grad_y, *ctx.saved_tensors, ctx.approximate), None


def _batch(_: Any, places: tuple[Any, ...], x: Tensor, approximate: str = "none") -> tuple[Tensor, int]:
    return gelu(x.movedim(places[0], 0), approximate), 0


def _batch_backward(
    info: Any, places: tuple[Any, ...], grad_y: Tensor, x: Tensor, approximate: str = "none"
) -> tuple[Tensor, int]:
    return gelu_backward(*in_front(info.batch_size, places[:2], (grad_y, x)), approximate), 0


transforms.with_gradient(gelu, _save, _gradients, _batch)
transforms.as_gradient_of(_NAME, gelu_backward, _batch_backward)
