"""What wrong outputs have in common with their references: a sign, a factor, zeros, rows of another place.

Where no rule of the device is broken, only the numbers tell a mistake: operands the wrong way round, a mean that was
not divided, a stride that wrapped.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import within

#: Fewer elements may look alike by chance.
_FEWEST = 8
#: Rows that are looked for in other places; the most elements that are compared for that.
_ROWS, _ELEMENTS = 4096, 1 << 22
#: Up to here half holds every whole number.
_WHOLE_HALF = 2048


def resemblance(actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """Sentences about the elements out of tolerance, if all of them differ from the reference in the same way.

    actual, golden: arrays of one shape. A sign or a factor is named only if it brings every wrong element within
    tolerance; rows, those of the last axis, only if each wrong one is another row of the reference.
    """
    if actual.shape != golden.shape or actual.size > _ELEMENTS:
        return ()
    ours, truth = actual.astype(np.float64), golden.astype(np.float64)
    wrong = ~within(actual, golden, rtol, atol)
    count = int(wrong.sum())
    if coarse := _coarse(ours, truth, wrong):
        return coarse
    if count < _FEWEST or not np.isfinite(truth).all():
        return ()
    x, y = ours[wrong], truth[wrong]
    if np.isnan(x).all():
        return (f"all {count} wrong elements are NaN",) if count < actual.size else ()
    if not np.isfinite(x).all():
        return ()
    if (x == 0).all():
        index = "; an index of ReduceMax is an integer's bits, 0 when converted as a float (ReinterpretCast<int32_t>)"
        return (f"all {count} wrong elements are 0{index if actual.dtype.kind in 'iu' else ''}",)
    return _factor(x, y, count, rtol, atol) or _shift(x, y, count, rtol, atol) or _rows(ours, truth, wrong, rtol, atol)


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


def _factor(x: np.ndarray, y: np.ndarray, count: int, rtol: float, atol: float) -> tuple[str, ...]:
    large = np.abs(y) > max(10 * atol, float(np.abs(y).max()) / 10)
    if large.sum() < _FEWEST or np.ptp(y) == 0:
        return ()
    factor = float(np.median(x[large] / y[large]))
    nearest = round(factor) if abs(factor) >= 1 else 1 / round(1 / factor) if factor else 0.0
    if nearest in (0, 1) or abs(factor - nearest) > 1e-3 * abs(factor):
        return ()
    if not within(x, nearest * y, 4 * rtol, 4 * abs(nearest) * atol).all():
        return ()
    if nearest == -1:
        return (
            f"all {count} wrong elements have the wrong sign: look for operands the wrong way round (a queue hands out"
            " first what was enqueued first), or for a tensor that was changed before it was read again",
        )
    times = f"{nearest:g} times" if abs(nearest) > 1 else f"1/{round(1 / nearest)} of"
    return (f"all {count} wrong elements are {times} the reference: look for a factor or a division",)


def _shift(x: np.ndarray, y: np.ndarray, count: int, rtol: float, atol: float) -> tuple[str, ...]:
    """A number that all of them differ by, if it is more than the tolerance and the elements are not all alike."""
    shift = float(np.median(x - y))
    nearest = round(shift)
    # A difference of two numbers keeps their error, however small it is itself.
    slack = 4 * min(rtol * float(np.abs(y).max()) + atol, 0.02)
    if nearest == 0 or np.ptp(y) == 0 or not within(x, y + nearest, 4 * rtol, slack).all():
        return ()
    more = f"{abs(nearest)} {'more' if nearest > 0 else 'less'} than the reference"
    return (
        f"all {count} wrong elements are {more}: look for a constant that is added too often or is missing, or for how"
        " numbers are rounded (CAST_FLOOR down, CAST_CEIL up, CAST_RINT and CAST_ROUND to the nearest)",
    )


def _rows(ours: np.ndarray, truth: np.ndarray, wrong: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """Each wrong row as another one of the reference, found by its first elements."""
    length = ours.shape[-1] if ours.ndim > 1 else 0
    rows = ours.size // length if length else 0
    if length < _FEWEST or not 1 < rows <= _ROWS:
        return ()
    ours, truth, wrong = (one.reshape(rows, length) for one in (ours, truth, wrong))
    if any(within(np.full(length, row[0]), row, rtol, atol).all() for row in truth):
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
