"""``gelu`` and ``gelu_backward`` with approximate="tanh"."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_case import Call, TorchCase


def aten_gelu(x: Tensor) -> Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh")


CASE = TorchCase(
    name="gelu",
    builtin=aten_gelu,
    inputs=(((3, 5, 7, 11),),),
    options=lambda _: ("tanh",),
    calls=(Call("gelu", ((3, 4, 5),), ("tanh",)), Call("gelu_backward", ((3, 4, 5), (3, 4, 5)), ("tanh",))),
    refusals=(),
)
