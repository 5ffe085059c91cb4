"""The operators in PyTorch: ``torch.ops.gn_tutorial.group_norm``, ``.group_norm_backward`` and ``.group_norm_silu``.

Importing this package registers them. Each has a kernel for the CPU, where the twin computes, one for an NPU, a fake
one (shapes and strides without numbers, for ``torch.compile``), a gradient, a rule for ``torch.vmap`` and one for
autocast. The modules that call them are in ``gn_tutorial.nn``; docs/pytorch.md says what each rule is. Nothing here was
run on an NPU.
"""

from gn_tutorial.torch_ops.backward import group_norm_backward
from gn_tutorial.torch_ops.forward import group_norm
from gn_tutorial.torch_ops.silu import group_norm_silu

__all__ = ["group_norm", "group_norm_backward", "group_norm_silu"]
