"""The macros that an operator package's build defines for a kernel: DTYPE_X, ORIG_DTYPE_X, FORMAT_X.

CANN derives the macros from the operator's definition (``Input("x").DataType(...)``); here the caller gives the dtypes.
A kernel compares the macros in ``#if`` with macros such as DT_FLOAT16, numbers that
``twin/include/gn_twin/base/data_type_macros.h`` defines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gn_tutorial.abi.dtypes import ARRAY_DTYPES, DTYPES
from gn_tutorial.errors import ArgumentError

#: Name -> the dtype, for the dtypes in CANN's list, in the list's order.
_LISTED = {one.name: one for one in sorted((DTYPES[name] for name in ARRAY_DTYPES), key=lambda one: one.number or 0)}

#: Names of functions of the C or C++ library that published kernels use as names of kernels. A kernel
#: ``extern "C" ... asinh(GM_ADDR x)`` conflicts with the library's own asinh.
LIBC_NAMES = frozenset(
    """abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ldexp lerp lgamma log log10 log1p log2 logb modf nearbyint
    nextafter pow remainder rint round scalbn select sin sinh sqrt tan tanh tgamma trunc index signbit isnan
    isinf isfinite""".split()
)


def graph_number(dtype: str) -> int:
    """Return the number of a dtype in the graph engine's list. Tiling functions get this number.

    Raises ArgumentError if the list does not have the dtype.
    """
    number = DTYPES[dtype].number if dtype in DTYPES else None
    if number is None:
        raise ArgumentError(f"the graph engine's list has no number for {dtype!r}", hint=f"one of {', '.join(_LISTED)}")
    return number


def dtype_defines(dtypes: Mapping[str, str]) -> list[str]:
    """Return the macros ``NAME=VALUE`` of inputs such as ``{"x": "float16"}``.

    Raises ArgumentError for an unknown dtype, or a name that is no identifier.
    """
    found = []
    for name, dtype in dtypes.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ArgumentError(
                f"'{name}' is no name of an operator's input", hint='for example dtypes={"x": "float16"}'
            )
        if dtype not in _LISTED:
            raise ArgumentError(f"'{name}' cannot be {dtype!r}", hint=f"one of {', '.join(_LISTED)}")
        one, upper = _LISTED[dtype], name.upper()
        found += [f"DTYPE_{upper}={one.ctypes[0]}", f"ORIG_DTYPE_{upper}={one.label}", f"FORMAT_{upper}=FORMAT_ND"]
    return found
