"""``linear_gelu`` and ``linear_gelu_backward``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("linear_gelu", ((3, 5), (4, 5), (4,)), ("none", True))
BACKWARD = Call("linear_gelu_backward", ((3, 4), (3, 4), (3, 5), (4, 5)), ([True, True, True], "tanh"))
MASKS = ([True, True, True], [False, True, False], [True, False, True])


def aten_linear_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias))


CASE = TorchCase(
    name="linear_gelu",
    builtin=aten_linear_gelu,
    # Short sums keep GELU's input near 0: GELU of -8 has no digits left in float16, and the standard is relative.
    inputs=(((4, 5, 5), (33, 5), (33,)),),
    several=True,
    calls=(
        Call("linear_gelu", ((3, 4, 5), (7, 5), (7,))),
        Call("linear_gelu", ((3, 4, 5), (7, 5), None), ("tanh",)),
        Call("linear_gelu", ((5,), (7, 5), (7,)), ("none", False)),
        *(Call("linear_gelu_backward", ((3, 4, 7), (3, 4, 7), (3, 4, 5), (7, 5)), (mask,)) for mask in MASKS),
    ),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.int()}, "x is torch.int32"),
        Refusal(FORWARD, {1: lambda weight: weight.bfloat16()}, "weight is torch.bfloat16"),
        Refusal(FORWARD, {1: lambda weight: weight[0]}, "weight has shape .* it needs two axes"),
        Refusal(FORWARD, {2: lambda bias: bias[:3]}, r"bias has shape \(3,\); it must be \(4,\)"),
        Refusal(FORWARD, {3: lambda _: "erf"}, "approximate is 'erf'; it must be 'none' or 'tanh'"),
        Refusal(BACKWARD, {0: lambda grad: grad[:2]}, r"grad_y has shape \(2, 4\); it must be \(3, 4\)"),
        Refusal(BACKWARD, {1: lambda kept: kept[0]}, r"preactivation has shape \(4,\); it must be \(3, 4\)"),
        Refusal(BACKWARD, {1: lambda kept: kept.half()}, "preactivation is torch.float16; it must be torch.float32"),
        Refusal(BACKWARD, {4: lambda mask: mask[:2]}, "output_mask has 2 entries"),
        Refusal(BACKWARD, {5: lambda _: ""}, "approximate is ''; it must be 'none' or 'tanh'"),
    ),
    in_cpp=False,
)
