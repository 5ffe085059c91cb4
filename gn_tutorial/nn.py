"""Modules for PyTorch models: ``GroupNorm`` in place of ``torch.nn.GroupNorm``, ``GroupNormSiLU``, ``convert``.

On the CPU the twin computes; on an NPU the kernels would, which was not done here. Arguments, parameters, state dict
and text of a module are those of ``torch.nn.GroupNorm``; docs/pytorch.md lists where the results differ.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from gn_tutorial.torch_ops import forward, silu

__all__ = ["GroupNorm", "GroupNormSiLU", "convert"]

Model = TypeVar("Model", bound=torch.nn.Module)


class GroupNorm(torch.nn.GroupNorm):
    """``torch.nn.GroupNorm`` on the kernels of this course: the same arguments, parameters and state dict.

    input: (N, C, ...) of 2 to 8 axes, float32, float16 or bfloat16, the dtype of the parameters; under autocast any of
    them. Returns the same shape, channels last if the input is. Raises ArgumentError, which names the argument.
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's own name: callers may pass it by keyword
        """GroupNorm of the input."""
        return forward.apply(input, self.weight, self.bias, self.num_groups, self.eps)[0]


class GroupNormSiLU(GroupNorm):
    """SiLU of ``GroupNorm``, in one kernel: in place of ``Sequential(GroupNorm(...), SiLU())``."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """SiLU of GroupNorm of the input."""
        return silu.apply(input, self.weight, self.bias, self.num_groups, self.eps)[0]


def convert(model: Model) -> Model:
    """Let every ``torch.nn.GroupNorm`` inside ``model`` run on the kernels of this course; returns the model.

    In place: parameters, hooks and everything that refers to them stay as they are, so an optimizer goes on. A class of
    somebody's own that is derived from ``torch.nn.GroupNorm`` is left alone, since its ``forward`` may differ.
    """
    for module in model.modules():
        if type(module) is torch.nn.GroupNorm:
            module.__class__ = GroupNorm
    return model
