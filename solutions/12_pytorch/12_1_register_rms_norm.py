"""12.1, solved: empty tensors of the right kind, what is saved, and a mask from
needs_input_grad.
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
    """Return tensors like the results of rms_norm."""
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rstd = torch.empty(x.shape[:-1], dtype=torch.float32, device=x.device)
    return y, rstd


def rms_norm_backward_fake(
    grad_y: Tensor, x: Tensor, rstd: Tensor, weight: Tensor, output_mask: list[bool]
) -> tuple[Tensor | None, Tensor | None]:
    """The same for rms_norm_backward."""
    grad_x = (
        torch.empty(x.shape, dtype=x.dtype, device=x.device) if output_mask[0] else None
    )
    grad_weight = torch.empty_like(weight) if output_mask[1] else None
    return grad_x, grad_weight


def save(ctx: object, inputs: tuple, output: tuple) -> None:
    """Keep x, rstd and weight; rstd has no gradient."""
    x, weight, _ = inputs
    _, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(x, rstd, weight)


def gradients(
    ctx: object, grad_y: Tensor, grad_rstd: Tensor
) -> tuple[Tensor | None, Tensor | None, None]:
    """Return the gradients of x and weight; eps has none."""
    x, rstd, weight = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[:2])
    grad_x, grad_weight = rms_norm_backward(grad_y, x, rstd, weight, wanted)
    return grad_x, grad_weight, None


rms_norm.register_fake(rms_norm_fake)
rms_norm_backward.register_fake(rms_norm_backward_fake)
rms_norm.register_autograd(gradients, setup_context=save)
