"""The operators in PyTorch: ``torch.ops.gn_tutorial.group_norm``, ``.group_norm_backward``, ``.gelu`` and so on.

Importing this package registers the operators of every module of ``torch_ops.operators``. Each operator has a kernel
for the CPU, where the twin computes, a kernel for an NPU, a fake kernel for ``torch.compile`` (it computes shapes and
strides but no values), a rule for ``torch.vmap`` and, if needed, a gradient and a rule for autocast. The modules that
call the operators are in ``gn_tutorial.nn``; docs/pytorch.md explains each part. Nothing here was run on an NPU.
"""

from gn_tutorial.host.discovery import public_names
from gn_tutorial.torch_ops import operators

_OPERATORS = public_names(operators)
globals().update(_OPERATORS)

__all__ = [*_OPERATORS]
