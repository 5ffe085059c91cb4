"""Arrays beside their references: which elements are within tolerance, and how large the errors are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gn_tutorial.errors import GntError
from gn_tutorial.operators.spec import Tolerance
from gn_tutorial.origins.origin import Origin
from gn_tutorial.tables import html_table, text_table

#: Added to |reference| against a division by zero, in every relative error; so the accuracy standard has it.
FLOOR = 1e-7
#: Elements that are compared at once.
_PIECE = 1 << 20
HEADERS = ("output", "shape", "max abs error", "max rel error", "of tolerance", "status")


@dataclass(frozen=True)
class ComparisonRow:
    """One output against its reference.

    used: the largest share of its tolerance that an element needs, 1 being all of it. A relative error alone says
    little, because it is large wherever the reference crosses zero. wrong: elements out of tolerance. The errors are
    NaN where the shapes differ, which ``note`` then says. tolerance: that of the output's dtype. hints: what the wrong
    elements look like, in sentences (``misplaced``, ``resemblance``).
    """

    name: str
    shape: tuple[int, ...]
    max_abs: float
    max_rel: float
    used: float
    wrong: int
    note: str
    tolerance: Tolerance
    hints: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every element is within tolerance."""
        return self.wrong == 0 and not self.note


@dataclass(frozen=True)
class Comparison:
    """All outputs of a launch against a reference; ``ok`` only if every element of every output is within tolerance.

    find: finds where the first wrong element comes from, for ``origin``.
    """

    rows: tuple[ComparisonRow, ...]
    find: Callable[[], Origin | None] | None = field(default=None, compare=False)

    @cached_property
    def origin(self) -> Origin | None:
        """Where the first wrong element comes from; None if none is wrong, or if it cannot be said."""
        try:
            return self.find() if self.find else None
        except GntError:  # a launch again may end otherwise; an output may be the memory of another argument
            return None

    @property
    def ok(self) -> bool:
        """Whether every output is right."""
        return all(row.ok for row in self.rows)

    def cells(self) -> list[tuple[str, ...]]:
        """The rows of the table under ``HEADERS``, as text."""
        return [
            (
                row.name,
                str(row.shape),
                f"{row.max_abs:.1e}",
                f"{row.max_rel:.1e}",
                f"{row.used:.0%}",
                row.note or ("ok" if row.ok else "wrong"),
            )
            for row in self.rows
        ]

    def title(self) -> str:
        """The verdict and the tolerance in one line."""
        used: dict[Tolerance, list[str]] = {}
        for row in self.rows:
            used.setdefault(row.tolerance, []).append(row.name)
        bounds = [f"|error| <= {_bound_text(one)}" for one in used]
        if len(used) > 1:
            bounds = [f"{', '.join(names)} {bound}" for bound, names in zip(bounds, used.values(), strict=True)]
        return f"{'within' if self.ok else 'NOT within'} tolerance: {'; '.join(bounds)}"

    def hints(self) -> list[str]:
        """What the wrong outputs look like, a line each; usually none."""
        return [f"{row.name}: {hint}" for row in self.rows for hint in row.hints]

    def __repr__(self) -> str:
        origin = [repr(self.origin)] if self.origin else []
        return "\n".join([self.title(), text_table(HEADERS, self.cells(), indent="  "), *self.hints(), *origin])

    def _repr_html_(self) -> str:
        table = html_table(HEADERS, self.cells(), caption="; ".join([self.title(), *self.hints()]))
        return table + (self.origin._repr_html_() if self.origin else "")


def _bound_text(tolerance: Tolerance) -> str:
    text = f"{tolerance.atol:g} + {tolerance.rtol:g} |reference|"
    return text + (f" + {tolerance.of_largest:g} largest |reference|" if tolerance.of_largest else "")


def compared(name: str, actual: np.ndarray, golden: np.ndarray, tolerance: Tolerance) -> ComparisonRow:
    """One output beside its reference. Arrays of different shapes are all wrong, also where they would broadcast."""
    if actual.shape != golden.shape:
        note = f"the reference has shape {golden.shape}"
        nan = float("nan")
        return ComparisonRow(name, actual.shape, nan, nan, nan, actual.size, note, tolerance)
    if actual.size == 0:
        return ComparisonRow(name, actual.shape, 0.0, 0.0, 0.0, 0, "", tolerance)
    # Piece by piece: eight arrays of float64 for all of a large output were two gigabytes.
    ours, truth = actual.reshape(-1), golden.reshape(-1)
    worst, outside = np.zeros(3), 0
    atol = tolerance.atol
    if tolerance.of_largest:
        finite = truth[np.isfinite(truth)]
        atol += tolerance.of_largest * float(np.abs(finite).max(initial=0.0))
    for at in range(0, ours.size, _PIECE):
        piece = ours[at : at + _PIECE], truth[at : at + _PIECE]
        # NaN wins over every number, and the table then shows it: that is what the reader has to see.
        worst = np.maximum(worst, _errors(*piece, atol, tolerance.rtol))
        outside += int((~within(*piece, tolerance.rtol, atol)).sum())
    return ComparisonRow(name, actual.shape, *map(float, worst), outside, "", tolerance)


def within(actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Which elements are right: ``|actual - golden| <= atol + rtol * |golden|``, in float64, for arrays of one shape.

    NaN is right only where the reference has NaN at the same place, and infinity only where it is the same infinity:
    no tolerance reaches from a number to either of them.
    """
    ours, truth = _in_float64(actual), _in_float64(golden)
    # Infinity minus infinity: `_same` has decided those elements.
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(ours - truth) <= atol + rtol * np.abs(truth)
    return _same(ours, truth) | (np.isfinite(ours) & np.isfinite(truth) & near)


def constant(values: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether all of one axis are within tolerance of the first, so that they say nothing about their place."""
    return bool(within(np.full_like(values, values[0]), values, rtol, atol).all())


def _in_float64(array: np.ndarray) -> np.ndarray:
    # Memory that was never written may have the bits of a signalling NaN, of which NumPy warns when it is converted.
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def _same(ours: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (ours == truth) | (np.isnan(ours) & np.isnan(truth))


def _errors(actual: np.ndarray, golden: np.ndarray, atol: float, rtol: float) -> np.ndarray:
    """The largest absolute error, relative error and part of the tolerance."""
    ours, truth = _in_float64(actual), _in_float64(golden)
    # Infinity minus infinity, a tolerance of zero: `_same` has decided those elements. Overflow: a tolerance near zero.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        same = _same(ours, truth)
        error = np.where(same, 0.0, np.abs(ours - truth))
        relative = np.where(same, 0.0, error / (np.abs(truth) + FLOOR))
        used = np.where(same, 0.0, error / (atol + rtol * np.abs(truth)))
    return np.array([error.max(), relative.max(), used.max()])
