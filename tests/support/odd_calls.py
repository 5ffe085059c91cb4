"""A call of each registered kernel with lengths that no block or tile divides: tails, and rows of partial blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.spec import KernelSpec, OpSpec

GROUPS = ((2, 8, 7, 5), {"num_groups": 4})
LAST = ((2, 7, 5, 8), {"num_groups": 4})
SHAPES = {  # the other operators take one array of any length
    "group_norm": GROUPS,
    "group_norm_silu": GROUPS,
    "group_norm_nhwc": LAST,
    "group_norm_silu_nhwc": LAST,
    "group_norm_backward": GROUPS,
    "group_norm_backward_nhwc": LAST,
    "group_norm_silu_backward": GROUPS,
    "strided_copy": ((37, 29), {}),
    "linear": ((19, 270), {}),
    "linear_backward": ((37, 21), {}),
    "linear_gelu": ((19, 270), {}),
    "linear_gelu_backward": ((37, 21), {}),
    "rms_norm": ((5, 4500), {}),
    "rms_norm_backward": ((5, 4500), {}),
    "add_rms_norm": ((5, 9000), {}),
    "add_rms_norm_backward": ((5, 4500), {}),
}


def odd_call(op: OpSpec, spec: KernelSpec) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return arrays of the kernel's first dtype, and attributes."""
    shape, attributes = SHAPES.get(op.name, ((5003,), {}))
    return random_inputs.inputs(op, shape, seed=7, attributes=attributes, dtype=spec.dtypes[0]), attributes
