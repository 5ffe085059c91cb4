"""Tolerances: how far an output may be from its reference, and which elements are within that distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Added to |reference| before an error is divided by it, so that the divisor is never 0; as in the accuracy standard.
FLOOR = 1e-7


@dataclass(frozen=True)
class Tolerance:
    """The distance that a kernel's output may have from its reference, with the reason.

    ``|out - ref| <= atol + rtol * |ref| + of_largest * (largest finite |ref| of the output)``. The last term is for
    sums of many terms: the error of their rounding grows with the terms, even if they cancel. ``narrow``: the
    tolerances for float16 and bfloat16, as pairs (dtype, tolerance). Rounding to these dtypes makes a larger error than
    the whole computation in float32.
    """

    rtol: float
    atol: float
    reason: str
    narrow: tuple[tuple[str, Tolerance], ...] = ()
    of_largest: float = 0.0

    def of(self, dtype: str) -> Tolerance:
        """Return the tolerance of an output of that dtype."""
        return dict(self.narrow).get(dtype, self)

    def text(self) -> str:
        """Return the tolerance as text: ``1e-05 + 1e-05 |reference|``."""
        text = f"{self.atol:g} + {self.rtol:g} |reference|"
        return text + (f" + {self.of_largest:g} largest |reference|" if self.of_largest else "")

    def atol_beside(self, reference: np.ndarray) -> float:
        """Return the absolute part of the tolerance, including the term of the reference's largest element."""
        if not self.of_largest:
            return self.atol
        finite = reference[np.isfinite(reference)]
        return self.atol + self.of_largest * float(np.abs(finite).max(initial=0.0))


def within(output: np.ndarray, reference: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Return which elements are right: ``|output - reference| <= atol + rtol * |reference|``, in float64.

    Both arrays have one shape. A NaN is right only where the reference has NaN, and an infinity only where it has the
    same infinity, because no tolerance reaches from a number to either.
    """
    return _within(in_float64(output), in_float64(reference), rtol, atol)


def _within(ours: np.ndarray, truth: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    # Without this NumPy would warn of infinity minus infinity, a case that `_same` decides.
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(ours - truth) <= atol + rtol * np.abs(truth)
    return _same(ours, truth) | (np.isfinite(ours) & np.isfinite(truth) & near)


def _same(ours: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (ours == truth) | (np.isnan(ours) & np.isnan(truth))


def measured(
    output: np.ndarray, reference: np.ndarray, rtol: float, atol: float
) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Return which elements are right, and the largest absolute error, relative error and share of the tolerance."""
    ours, truth = in_float64(output), in_float64(reference)
    # Without this NumPy would warn of infinity minus infinity and 0 / 0, which `_same` decides, and of overflow when an
    # error is divided by a small tolerance.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        same = _same(ours, truth)
        error = np.where(same, 0.0, np.abs(ours - truth))
        relative = np.where(same, 0.0, error / (np.abs(truth) + FLOOR))
        used = np.where(same, 0.0, error / (atol + rtol * np.abs(truth)))
    return _within(ours, truth, rtol, atol), (error.max(), relative.max(), used.max())


def within_any(
    output: np.ndarray, reference: np.ndarray, others: Sequence[np.ndarray], rtol: float, atol: float
) -> np.ndarray:
    """Return which elements are within a widened tolerance of the reference, or within tolerance of one of ``others``.

    others: what the reference gives for inputs that were rounded once more; an array of another shape does not count.
    The tolerance of the reference is widened by the distances of ``others`` from it.
    """
    right = within(output, reference, rtol, atol)
    if output.dtype.kind in "iu" and others and reference.dtype.kind in "iu":
        right |= output == reference.astype(output.dtype)  # the cast wraps around, and so does an operator of that type
    truth, room = reference.astype(np.float64), np.zeros(reference.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        for one in (one for one in others if one.shape == reference.shape):
            right |= within(output, one, rtol, atol)
            room += np.nan_to_num(np.abs(one.astype(np.float64) - truth), nan=0.0, posinf=0.0)
        return right | (np.abs(output.astype(np.float64) - truth) <= atol + rtol * np.abs(truth) + room)


def nearly_constant(values: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether all elements of a flat array are within tolerance of the first. Then misplaced ones look right."""
    return bool(within(np.full_like(values, values[0]), values, rtol, atol).all())


def in_float64(array: np.ndarray) -> np.ndarray:
    """Return the array in float64, without NumPy's warning of a signalling NaN, which unwritten memory may hold."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)
