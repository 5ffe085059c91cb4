"""``add_relu`` and ``add_relu_backward``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("add_relu", ((3, 5), (3, 5)))
BACKWARD = Call("add_relu_backward", ((3, 5), (3, 5)))


def aten_add_relu(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x + y)


CASE = TorchCase(
    name="add_relu",
    builtin=aten_add_relu,
    inputs=(((3, 5, 7, 11), (3, 5, 7, 11)),),
    calls=(Call("add_relu", ((3, 4, 5), (3, 4, 5))), Call("add_relu_backward", ((3, 4, 5), (3, 4, 5)))),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.double()}, "x is torch.float64"),
        Refusal(FORWARD, {1: lambda y: y[:1]}, r"y has shape \(1, 5\); it must be \(3, 5\)"),
        Refusal(FORWARD, {1: lambda y: y.half()}, "y is torch.float16; it must be torch.float32"),
        Refusal(BACKWARD, {0: lambda grad: grad[:, :4]}, r"grad_y has shape \(3, 4\); it must be \(3, 5\)"),
    ),
    in_cpp=False,
    smooth=False,
)
