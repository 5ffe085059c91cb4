"""The two-call host API (docs/host-api.md) from Python: NumPy arrays as tensors, streams, and each operator.

    import gn_tutorial as gnt
    y, mean, rstd = gnt.host.group_norm(x, num_groups=4)

``kernels/host_api`` implements the API in C++ with a C interface. ``c_library`` builds it, ``c_headers`` reads its
headers. ``gnt.host`` also exports every operator of ``host.operators``. ``host.npu`` builds the API for a real NPU.
"""

from gn_tutorial.host import operators
from gn_tutorial.host.arrays import Tensor, checked
from gn_tutorial.host.c_library import (
    Code,
    Refused,
    build_kernels,
    build_library,
    check,
    declared,
    include_folders,
    kernels,
    library,
    source_text,
    whole_numbers,
)
from gn_tutorial.host.discovery import public_names
from gn_tutorial.host.stream import Stream
from gn_tutorial.host.two_calls import Executor, FirstCall, first_call, second_call

_OPERATORS = {name: checked(one) for name, one in public_names(operators).items()}
globals().update(_OPERATORS)

__all__ = [
    "Code",
    "Executor",
    "FirstCall",
    "Refused",
    "Stream",
    "Tensor",
    "build_kernels",
    "build_library",
    "check",
    "declared",
    "first_call",
    "include_folders",
    "kernels",
    "library",
    "second_call",
    "source_text",
    "whole_numbers",
    *_OPERATORS,
]
