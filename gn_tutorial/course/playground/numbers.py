"""Compares an output's bytes with its reference, without NumPy.

The rule is the same as in ``compare/tolerance.within``, which needs NumPy. A test compares the results of the two; this
code is a module of its own so that the test can import it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from itertools import product

#: dtype -> its format character in ``struct``, which has none for bfloat16.
_CODES = {
    "bool": "?", "float16": "e", "float32": "f", "float64": "d", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip


def values(data: bytes | memoryview, dtype: str) -> list[float]:
    """Return the numbers in these bytes. dtype: a name of ``abi/dtypes.py``."""
    if dtype == "bfloat16":  # the upper half of a float32
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return list(struct.unpack(f"<{len(halves)}f", struct.pack(f"<{len(halves)}I", *(one << 16 for one in halves))))
    code = _CODES[dtype]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def wrong(got: Sequence[float], want: Sequence[float], rtol: float, atol: float, of_largest: float = 0.0) -> list[int]:
    """Return the indices of the values out of tolerance.

    of_largest: ``atol`` grows by this part of the largest finite absolute value in ``want``, the reference.
    """
    if of_largest:
        atol += of_largest * max((abs(one) for one in want if math.isfinite(one)), default=0.0)
    return [place for place, pair in enumerate(zip(got, want, strict=True)) if not _within(*pair, rtol, atol)]


def _within(ours: float, truth: float, rtol: float, atol: float) -> bool:
    if ours == truth or (math.isnan(ours) and math.isnan(truth)):
        return True
    return math.isfinite(ours) and math.isfinite(truth) and abs(ours - truth) <= atol + rtol * abs(truth)


def said(name: str, shape: Sequence[int], got: Sequence[float], want: Sequence[float], places: Sequence[int]) -> str:
    """Return one line on an output: that all is right, or how many elements are wrong, and which is the first.

    places: the result of ``wrong``.
    """
    if not places:
        return f"{name}: all {len(want)} right" if len(want) != 1 else f"{name}: right"
    first = places[0]
    index = next(found for place, found in enumerate(product(*map(range, shape))) if place == first)
    where = f"{name}[{', '.join(map(str, index))}]"
    pair = f"{got[first]:.7g}, the reference {want[first]:.7g}"
    return f"{name}: {len(places)} of {len(want)} wrong; first {where} is {pair}"
