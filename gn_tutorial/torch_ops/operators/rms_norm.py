"""``torch.ops.gn_tutorial.rms_norm``: y = x / sqrt(mean(x^2) + eps) * weight over the last axes, and its gradients.

The operator equals ``torch.nn.functional.rms_norm``. ``rms_norm_backward`` has no ``output_mask``, because the kernel
computes both gradients in one pass over x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops import transforms
from gn_tutorial.torch_ops.arguments import MOST_AXES, certainly, check_dtype, check_like, check_optional_eps, refuse
from gn_tutorial.torch_ops.batching import one_by_one
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import like

__all__ = ["rms_norm", "rms_norm_backward"]

_NAME, _BACKWARD = "rms_norm", "rms_norm_backward"
#: The eps that PyTorch uses for None, also for float16 and bfloat16, because it computes in float32.
DEFAULT_EPS = torch.finfo(torch.float32).eps


def check_rows(
    op: str,
    x: Tensor,
    weight: Tensor | None,
    normalized_shape: Sequence[int],
    said: str = "normalized_shape is",
) -> None:
    """Raise ArgumentError unless x is (..., *normalized_shape), and weight is None or has shape normalized_shape.

    x must be float32, float16 or bfloat16, and weight of the same dtype and on the same device. normalized_shape must
    have at least one axis, and no axis of length 0. said: how messages begin: the name of the argument that determines
    normalized_shape, and a verb.
    """
    check_dtype(op, x)
    argument, shape = said.split()[0], tuple(normalized_shape)
    last = x.shape[x.ndim - len(shape) :] if 0 < len(shape) <= x.ndim else ()
    if not last or any(certainly(own != other) for own, other in zip(last, shape, strict=True)):
        what = f"{said} {shape}, which is not the end of x's shape {tuple(x.shape)}"
        refuse(op, argument, what, "it must equal the last axes of x, at least one")
    if any(certainly(length == 0) for length in shape):
        what = f"{said} {shape}: a row without elements has no mean"
        refuse(op, argument, what, "only the axes in front of it may be empty")
    if weight is not None:
        check_like(op, "weight", weight, x.device, x.dtype, shape, "normalized_shape")


def _check_forward(
    op: str, x: Tensor, weight: Tensor | None, normalized_shape: Sequence[int], eps: float | None
) -> None:
    check_rows(op, x, weight, normalized_shape)
    check_optional_eps(f"argument eps of torch.ops.gn_tutorial.{op}", eps)


def _check_backward(
    op: str, grad_y: Tensor, x: Tensor, rstd: Tensor, weight: Tensor | None, normalized_shape: Sequence[int]
) -> None:
    check_rows(op, x, weight, normalized_shape)
    check_like(op, "grad_y", grad_y, x.device, x.dtype, x.shape, "the shape of x")
    shape = rstd_shape(x, normalized_shape)
    check_like(op, "rstd", rstd, x.device, torch.float32, shape, "x's, with ones for normalized_shape")


def rstd_shape(x: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    return (*x.shape[: x.ndim - len(normalized_shape)], *[1] * len(normalized_shape))


def _forward_outputs(x: Tensor, normalized_shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Allocate y like x, and rstd in float32."""
    return like(x), torch.empty(rstd_shape(x, normalized_shape), dtype=torch.float32, device=x.device)


def backward_outputs(x: Tensor, normalized_shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Allocate the gradient of x, like x, and the gradient of weight, in float32."""
    return like(x), torch.empty(tuple(normalized_shape), dtype=torch.float32, device=x.device)


def _factors(weight: Tensor | None, x: Tensor, normalized_shape: Sequence[int]) -> Tensor:
    """Return the weight, or ones for None, because the host API, like aclnn, requires a weight."""
    return x.new_ones(tuple(normalized_shape)) if weight is None else weight


def as_rows(x: Tensor, normalized_shape: Sequence[int], tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return the tensors; reshaped to rows if x has more axes than the host API allows. Contiguous ones give views."""
    if x.ndim <= MOST_AXES:
        return tensors
    rows, length = math.prod(x.shape[: x.ndim - len(normalized_shape)]), math.prod(normalized_shape)
    shapes = {rstd_shape(x, normalized_shape): (rows, 1), tuple(x.shape): (rows, length)}
    return [one.reshape(shapes.get(tuple(one.shape), (length,))) for one in tensors]


@torch.library.custom_op(f"gn_tutorial::{_NAME}", mutates_args=(), device_types=("cpu", NPU))
def rms_norm(
    x: Tensor, weight: Tensor | None, normalized_shape: Sequence[int], eps: float | None = None
) -> tuple[Tensor, Tensor]:
    """Return y, the RMSNorm of x over its last axes, and rstd = 1 / sqrt(mean(x^2) + eps).

    x: (..., *normalized_shape); float32, float16 or bfloat16. weight: of shape normalized_shape and x's dtype, or None
    for ones. eps: None for float32's epsilon, for every dtype of x. y: as x. rstd: float32, of x's shape with ones for
    normalized_shape; not differentiable. Raises ArgumentError, which names the argument.
    """
    _check_forward(_NAME, x, weight, normalized_shape, eps)
    transforms.refuse_forward_mode(_NAME)
    made = _forward_outputs(x, normalized_shape)
    factors = _factors(weight, x, normalized_shape)
    *given, y, rstd = as_rows(x, normalized_shape, (x, factors, *made))
    launch("RmsNorm", given, (DEFAULT_EPS if eps is None else eps,), (y, rstd))
    return made


# The dispatcher omits arguments that equal the schema's default, so every function here repeats the default.
@rms_norm.register_fake
def _fake(
    x: Tensor, weight: Tensor | None, normalized_shape: Sequence[int], eps: float | None = None
) -> tuple[Tensor, Tensor]:
    _check_forward(_NAME, x, weight, normalized_shape, eps)
    return _forward_outputs(x, normalized_shape)


@torch.library.custom_op(f"gn_tutorial::{_BACKWARD}", mutates_args=(), device_types=("cpu", NPU))
def rms_norm_backward(
    grad_y: Tensor, x: Tensor, rstd: Tensor, weight: Tensor | None, normalized_shape: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and weight, given grad_y, the gradient of y. grad_y: as x; rstd: from ``rms_norm``.

    The gradient of weight is a sum over all rows, in float32 for every dtype of x. Errors are as in ``rms_norm``.
    """
    _check_backward(_BACKWARD, grad_y, x, rstd, weight, normalized_shape)
    transforms.refuse_forward_mode(_BACKWARD)
    made = backward_outputs(x, normalized_shape)
    factors = _factors(weight, x, normalized_shape)
    *given, dx, dweight = as_rows(x, normalized_shape, (grad_y, x, rstd, factors, *made))
    launch("RmsNormGrad", given, (), (dx, dweight))
    return made


@rms_norm_backward.register_fake
def _fake_backward(
    grad_y: Tensor, x: Tensor, rstd: Tensor, weight: Tensor | None, normalized_shape: Sequence[int]
) -> tuple[Tensor, Tensor]:
    _check_backward(_BACKWARD, grad_y, x, rstd, weight, normalized_shape)
    return backward_outputs(x, normalized_shape)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, ctx.normalized_shape = inputs[:3]
    _, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(x, weight, rstd)


def _gradients(ctx: Any, grad_y: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    x, weight, rstd = ctx.saved_tensors
    dx, dweight = rms_norm_backward(grad_y, x, rstd, weight, ctx.normalized_shape)
    return dx, None if weight is None else dweight.to(weight.dtype), None, None


def _batch(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Return the results for all examples: by one call if they share the weight, else by one call for each."""
    x, *others = arguments
    if places[1] is None:
        return rms_norm(x.movedim(places[0], 0), *others), (0, 0)
    return one_by_one(rms_norm, info.batch_size, places, arguments)


def _batch_backward(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Return the gradients, with one call for each example, because each example has its own gradient of the weight."""
    return one_by_one(rms_norm_backward, info.batch_size, places, arguments)


for _device in ("cpu", NPU):
    rms_norm.register_autocast(_device, torch.float32)
transforms.with_gradient(rms_norm, _save, _gradients, _batch)
transforms.as_gradient_of(_NAME, rms_norm_backward, _batch_backward)
