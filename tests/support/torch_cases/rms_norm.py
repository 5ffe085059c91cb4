"""``rms_norm`` and ``rms_norm_backward``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_case import Call, Refusal, TorchCase

FORWARD = Call("rms_norm", ((3, 4, 5), (4, 5)), ((4, 5), 1e-5))
BACKWARD = Call("rms_norm_backward", ((3, 4, 5), (3, 4, 5), (3, 1, 1), (4, 5)), ((4, 5),), (2,))


def aten_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return torch.nn.functional.rms_norm(x, weight.shape, weight)


CASE = TorchCase(
    name="rms_norm",
    builtin=aten_rms_norm,
    inputs=(((4, 5, 70), (70,)), ((6, 5, 7), (5, 7)), ((3, 5), (5,))),
    options=lambda _, weight: (weight.shape,),
    several=True,
    calls=(
        Call("rms_norm", ((3, 4, 5), (5,)), ((5,),)),
        Call("rms_norm", ((3, 4, 5), None), ((4, 5), 1e-3)),
        Call("rms_norm", ((5,), (5,)), ((5,), None)),
        Call("rms_norm_backward", ((3, 4, 5), (3, 4, 5), (3, 4, 1), (5,)), ((5,),), (2,)),
        Call("rms_norm_backward", ((3, 4, 5), (3, 4, 5), (3, 1, 1), None), ((4, 5),), (2,)),
    ),
    refusals=(
        Refusal(FORWARD, {0: lambda x: x.double()}, "x is torch.float64"),
        Refusal(FORWARD, {1: lambda weight: weight.half()}, "weight is torch.float16; it must be torch.float32, as x"),
        Refusal(FORWARD, {1: lambda weight: weight[0]}, r"weight has shape \(5,\); it must be \(4, 5\)"),
        Refusal(FORWARD, {2: lambda _: ()}, r"normalized_shape is \(\), which is not the end of x's shape"),
        Refusal(FORWARD, {2: lambda _: (3, 4)}, r"normalized_shape is \(3, 4\), which is not the end"),
        Refusal(FORWARD, {2: lambda _: (1, 3, 4, 5)}, r"normalized_shape is \(1, 3, 4, 5\), which is not the end"),
        Refusal(
            FORWARD,
            {0: lambda x: x[:, :, :0], 1: lambda weight: weight[:, :0], 2: lambda _: (4, 0)},
            r"normalized_shape is \(4, 0\): a row without elements has no mean",
        ),
        Refusal(FORWARD, {3: lambda _: 0.0}, "eps is 0; it must be positive and finite as float32"),
        Refusal(
            BACKWARD, {0: lambda grad: grad.bfloat16()}, "grad_y is torch.bfloat16; it must be torch.float32, as x"
        ),
        Refusal(BACKWARD, {0: lambda grad: grad[:2]}, r"grad_y has shape \(2, 4, 5\); it must be \(3, 4, 5\)"),
        Refusal(BACKWARD, {2: lambda rstd: rstd[:, 0, 0]}, r"rstd has shape \(3,\); it must be \(3, 1, 1\)"),
        Refusal(BACKWARD, {2: lambda rstd: rstd.half()}, "rstd is torch.float16; it must be torch.float32, whatever x"),
        Refusal(BACKWARD, {3: lambda weight: weight[:3]}, r"weight has shape \(3, 5\); it must be \(4, 5\)"),
    ),
)
