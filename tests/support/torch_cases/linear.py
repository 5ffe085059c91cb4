"""``linear`` and ``linear_backward``."""

from __future__ import annotations

import torch
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("linear", ((3, 5), (4, 5), (4,)))
BACKWARD = Call("linear_backward", ((3, 4), (3, 5), (4, 5)), ([True, True, True],))
MASKS = ([True, True, True], [False, True, False], [True, False, True])

CASE = TorchCase(
    name="linear",
    builtin=torch.nn.functional.linear,
    inputs=(((4, 5, 70), (33, 70), (33,)), ((9, 300), (17, 300))),
    calls=(
        Call("linear", ((3, 4, 5), (7, 5), (7,))),
        Call("linear", ((3, 4, 5), (7, 5), None)),
        Call("linear", ((5,), (7, 5), (7,))),
        *(Call("linear_backward", ((3, 4, 7), (3, 4, 5), (7, 5)), (mask,)) for mask in MASKS),
    ),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.int()}, "x is torch.int32"),
        Refusal(FORWARD, {1: lambda weight: weight.bfloat16()}, "weight is torch.bfloat16"),
        Refusal(FORWARD, {1: lambda weight: weight[:, :4]}, r"weight has shape \(4, 4\); it must be \(4, 5\)"),
        Refusal(FORWARD, {1: lambda weight: weight[0]}, "weight has shape .* it needs two axes"),
        Refusal(FORWARD, {0: lambda x: x[0, 0]}, "x has shape .* it needs at least one axis"),
        Refusal(FORWARD, {2: lambda bias: bias[:3]}, r"bias has shape \(3,\); it must be \(4,\)"),
        Refusal(BACKWARD, {0: lambda grad: grad[:2]}, r"grad_y has shape \(2, 4\); it must be \(3, 4\)"),
        Refusal(BACKWARD, {3: lambda mask: mask[:2]}, "output_mask has 2 entries"),
    ),
)
