"""``gelu`` and ``gelu_backward``."""

from __future__ import annotations

import torch
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("gelu", ((3, 5),))
BACKWARD = Call("gelu_backward", ((3, 5), (3, 5)))
#: Calls with ``approximate``, which the calls above leave out.
FORM, BACKWARD_FORM = Call("gelu", ((3, 5),), ("tanh",)), Call("gelu_backward", ((3, 5), (3, 5)), ("tanh",))

CASE = TorchCase(
    name="gelu",
    builtin=torch.nn.functional.gelu,
    inputs=(((3, 5, 7, 11),),),
    calls=(Call("gelu", ((3, 4, 5),)), Call("gelu_backward", ((3, 4, 5), (3, 4, 5)))),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.double()}, "x is torch.float64"),
        Refusal(BACKWARD, {0: lambda grad: grad[:, :4]}, r"grad_y has shape \(3, 4\); it must be \(3, 5\)"),
        Refusal(BACKWARD, {0: lambda grad: grad.half()}, "grad_y is torch.float16; it must be torch.float32"),
        Refusal(FORM, {1: lambda _: "erf"}, "approximate is 'erf'; it must be 'none' or 'tanh'"),
        Refusal(BACKWARD_FORM, {2: lambda _: ""}, "approximate is ''; it must be 'none' or 'tanh'"),
    ),
)
