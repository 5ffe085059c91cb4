"""References for the kernels: the same mathematics in NumPy, computed in float64.

``group_norm`` is the operator of the course, ``group_norm_nhwc`` is the same for a channels-last tensor, and
``group_norm_backward`` gives its gradients. ``layer_norm`` and ``instance_norm`` are the two limits of GroupNorm: one
group with all channels, and one channel in each group. These two compute with other code than ``group_norm``. So if
their results agree with those of ``group_norm``, this is evidence that all three are right. ``copy`` and ``add`` are
the references of the warm-up kernels, ``transpose`` that of the strided copy. ``silu``, ``silu_backward``, ``multiply``
and ``relu`` are parts of fused operators. ``group_norm_silu``, ``add_relu``, ``swiglu``, ``add_rms_norm`` and
``linear_gelu`` are fused operators, each with its gradients. ``gelu``, ``linear`` and ``rms_norm``, with their
gradients, are the operators of the course besides GroupNorm.
"""

from gn_tutorial.reference.elementwise import add, copy, multiply, relu, silu, transpose
from gn_tutorial.reference.fused import (
    AddRmsNormOutputs,
    LinearGeluOutputs,
    ReferenceSwigluGradients,
    add_relu,
    add_relu_backward,
    add_rms_norm,
    add_rms_norm_backward,
    group_norm_silu,
    group_norm_silu_backward,
    group_norm_silu_nhwc,
    linear_gelu,
    linear_gelu_backward,
    silu_backward,
    swiglu,
    swiglu_backward,
)
from gn_tutorial.reference.gelu import gelu, gelu_backward
from gn_tutorial.reference.group_norm import GroupNormOutputs, group_norm, group_norm_nhwc
from gn_tutorial.reference.group_norm_backward import (
    ReferenceGroupNormGradients,
    group_norm_backward,
    group_norm_backward_nhwc,
)
from gn_tutorial.reference.limits import instance_norm, layer_norm
from gn_tutorial.reference.linear import ReferenceLinearGradients, linear, linear_backward
from gn_tutorial.reference.rms_norm import (
    ReferenceRmsNormGradients,
    RmsNormOutputs,
    rms_norm,
    rms_norm_backward,
)

__all__ = [
    "AddRmsNormOutputs",
    "GroupNormOutputs",
    "LinearGeluOutputs",
    "ReferenceGroupNormGradients",
    "ReferenceLinearGradients",
    "ReferenceRmsNormGradients",
    "ReferenceSwigluGradients",
    "RmsNormOutputs",
    "add",
    "add_relu",
    "add_relu_backward",
    "add_rms_norm",
    "add_rms_norm_backward",
    "copy",
    "gelu",
    "gelu_backward",
    "group_norm",
    "group_norm_backward",
    "group_norm_backward_nhwc",
    "group_norm_nhwc",
    "group_norm_silu",
    "group_norm_silu_backward",
    "group_norm_silu_nhwc",
    "instance_norm",
    "layer_norm",
    "linear",
    "linear_backward",
    "linear_gelu",
    "linear_gelu_backward",
    "multiply",
    "relu",
    "rms_norm",
    "rms_norm_backward",
    "silu",
    "silu_backward",
    "swiglu",
    "swiglu_backward",
    "transpose",
]
