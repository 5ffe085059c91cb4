"""PyTorch modules that run the course's kernels, and ``convert``, which makes a model use them.

``GroupNorm``, ``GELU``, ``Linear`` and ``RMSNorm`` replace the modules of ``torch.nn``; ``GroupNormSiLU`` is fused.

On the CPU the twin computes; on an NPU the kernels would compute, but we did not run that. A module has the arguments,
parameters, state dict and printed form of the module in ``torch.nn`` that it extends; docs/pytorch.md lists where the
results differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

import gn_tutorial.torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.torch_ops.arguments import check_approximate, check_eps, check_optional_eps

__all__ = ["GELU", "GroupNorm", "GroupNormSiLU", "Linear", "RMSNorm", "convert"]

Model = TypeVar("Model", bound=torch.nn.Module)

# Call operators through torch.ops, which always has the last registration. If a cell that defines an operator runs
# twice, the handle of the first definition points to freed memory.


class GroupNorm(torch.nn.GroupNorm):
    """``torch.nn.GroupNorm`` on the kernels of this course: the same arguments, parameters and state dict.

    input: (N, C, ...) of 2 to 8 axes; float32, float16 or bfloat16. The parameters must have the input's dtype, except
    under autocast. The result has the same shape, and is channels last if the input is. Raises ArgumentError, which
    names the argument; a wrong eps raises it when the module is made.
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, *others: Any, **named: Any) -> None:
        """Take the arguments of ``torch.nn.GroupNorm``. Raises ArgumentError for a wrong eps."""
        check_eps(f"argument eps of gn_tutorial.nn.{type(self).__name__}", eps)
        super().__init__(num_groups, num_channels, eps, *others, **named)

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's own name: callers may pass it by keyword
        """Return GroupNorm of the input."""
        return torch.ops.gn_tutorial.group_norm(input, self.weight, self.bias, self.num_groups, self.eps)[0]


class GroupNormSiLU(GroupNorm):
    """SiLU of ``GroupNorm`` in one kernel. It replaces ``Sequential(GroupNorm(...), SiLU())``."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """Return SiLU of GroupNorm of the input."""
        return torch.ops.gn_tutorial.group_norm_silu(input, self.weight, self.bias, self.num_groups, self.eps)[0]


class GELU(torch.nn.GELU):
    """``torch.nn.GELU`` on the kernel of this course: the same argument, and the same printed form.

    Raises ArgumentError for an input that is not float32, float16 or bfloat16.
    """

    def __init__(self, approximate: str = "none") -> None:
        """Take the form of GELU: "none" (the definition, with erf) or "tanh". Raises ArgumentError for other forms."""
        check_approximate("argument approximate of gn_tutorial.nn.GELU", approximate)
        super().__init__(approximate)

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """Return GELU of the input."""
        return torch.ops.gn_tutorial.gelu(input, self.approximate)


class Linear(torch.nn.Linear):
    """``torch.nn.Linear`` on the kernels of this course: the same arguments, parameters and state dict."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """Return the input times the transposed weight, plus the bias."""
        return torch.ops.gn_tutorial.linear(input, self.weight, self.bias)


class RMSNorm(torch.nn.RMSNorm):
    """``torch.nn.RMSNorm`` on the kernels of this course: the same arguments, parameters and state dict.

    x: ``(..., *normalized_shape)``; float32, float16 or bfloat16. The weight must have x's dtype, except under
    autocast. eps: None means float32's epsilon for every dtype, as PyTorch computes. Raises ArgumentError, which names
    the argument; a wrong eps raises it when the module is made.
    """

    def __init__(self, normalized_shape: Any, eps: float | None = None, *others: Any, **named: Any) -> None:
        """Take the arguments of ``torch.nn.RMSNorm``. Raises ArgumentError for a wrong eps."""
        check_optional_eps(f"argument eps of gn_tutorial.nn.{type(self).__name__}", eps)
        super().__init__(normalized_shape, eps, *others, **named)

    def forward(self, x: Tensor) -> Tensor:
        """Return RMSNorm of the input."""
        return torch.ops.gn_tutorial.rms_norm(x, self.weight, self.normalized_shape, self.eps)[0]


#: PyTorch's module -> our module with the same state, the attribute that the kernels may not support, and its check.
_IN_PLACE: dict[type[torch.nn.Module], tuple[type[torch.nn.Module], str, Callable[[str, Any], None]]] = {
    torch.nn.GroupNorm: (GroupNorm, "eps", check_eps),
    torch.nn.RMSNorm: (RMSNorm, "eps", check_optional_eps),
    torch.nn.GELU: (GELU, "approximate", check_approximate),
}


def convert(model: Model) -> Model:
    """Make every ``torch.nn.GroupNorm``, ``RMSNorm`` and ``GELU`` inside ``model`` run on the kernels of this course.

    Returns the model. The modules are changed in place: parameters and hooks stay, and references to them remain valid,
    so an optimizer keeps working. Your own subclass of such a module stays unchanged, because its ``forward`` may
    differ. Raises ArgumentError, which names a module that the kernels do not support; then nothing has been changed.
    """
    found = [(name, module) for name, module in model.named_modules() if type(module) in _IN_PLACE]
    for name, module in found:
        _, attribute, check = _IN_PLACE[type(module)]
        owner = f"the module {name!r}" if name else "the model itself"
        check(f"{attribute} of {owner}", getattr(module, attribute))
    for _, module in found:
        module.__class__ = _IN_PLACE[type(module)][0]
    return model
