"""``swiglu`` and ``swiglu_backward``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("swiglu", ((3, 5), (3, 5)))
BACKWARD = Call("swiglu_backward", ((3, 5), (3, 5), (3, 5)))


def aten_swiglu(x: Tensor, up: Tensor) -> Tensor:
    return torch.nn.functional.silu(x) * up


CASE = TorchCase(
    name="swiglu",
    builtin=aten_swiglu,
    inputs=(((3, 5, 7, 11), (3, 5, 7, 11)),),
    calls=(Call("swiglu", ((3, 4, 5), (3, 4, 5))), Call("swiglu_backward", ((3, 4, 5), (3, 4, 5), (3, 4, 5)))),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.double()}, "x is torch.float64"),
        Refusal(FORWARD, {1: lambda up: up.T.reshape(5, 3)}, r"up has shape \(5, 3\); it must be \(3, 5\)"),
        Refusal(FORWARD, {1: lambda up: up.bfloat16()}, "up is torch.bfloat16; it must be torch.float32"),
        Refusal(BACKWARD, {0: lambda grad: grad[:, :4]}, r"grad_y has shape \(3, 4\); it must be \(3, 5\)"),
        Refusal(BACKWARD, {2: lambda up: up.half()}, "up is torch.float16; it must be torch.float32"),
    ),
    in_cpp=False,
)
