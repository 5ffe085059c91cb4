"""Recognises elements whose bits fit another type: indices read as floats, signed numbers shifted as unsigned ones.

::

    reference   0.9  0.7  0.5  0.2         37        -8 >> 1 = -4
    output      0.9  0x2  0.7  0x5          0                  2147483644
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import OutputEvidence
from gn_tutorial.compare.tolerance import within


def value_and_index(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if a sorted list of floats has its indices, read as tiny floats, in every second place."""
    values, indices = seen.ours[0::2], seen.ours[1::2]
    tiny = np.finfo(np.float32).tiny
    if seen.output.dtype != np.float32 or len(indices) < 2 or not (np.abs(indices) < tiny).all() or not indices.any():
        return ()
    if not within(values, seen.truth[: len(values)], seen.rtol, seen.atol).all():
        return ()
    return (
        "elements 0, 2, 4 ... are the reference's 0, 1, 2 ..., those between are bits of integers: Sort32, MrgSort and"
        " reductions with an index write pairs of value and index, value k in place 2 * k (Extract takes them apart)",
    )


def index_as_float(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if zeros stand in the place of whole numbers above 0."""
    x, y = seen.pairs
    if seen.output.dtype.kind not in "iu" or x.any() or not (y > 0).all():
        return ()
    which = "the wrong element is" if seen.count == 1 else f"all {seen.count} wrong elements are"
    return (
        f"{which} 0; an index of ReduceMax is an integer's bits, 0 when converted as a float"
        " (ReinterpretCast<int32_t>)",
    )


def unsigned_shift(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if numbers below 0 came out too large by a power of two, as after an unsigned shift."""
    x, y = seen.pairs
    if not seen.finite or seen.output.dtype.kind not in "iu" or not (y < 0).all() or np.ptp(x - y) != 0:
        return ()
    bits, more = 8 * seen.output.dtype.itemsize, int(x[0] - y[0])
    power = more.bit_length() - 1
    if more != 1 << power or not bits // 2 <= power < bits:
        return ()
    return (
        f"all {seen.count} wrong elements are 2^{power} more than the reference, which is below 0 there: a shift by"
        f" {bits - power} filled up with zeros. ShiftRight keeps the sign of signed types only",
    )
