"""``add_rms_norm`` and ``add_rms_norm_backward``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("add_rms_norm", ((3, 4, 5), (3, 4, 5), (4, 5)), (1e-5,))
BACKWARD = Call("add_rms_norm_backward", ((3, 4, 5), (3, 4, 5), (3, 4, 5), (3, 1, 1), (4, 5)), (), (3,))


def aten_add_rms_norm(x: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
    return torch.nn.functional.rms_norm(x + residual, weight.shape, weight)


CASE = TorchCase(
    name="add_rms_norm",
    builtin=aten_add_rms_norm,
    inputs=(((4, 5, 70), (4, 5, 70), (70,)), ((6, 5, 7), (6, 5, 7), (5, 7))),
    several=True,
    calls=(
        Call("add_rms_norm", ((3, 4, 5), (3, 4, 5), (5,))),
        Call("add_rms_norm", ((3, 4, 5), (3, 4, 5), (4, 5)), (1e-3,)),
        Call("add_rms_norm_backward", ((3, 4, 5), (3, 4, 5), (3, 4, 5), (3, 4, 1), (5,)), (), (3,)),
        BACKWARD,
    ),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.double()}, "x is torch.float64"),
        Refusal(FORWARD, {1: lambda one: one.half()}, "residual is torch.float16; it must be torch.float32, as x"),
        Refusal(FORWARD, {1: lambda one: one[:1]}, r"residual has shape \(1, 4, 5\); it must be \(3, 4, 5\)"),
        Refusal(FORWARD, {2: lambda weight: weight.half()}, "weight is torch.float16; it must be torch.float32, as x"),
        Refusal(FORWARD, {2: lambda weight: weight[:3]}, r"weight has shape \(3, 5\), which is not the end of x's"),
        Refusal(FORWARD, {2: lambda weight: weight[0, 0]}, r"weight has shape \(\), which is not the end of x's"),
        Refusal(FORWARD, {3: lambda _: 0.0}, "eps is 0; it must be positive and finite as float32"),
        Refusal(BACKWARD, {0: lambda grad: grad[:2]}, r"grad_y has shape \(2, 4, 5\); it must be \(3, 4, 5\)"),
        Refusal(BACKWARD, {1: lambda grad: grad.half()}, "grad_sum is torch.float16; it must be torch.float32, as x"),
        Refusal(BACKWARD, {3: lambda rstd: rstd[:, 0, 0]}, r"rstd has shape \(3,\); it must be \(3, 1, 1\)"),
    ),
    in_cpp=False,
    eighths=True,
)
