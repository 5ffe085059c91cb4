"""What the kernels are compared with: the same mathematics in NumPy, with float64 inside.

``group_norm`` is the operator of the course, ``group_norm_backward`` its gradients. ``layer_norm`` and
``instance_norm`` are its two limits, one group and one channel a group; they are written on their own, so that an
agreement between them is evidence and not a tautology. ``copy`` and ``add`` are the warm-up kernels' references,
``transpose`` that of the strided copy.
"""

from gn_tutorial.reference.elementwise import add, copy, transpose
from gn_tutorial.reference.group_norm import GroupNormOutputs, group_norm
from gn_tutorial.reference.group_norm_backward import GroupNormGradients, group_norm_backward
from gn_tutorial.reference.limits import instance_norm, layer_norm

__all__ = [
    "GroupNormGradients",
    "GroupNormOutputs",
    "add",
    "copy",
    "group_norm",
    "group_norm_backward",
    "instance_norm",
    "layer_norm",
    "transpose",
]
