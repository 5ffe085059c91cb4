"""How far an output may be from its reference, and which elements are within that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Added to |reference| against a division by zero, in every relative error; so the accuracy standard has it.
FLOOR = 1e-7


@dataclass(frozen=True)
class Tolerance:
    """How far a kernel may be from its reference, and why that far.

    ``|out - ref| <= atol + rtol * |ref| + of_largest * (largest finite |ref| of the output)``. The last term is for
    sums of many terms: what their rounding costs grows with the terms, also where they cancel. ``narrow``: dtype -> the
    tolerance of outputs of that dtype, where it is another one, since a rounding to float16 or bfloat16 costs more than
    all work in float32; as pairs.
    """

    rtol: float
    atol: float
    reason: str
    narrow: tuple[tuple[str, Tolerance], ...] = ()
    of_largest: float = 0.0

    def of(self, dtype: str) -> Tolerance:
        """The tolerance of an output of that dtype."""
        return dict(self.narrow).get(dtype, self)

    def text(self) -> str:
        """``1e-05 + 1e-05 |reference|``."""
        text = f"{self.atol:g} + {self.rtol:g} |reference|"
        return text + (f" + {self.of_largest:g} largest |reference|" if self.of_largest else "")

    def atol_beside(self, reference: np.ndarray) -> float:
        """The absolute part of the tolerance, with what the largest element of the reference adds."""
        if not self.of_largest:
            return self.atol
        finite = reference[np.isfinite(reference)]
        return self.atol + self.of_largest * float(np.abs(finite).max(initial=0.0))


def within(output: np.ndarray, reference: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Which elements are right: ``|output - reference| <= atol + rtol * |reference|``, in float64, for one shape.

    NaN is right only where the reference has NaN at the same place, and infinity only where it is the same infinity:
    no tolerance reaches from a number to either of them.
    """
    return _within(in_float64(output), in_float64(reference), rtol, atol)


def _within(ours: np.ndarray, truth: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    # Infinity minus infinity: `_same` has decided those elements.
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(ours - truth) <= atol + rtol * np.abs(truth)
    return _same(ours, truth) | (np.isfinite(ours) & np.isfinite(truth) & near)


def _same(ours: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (ours == truth) | (np.isnan(ours) & np.isnan(truth))


def measured(
    output: np.ndarray, reference: np.ndarray, rtol: float, atol: float
) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Which elements are right; the largest absolute error, relative error and share of the tolerance."""
    ours, truth = in_float64(output), in_float64(reference)
    # Infinity minus infinity, a tolerance of zero: `_same` has decided those elements. Overflow: a tolerance near zero.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        same = _same(ours, truth)
        error = np.where(same, 0.0, np.abs(ours - truth))
        relative = np.where(same, 0.0, error / (np.abs(truth) + FLOOR))
        used = np.where(same, 0.0, error / (atol + rtol * np.abs(truth)))
    return _within(ours, truth, rtol, atol), (error.max(), relative.max(), used.max())


def within_any(
    output: np.ndarray, reference: np.ndarray, others: Sequence[np.ndarray], rtol: float, atol: float
) -> np.ndarray:
    """Which elements are right beside a reference or one of several others, or lie between it and them.

    others: what the reference gives for inputs that are rounded once more; those of another shape do not count.
    """
    right = within(output, reference, rtol, atol)
    if output.dtype.kind in "iu" and others and reference.dtype.kind in "iu":
        right |= output == reference.astype(output.dtype)  # it wraps, and so does an operator of that type
    truth, room = reference.astype(np.float64), np.zeros(reference.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        for one in (one for one in others if one.shape == reference.shape):
            right |= within(output, one, rtol, atol)
            room += np.nan_to_num(np.abs(one.astype(np.float64) - truth), nan=0.0, posinf=0.0)
        return right | (np.abs(output.astype(np.float64) - truth) <= atol + rtol * np.abs(truth) + room)


def nearly_constant(values: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether all elements of one axis are within tolerance of the first, so that their places cannot be told apart."""
    return bool(within(np.full_like(values, values[0]), values, rtol, atol).all())


def in_float64(array: np.ndarray) -> np.ndarray:
    """The array in float64. Memory that was never written may hold a signalling NaN, which NumPy would warn of."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)
