"""Names that an operator package's build gives to a kernel: DTYPE_X, ORIG_DTYPE_X, FORMAT_X; and names to keep apart.

CANN derives the macros from the operator's definition (``Input("x").DataType(...)``); here the caller says the dtypes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gn_tutorial.errors import ArgumentError

#: dtype -> the C++ type of DTYPE_X, and the number of DT_... of the graph engine's public list of data types.
_TYPES = {
    "float32": ("float", "DT_FLOAT", 0),
    "float16": ("half", "DT_FLOAT16", 1),
    "int8": ("int8_t", "DT_INT8", 2),
    "int32": ("int32_t", "DT_INT32", 3),
    "uint8": ("uint8_t", "DT_UINT8", 4),
    "int16": ("int16_t", "DT_INT16", 6),
    "uint16": ("uint16_t", "DT_UINT16", 7),
    "uint32": ("uint32_t", "DT_UINT32", 8),
    "int64": ("int64_t", "DT_INT64", 9),
    "uint64": ("uint64_t", "DT_UINT64", 10),
    "bool": ("bool", "DT_BOOL", 12),
    "bfloat16": ("bfloat16_t", "DT_BF16", 27),
}
_FORMATS = {"FORMAT_NCHW": 0, "FORMAT_NHWC": 1, "FORMAT_ND": 2}

#: Functions of the C library after which public kernels are named: ``extern "C" ... asinh(GM_ADDR x)`` is a conflict.
LIBC_NAMES = frozenset(
    """abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ldexp lerp lgamma log log10 log1p log2 logb modf nearbyint
    nextafter pow remainder rint round scalbn select sin sinh sqrt tan tanh tgamma trunc index signbit isnan
    isinf isfinite""".split()
)


def graph_number(dtype: str) -> int:
    """The number of a dtype in the graph engine's list: what a tiling function gets. Raises ArgumentError."""
    if dtype not in _TYPES:
        raise ArgumentError(f"the graph engine's list has no number for {dtype!r}", hint=f"one of {', '.join(_TYPES)}")
    return _TYPES[dtype][2]


def dtype_defines(dtypes: Mapping[str, str]) -> list[str]:
    """``{"x": "float16"}`` as definitions, ``NAME=VALUE``. Raises ArgumentError for an unknown dtype or name."""
    found = []
    for name, dtype in dtypes.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ArgumentError(
                f"'{name}' is no name of an operator's input", hint='for example dtypes={"x": "float16"}'
            )
        if dtype not in _TYPES:
            raise ArgumentError(f"'{name}' cannot be {dtype!r}", hint=f"one of {', '.join(_TYPES)}")
        ctype, label, _ = _TYPES[dtype]
        upper = name.upper()
        found += [f"DTYPE_{upper}={ctype}", f"ORIG_DTYPE_{upper}={label}", f"FORMAT_{upper}=FORMAT_ND"]
    if found:  # a kernel compares them in #if, where a name without a value would be 0
        found += [f"{label}={number}" for _, label, number in _TYPES.values()]
        found += [f"{label}={number}" for label, number in _FORMATS.items()]
    return found
