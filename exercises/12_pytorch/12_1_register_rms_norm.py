"""12.1 Register RMSNorm: its shapes without numbers, and its gradient. Write the last
four functions.

RMSNorm divides each row of x by the root of the mean of its squares, and multiplies by
weight. Both operators are finished and right. Their bodies use PyTorch's operations,
where yours would call a kernel: for a registration it does not matter who computes.
"""

import torch
from torch import Tensor


@torch.library.custom_op("exercise::rms_norm", mutates_args=())
def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Return y and rstd.

    x: shape (..., D), two axes or more, float32 or float16. weight: shape (D,), of x's
    dtype. y: shape and dtype of x, always contiguous. rstd: shape (...), always
    float32; it is for the backward pass and has no gradient.
    """
    wide = x.float()
    rstd = torch.rsqrt(wide.square().mean(-1) + eps)
    y = wide * rstd.unsqueeze(-1) * weight.float()
    return y.to(x.dtype).contiguous(), rstd.contiguous()


@torch.library.custom_op("exercise::rms_norm_backward", mutates_args=())
def rms_norm_backward(
    grad_y: Tensor, x: Tensor, rstd: Tensor, weight: Tensor, output_mask: list[bool]
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and weight, contiguous. output_mask has one value for
    each of them; where it is False, return None instead.
    """
    wide, scale = x.float(), rstd.unsqueeze(-1)
    a = grad_y.float() * weight.float()
    along = (a * wide * scale).mean(-1, keepdim=True)
    grad_x = (scale * (a - wide * scale * along)).to(x.dtype).contiguous()
    grad_weight = (grad_y.float() * wide * scale).flatten(0, -2).sum(0).to(weight.dtype)
    return grad_x if output_mask[0] else None, grad_weight if output_mask[1] else None


def rms_norm_fake(
    x: Tensor, weight: Tensor, eps: float = 1e-6
) -> tuple[Tensor, Tensor]:
    """Return tensors like the results of rms_norm: same shapes, dtypes, device and
    strides. Compute no numbers.
    """
    raise NotImplementedError


def rms_norm_backward_fake(
    grad_y: Tensor, x: Tensor, rstd: Tensor, weight: Tensor, output_mask: list[bool]
) -> tuple[Tensor | None, Tensor | None]:
    """The same for rms_norm_backward; None where that returns None."""
    raise NotImplementedError


def save(ctx: object, inputs: tuple, output: tuple) -> None:
    """Keep in ctx what the gradient needs, and no more. inputs: all arguments of
    rms_norm. output: what it returned.
    """
    raise NotImplementedError


def gradients(
    ctx: object, grad_y: Tensor, grad_rstd: Tensor
) -> tuple[Tensor | None, Tensor | None, None]:
    """Return one gradient for each argument of rms_norm; compute only those that are
    needed.
    """
    raise NotImplementedError


rms_norm.register_fake(rms_norm_fake)
rms_norm_backward.register_fake(rms_norm_backward_fake)
rms_norm.register_autograd(gradients, setup_context=save)
