"""The operators in PyTorch: ``torch.ops.gn_tutorial.group_norm``, ``.group_norm_backward`` and ``.group_norm_silu``.

Importing this package registers them. Each has a kernel for the CPU, where the twin computes, one for an NPU, a fake
one (shapes and strides without numbers, for ``torch.compile``), a gradient, a rule for ``torch.vmap`` and one for
autocast. The modules that call them are in ``gn_tutorial.nn``; docs/pytorch.md says what each rule is. Nothing here was
run on an NPU.

``gelu`` and ``linear``, with their gradients, are registered in the same way: cases besides GroupNorm.
"""

from gn_tutorial.torch_ops.backward import group_norm_backward
from gn_tutorial.torch_ops.case_gelu import gelu, gelu_backward
from gn_tutorial.torch_ops.case_linear import linear, linear_backward
from gn_tutorial.torch_ops.forward import group_norm
from gn_tutorial.torch_ops.silu import group_norm_silu

__all__ = [
    "gelu",
    "gelu_backward",
    "group_norm",
    "group_norm_backward",
    "group_norm_silu",
    "linear",
    "linear_backward",
]
