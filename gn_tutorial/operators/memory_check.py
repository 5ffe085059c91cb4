"""Checks that an array fits into this machine's memory before it is allocated, because a user may give any size.

Without this check NumPy raises MemoryError or ValueError from its internals, or the system promises memory that it
lacks and kills the process later.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence

import numpy as np

from gn_tutorial.errors import ArgumentError

#: The most axes of a NumPy array: 64 since NumPy 2.0, 32 before (NumPy, release notes of 2.0.0).
MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
#: The bytes that a 64-bit process can address: the limit if the system does not say how much memory it has.
_ADDRESSABLE = 1 << 47
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def require_room(what: str, shape: Sequence[int], element_bytes: int) -> None:
    """Raise ArgumentError unless this machine can hold an array of this shape. what: names the array in the message."""
    if len(shape) > MOST_AXES:
        raise ArgumentError(
            f"{what} has {len(shape)} axes; an array has {MOST_AXES} at most",
            hint="a kernel sees a flat array: join axes",
        )
    needed, there = math.prod(shape) * element_bytes, memory_bytes()
    # NumPy refuses an axis of this length even if another axis is empty.
    if needed > there or max(shape, default=0) * element_bytes > _ADDRESSABLE:
        raise ArgumentError(
            f"{what} needs {_size(needed or max(shape) * element_bytes)}; this machine has {_size(there)} of memory",
            hint="a smaller shape",
        )


@functools.cache
def memory_bytes() -> int:
    """Return the memory of this machine in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows; a system that has no such number
        return _ADDRESSABLE


def _size(count: int) -> str:
    unit = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{count >> 10 * unit:.3g} {_UNITS[unit]}" if count >> 10 * unit < 1000 else f"over 999 {_UNITS[unit]}"
