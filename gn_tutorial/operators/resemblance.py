"""What wrong outputs have in common with their references: a sign, a factor, zeros, rows of another place.

Where no rule of the device is broken, only the numbers tell a mistake: operands the wrong way round, a mean that was
not divided, a stride that wrapped.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import constant, within

#: Fewer elements may look alike by chance.
_FEWEST = 8
#: Rows that are looked for in other places; the most elements that are compared for that.
_ROWS, _ELEMENTS = 4096, 1 << 22
#: Of one repeat of a vector instruction; bits of its mask; runs of lanes that are named.
_REPEAT_BYTES, _MASK_BITS, _RUNS = 256, 128, 3
#: Up to here half holds every whole number.
_WHOLE_HALF = 2048


def resemblance(
    actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float, *, explained: bool = False
) -> tuple[str, ...]:
    """Sentences about the elements out of tolerance, if all of them differ from the reference in the same way.

    actual, golden: arrays of one shape. A sign or a factor is named only if it brings every wrong element within
    tolerance; rows, those of the last axis, only if each wrong one is another row of the reference. explained: a
    finding may say why, so nothing is guessed about an output of zeros.
    """
    if actual.shape != golden.shape or actual.size > _ELEMENTS:
        return ()
    ours, truth = actual.astype(np.float64), golden.astype(np.float64)
    wrong = ~within(actual, golden, rtol, atol)
    count = int(wrong.sum())
    if few := _coarse(ours, truth, wrong) or _pairs(actual, truth, rtol, atol) or _index(actual, truth, wrong):
        return few
    if count > 1 and not ours.any():
        zeros = (
            ": a factor is 0 (1 / n is 0 if n is a whole number), or another tensor was stored than the one computed"
        )
        return (f"all {count} wrong elements are 0, and so is all of the output{'' if explained else zeros}",)
    if count < _FEWEST or not np.isfinite(truth).all():
        return ()
    x, y = ours[wrong], truth[wrong]
    if np.isnan(x).all():
        named = (f"all {count} wrong elements are NaN",) if count < actual.size else ()
        return (*named, *_lanes(wrong, actual.dtype.itemsize))
    if not np.isfinite(x).all():
        return ()
    if (x == 0).all():
        return (f"all {count} wrong elements are 0", *_lanes(wrong, actual.dtype.itemsize))
    return (
        _lanes(wrong, actual.dtype.itemsize)
        or _sign_bits(x, y, actual.dtype)
        or _factor(x, y, count, rtol, atol)
        or _shift(x, y, count, rtol, atol)
        or _rows(ours, truth, wrong, rtol, atol)
    )


def _coarse(ours: np.ndarray, truth: np.ndarray, wrong: np.ndarray) -> tuple[str, ...]:
    """Whole numbers that half cannot hold, each off by a little: sums or counts that were added up in half."""
    count, whole = int(wrong.sum()), bool((truth == np.rint(truth)).all() and (ours == np.rint(ours)).all())
    x, y = ours[wrong], truth[wrong]
    if not whole or not count > 0 or (np.abs(y) <= _WHOLE_HALF).any() or (np.abs(x - y) > np.abs(y) / 100).any():
        return ()
    if count < 2 or not (truth[~wrong] == ours[~wrong]).all() or (x != x.astype(np.float16)).any():
        return ()
    return (
        f"all {count} wrong elements are whole numbers above {_WHOLE_HALF} that are off by less than a hundredth: half"
        " holds no more of them one by one; Cast to float before they are added up",
    )


def _pairs(actual: np.ndarray, truth: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """A sorted list that still has its indices: those of floats are subnormal numbers, and take every second place."""
    flat = actual.reshape(-1)
    values, indices = flat[0::2], flat[1::2]
    if actual.dtype != np.float32 or len(indices) < 2 or not (np.abs(indices) < np.finfo(np.float32).tiny).all():
        return ()
    if not indices.any() or not within(values, truth.reshape(-1)[: len(values)], rtol, atol).all():
        return ()
    return (
        "elements 0, 2, 4 ... are the reference's 0, 1, 2 ..., those between are bits of integers: Sort32, MrgSort and"
        " reductions with an index write pairs of value and index, value k in place 2 * k (Extract takes them apart)",
    )


def _index(actual: np.ndarray, truth: np.ndarray, wrong: np.ndarray) -> tuple[str, ...]:
    """Zeros in the place of whole numbers above 0."""
    count = int(wrong.sum())
    if not count or actual.dtype.kind not in "iu" or actual[wrong].any() or not (truth[wrong] > 0).all():
        return ()
    which = "the wrong element is" if count == 1 else f"all {count} wrong elements are"
    return (
        f"{which} 0; an index of ReduceMax is an integer's bits, 0 when converted as a float"
        " (ReinterpretCast<int32_t>)",
    )


def _lanes(wrong: np.ndarray, element_bytes: int) -> tuple[str, ...]:
    """The same lanes of every repeat of 256 bytes."""
    lanes, flat = _REPEAT_BYTES // element_bytes, wrong.reshape(-1)
    first = flat[:lanes]
    if flat.size < 2 * lanes or first.all() or not (flat == np.resize(first, flat.size)).all():
        return ()
    edges = np.flatnonzero(np.diff(np.concatenate(([False], first, [False])).astype(np.int8))).reshape(-1, 2)
    if len(edges) > _RUNS:
        return ()
    runs = " and ".join(f"{start} to {stop - 1}" for start, stop in edges)
    half = lanes // 2
    words = lanes == _MASK_BITS and (first[:half] == first[half:]).all()
    order = ", whose high word (lanes 64 to 127) comes first in SetVectorMask" if words else ""
    return (f"in each repeat of {lanes} elements the wrong ones are {runs}: look at the mask{order}",)


def _sign_bits(x: np.ndarray, y: np.ndarray, dtype: np.dtype) -> tuple[str, ...]:
    """Numbers below 0 that are too large by the power of two that a shift of unsigned numbers leaves."""
    if dtype.kind not in "iu" or not (y < 0).all() or np.ptp(x - y) != 0:
        return ()
    bits, more = 8 * dtype.itemsize, int(x[0] - y[0])
    power = more.bit_length() - 1
    if more != 1 << power or not bits // 2 <= power < bits:
        return ()
    return (
        f"all {len(x)} wrong elements are 2^{power} more than the reference, which is below 0 there: a shift by"
        f" {bits - power} filled up with zeros. ShiftRight keeps the sign of signed types only",
    )


def _factor(x: np.ndarray, y: np.ndarray, count: int, rtol: float, atol: float) -> tuple[str, ...]:
    large = np.abs(y) > max(10 * atol, float(np.abs(y).max()) / 10)
    if large.sum() < _FEWEST or np.ptp(y) == 0:
        return ()
    factor = float(np.median(x[large] / y[large]))
    nearest = round(factor) if abs(factor) >= 1 else 1 / round(1 / factor) if factor else 0.0
    if nearest in (0, 1) or abs(factor - nearest) > 1e-3 * abs(factor):
        return _one_number(x, y, count, factor, rtol, atol)
    if not within(x, nearest * y, 4 * rtol, 4 * abs(nearest) * atol).all():
        return ()
    if nearest == -1:
        return (
            f"all {count} wrong elements have the wrong sign: look for operands the wrong way round (a queue hands out"
            " first what was enqueued first), or for a tensor that was changed before it was read again",
        )
    times = f"{nearest:g} times" if abs(nearest) > 1 else f"1/{round(1 / nearest)} of"
    return (f"all {count} wrong elements are {times} the reference: look for a factor or a division",)


def _one_number(x: np.ndarray, y: np.ndarray, count: int, factor: float, rtol: float, atol: float) -> tuple[str, ...]:
    """A factor that is no whole number, far enough from 1 and with elements far enough apart to say so."""
    if abs(factor - 1) < 0.02 or np.ptp(y) < 20 * (rtol * float(np.abs(y).max()) + atol):
        return ()
    if not within(x, factor * y, 4 * rtol, 4 * abs(factor) * atol).all():
        return ()
    return (
        f"all {count} wrong elements are {factor:.3g} times the reference: one number for all of them is wrong, such as"
        " a sum, a mean or a root; look at how many elements, rows or blocks it takes in",
    )


def _shift(x: np.ndarray, y: np.ndarray, count: int, rtol: float, atol: float) -> tuple[str, ...]:
    """A number that all of them differ by, if it is more than the tolerance and the elements are not all alike."""
    shift = float(np.median(x - y))
    nearest = round(shift)
    # A difference of two numbers keeps their error, however small it is itself.
    slack = 4 * min(rtol * float(np.abs(y).max()) + atol, 0.02)
    if nearest == 0 or np.ptp(y) == 0 or not within(x, y + nearest, 4 * rtol, slack).all():
        return _one_shift(x, y, count, shift, rtol, atol)
    more = f"{abs(nearest)} {'more' if nearest > 0 else 'less'} than the reference"
    return (
        f"all {count} wrong elements are {more}: look for a constant that is added too often or is missing, or for how"
        " numbers are rounded (CAST_FLOOR down, CAST_CEIL up, CAST_RINT and CAST_ROUND to the nearest)",
    )


def _one_shift(x: np.ndarray, y: np.ndarray, count: int, shift: float, rtol: float, atol: float) -> tuple[str, ...]:
    """A difference that is no whole number, far enough from 0 and with elements far enough apart to say so."""
    slack = rtol * float(np.abs(y).max()) + atol
    if min(abs(shift), float(np.ptp(y))) < 20 * slack or (np.abs(x - y - shift) > 4 * slack).any():
        return ()
    return (
        f"all {count} wrong elements are {abs(shift):.3g} {'more' if shift > 0 else 'less'} than the reference: one"
        " number for all of them is wrong, such as a mean or a maximum; look at how many elements, rows or blocks it"
        " takes in",
    )


def _rows(ours: np.ndarray, truth: np.ndarray, wrong: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """Each wrong row as another one of the reference, found by its first elements."""
    length = ours.shape[-1] if ours.ndim > 1 else 0
    rows = ours.size // length if length else 0
    if length < _FEWEST or not 1 < rows <= _ROWS:
        return ()
    ours, truth, wrong = (one.reshape(rows, length) for one in (ours, truth, wrong))
    if any(constant(row, rtol, atol) for row in truth):
        return ()
    pairs = []
    for row in np.flatnonzero(wrong.any(axis=1)):
        alike = np.flatnonzero(within(truth[:, 0], np.full(rows, ours[row, 0]), rtol, atol))
        other = next((int(one) for one in alike if within(ours[row], truth[one], rtol, atol).all()), None)
        if other is None:
            return ()
        pairs.append((int(row), other))
    named = ", ".join(f"row {row} holds row {other}" for row, other in pairs[:3])
    more = f" and so on ({len(pairs)} rows)" if len(pairs) > 3 else ""
    strides = "look at offsets and strides (a stride in a field of 8 bits wraps at 256)"
    return (f"{named}{more} of the reference: {strides}",)
