"""Compares an output with its reference: how large the errors are, which elements are wrong, what they look like.

All checks of numbers use this module: ``gnt run`` and notebooks, the exercises and puzzles, the exam, the capstone's
grade, ``gnt project run`` and ``fuzz``, the benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gn_tutorial.compare.elements import shown
from gn_tutorial.compare.evidence import KnownLaunch, OutputEvidence
from gn_tutorial.compare.provenance.origin import Origin
from gn_tutorial.compare.tolerance import Tolerance, measured
from gn_tutorial.errors import GntError
from gn_tutorial.tables import html_table, text_table

#: The number of elements that are compared at once.
_PIECE = 1 << 20
HEADERS = ("output", "shape", "max abs error", "max rel error", "of tolerance", "status")


def compare(
    name: str, output: np.ndarray, reference: np.ndarray, tolerance: Tolerance, launch: KnownLaunch | None = None
) -> ComparisonRow:
    """Compare one output with its reference; return the errors, and evidence for hints about wrong elements.

    tolerance: the kernel's, for all dtypes. launch: what is known of the launch; a pattern that needs more gives no
    hint. If the shapes differ, all elements are wrong, even if the shapes would broadcast.
    """
    bounds = tolerance.of(output.dtype.name)
    atol = bounds.atol_beside(reference)
    wrong = np.full(output.size, output.shape != reference.shape)
    evidence = OutputEvidence(name, output, reference, wrong, bounds.rtol, atol, launch or KnownLaunch())
    if output.shape != reference.shape:
        nan = float("nan")
        note = f"the reference has shape {reference.shape}"
        return ComparisonRow(name, output.shape, nan, nan, nan, output.size, note, bounds, evidence)
    # Compare in pieces, because eight float64 arrays of a whole large output took two gigabytes.
    ours, truth, worst = output.reshape(-1), reference.reshape(-1), np.zeros(3)
    for at in range(0, ours.size, _PIECE):
        piece = ours[at : at + _PIECE], truth[at : at + _PIECE]
        # np.maximum keeps NaN, so an output with a NaN error shows NaN in the table.
        right, errors = measured(*piece, bounds.rtol, atol)
        wrong[at : at + _PIECE] = ~right
        worst = np.maximum(worst, errors)
    return ComparisonRow(name, output.shape, *map(float, worst), int(wrong.sum()), "", bounds, evidence)


@dataclass(frozen=True)
class ComparisonRow:
    """The errors of one output.

    used: the largest error as a share of its element's tolerance; above 1 the element is wrong. A relative error alone
    says little, because it is large wherever the reference crosses zero. wrong: the number of elements out of
    tolerance. tolerance: that of the output's dtype. If the shapes differ, the errors are NaN, and ``note`` says so.
    """

    name: str
    shape: tuple[int, ...]
    max_abs: float
    max_rel: float
    used: float
    wrong: int
    note: str
    tolerance: Tolerance
    evidence: OutputEvidence = field(compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """Whether every element is within tolerance."""
        return self.wrong == 0 and not self.note

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """Sentences on what the wrong elements look like; none if the output is right."""
        from gn_tutorial.compare.patterns import Reader, recognised  # twelve modules that only wrong outputs need

        return recognised(self.evidence, Reader.LAUNCH) if self.wrong else ()

    @property
    def unread(self) -> tuple[str, ...]:
        """Those of the sentences that are about inputs which nothing has read."""
        from gn_tutorial.compare.patterns.unread_input import unread_input

        return unread_input(self.evidence) if self.wrong else ()

    def report(self) -> str:
        """Return a sentence for a judge's report: the first wrong element, how many are wrong, and their pattern."""
        from gn_tutorial.compare.patterns import Reader, recognised

        seen = self.evidence
        if self.note:
            return f"{self.name} has shape {self.shape}, {self.note}"
        ours, right = (float(one.reshape(-1)[seen.first]) for one in (seen.output, seen.reference))
        first = f"{self.name}[{seen.first}] is {shown(ours)}; {shown(right)} is right"
        words = "".join(f": {one}" for one in recognised(seen, Reader.REPORT))
        return f"{first}; {self.wrong} of {seen.wrong.size} are wrong{words}"


@dataclass(frozen=True)
class Comparison:
    """All outputs of a launch, compared with a reference. ``ok`` only if every element of each is within tolerance.

    find: the function that returns the origin of an output's first wrong element; ``origin`` calls it.
    """

    rows: tuple[ComparisonRow, ...]
    find: Callable[[ComparisonRow], Origin | None] = field(default=lambda _: None, compare=False)

    @cached_property
    def origin(self) -> Origin | None:
        """The origin of the first wrong element; None if none is wrong, or if the origin cannot be found."""
        first = next((row for row in self.rows if row.wrong), None)
        try:
            return self.find(first) if first else None
        except GntError:  # the repeated launch failed, or the output shares another argument's memory
            return None

    @property
    def ok(self) -> bool:
        """Whether every output is right."""
        return all(row.ok for row in self.rows)

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table under ``HEADERS``, as text."""
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
        """Return the verdict and the tolerance in one line."""
        used: dict[Tolerance, list[str]] = {}
        for row in self.rows:
            used.setdefault(row.tolerance, []).append(row.name)
        bounds = [f"|error| <= {one.text()}" for one in used]
        if len(used) > 1:
            bounds = [f"{', '.join(names)} {bound}" for bound, names in zip(bounds, used.values(), strict=True)]
        return f"{'within' if self.ok else 'NOT within'} tolerance: {'; '.join(bounds)}"

    def hints(self) -> list[str]:
        """Return what the wrong outputs look like: one line for each hint, none if no pattern is recognised.

        If the origin of the first wrong element tells why it is wrong, what its output looks like is left out.
        """
        first = next((row for row in self.rows if row.wrong), None)
        explained = first if self.origin and self.origin.explains else None
        return [f"{row.name}: {hint}" for row in self.rows for hint in (row.unread if row is explained else row.hints)]

    def __repr__(self) -> str:
        origin = [repr(self.origin)] if self.origin else []
        return "\n".join([self.title(), text_table(HEADERS, self.cells(), indent="  "), *self.hints(), *origin])

    def _repr_html_(self) -> str:
        table = html_table(HEADERS, self.cells(), caption="; ".join([self.title(), *self.hints()]))
        return table + (self.origin._repr_html_() if self.origin else "")
