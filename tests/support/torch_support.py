"""Shared by the tests of PyTorch: inputs, golden gradients from ATen in float64, and a check of the gradients.

``gradient_fault`` sees a function only from outside, so it must find a wrong backward pass:
torch_ops/test_torch_ops.py plants some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from gn_tutorial.compare.accuracy import accuracy

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
#: A function (x, weight, bias, groups, eps) -> y.
Norm = Callable[[Tensor, Tensor | None, Tensor | None, int, float], Tensor]


def data(
    shape: Sequence[int], dtype: torch.dtype = torch.float32, seed: int = 3
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return x, weight, bias and a gradient of y; no two channels are alike, and nothing is symmetric about 0."""
    made = torch.Generator().manual_seed(seed)
    scale = torch.rand(1, shape[1], *[1] * (len(shape) - 2), generator=made) * 3 + 0.5
    x = torch.randn(*shape, generator=made) * scale + scale - 1
    weight, bias = torch.rand(shape[1], generator=made) + 0.5, torch.rand(shape[1], generator=made) - 0.3
    grad = torch.randn(*shape, generator=made) + 0.2
    return tuple(one.to(dtype) for one in (x, weight, bias, grad))


def aten(x: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float = 1e-5) -> Tensor:
    """Compute the built-in operator. With bias and no weight its gradient raises an error, so weight is ones then."""
    if weight is None and bias is not None:
        weight = torch.ones_like(bias, requires_grad=False)
    return torch.nn.functional.group_norm(x, groups, weight, bias, eps)


def aten_silu(x: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float = 1e-5) -> Tensor:
    """Compute the built-in GroupNorm and then SiLU."""
    return torch.nn.functional.silu(aten(x, weight, bias, groups, eps))


def ours(x: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float = 1e-5) -> Tensor:
    """Compute the course's operator."""
    return torch.ops.gn_tutorial.group_norm(x, weight, bias, groups, eps)[0]


def ours_silu(x: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float = 1e-5) -> Tensor:
    """Compute the course's fused operator."""
    return torch.ops.gn_tutorial.group_norm_silu(x, weight, bias, groups, eps)[0]


def array(tensor: Tensor) -> np.ndarray:
    """Return the tensor's numbers for NumPy, also for bfloat16."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def results(norm: Norm, inputs: Sequence[Tensor | None], grad: Tensor, groups: int) -> list[Tensor]:
    """Return y, and the gradients of the inputs that are not None."""
    leaves = [None if one is None else one.detach().clone().requires_grad_() for one in inputs]
    y = norm(*leaves, groups, 1e-5)
    wanted = [one for one in leaves if one is not None]
    return [y.detach(), *torch.autograd.grad(y, wanted, grad)]


def fault(norm: Norm, builtin: Norm, inputs: Sequence[Tensor | None], grad: Tensor, groups: int) -> str:
    """Return the result of ``norm`` that misses the standard, or "". Golden: ``builtin`` of rounded inputs, float64."""
    wide = [None if one is None else one.double() for one in inputs]
    golden = results(builtin, wide, grad.double(), groups)
    # float32 inside and rounded once: the best that an implementation of this dtype can reach near zero.
    single = results(builtin, [None if one is None else one.float() for one in inputs], grad.float(), groups)
    given = [name for name, one in zip(("x", "weight", "bias"), inputs, strict=True) if one is not None]
    names = ("y", *(f"gradient of {name}" for name in given))
    found = results(norm, inputs, grad, groups)
    for name, mine, right, other in zip(names, found, golden, single, strict=True):
        judged = accuracy(array(mine), array(right), array(other.to(mine.dtype)))
        if not judged.ok:
            return f"{name}: {judged}"
    return ""


def gradient_fault(norm: Norm, groups: int = 2) -> str:
    """Return the float32 gradcheck's error for ``norm``, or "". The kernels have no float64, so the step is 1e-2."""
    x, weight, bias, _ = data((2, 4, 2, 3))
    leaves = [one.requires_grad_() for one in (x, weight, bias)]
    try:
        torch.autograd.gradcheck(lambda *some: norm(*some, groups, 1e-5), leaves, eps=1e-2, atol=1e-2, rtol=1e-2)
    except GradcheckError as error:
        return str(error)
    return ""
