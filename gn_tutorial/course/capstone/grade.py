"""The grade of an operator: a row for each case, the losses in the order in which to mend them, and the mark.

A share is the modelled bound over the modelled time. The geometric mean of the shares decides the mark.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np

from gn_tutorial.tables import html_table, text_table

#: The least geometric mean of the shares for a pass and for a distinction.
PASS, DISTINCTION = 0.5, 0.7
HEADERS = ("shape", "right", "strict", "modelled us", "bound us", "share")
RIGHT, WRONG, NOT_RUN = "right", "wrong", "not run"


@dataclass(frozen=True)
class GradeLoss:
    """One fault to mend: what is wrong, the place in the learner's files, and what to read or to call next.

    detail: the source lines, with marks. turn: the sort key of the report: float32 comes before float16, and within a
    dtype wrong numbers come before races that only ``--waits explicit`` finds.
    """

    what: str
    where: str = ""
    read: str = ""
    detail: str = ""
    turn: int = 0

    def __str__(self) -> str:
        lines = [self.what]
        lines += [f"  where: {self.where}"] if self.where else []
        lines += [textwrap.indent(self.detail, "  ")] if self.detail else []
        return "\n".join([*lines, *([f"  next:  {self.read}"] if self.read else [])])


@dataclass(frozen=True)
class GradeRow:
    """One case. right, strict: RIGHT, WRONG, NOT_RUN or a finding's id. Times are modelled, in microseconds.

    The times are None if they do not count or the result is wrong. label: shape and dtype. shows: what the case tests.
    """

    label: str
    right: str
    strict: str
    modelled_us: float | None = None
    bound_us: float | None = None
    shows: str = ""

    @property
    def share(self) -> float | None:
        """The modelled bound over the modelled time; None if the row has no times."""
        return self.bound_us / self.modelled_us if self.bound_us and self.modelled_us else None

    def cells(self) -> tuple[str, ...]:
        """Return the cells under HEADERS."""
        times = [f"{time:.2f}" if time else "" for time in (self.modelled_us, self.bound_us)]
        label = f"{self.label}: {self.shows}" if self.shows else self.label
        return (label, self.right, self.strict, *times, f"{self.share:.0%}" if self.share else "")


@dataclass(frozen=True, repr=False)
class Grade:
    """The grade of one operator: its rows, and the losses in the order in which to mend them.

    spaces: whether the kernel's address spaces were checked, which needs clang, in words.
    """

    operator: str
    machine: str
    rows: tuple[GradeRow, ...]
    losses: tuple[GradeLoss, ...]
    spaces: str = ""

    @property
    def share(self) -> float | None:
        """The geometric mean of the rows' shares of the bound; None if there are losses or no times."""
        shares = [row.share for row in self.rows if row.share]
        return float(np.exp(np.mean(np.log(shares)))) if shares and not self.losses else None

    @property
    def passed(self) -> bool:
        """Whether the operator passes."""
        return (self.share or 0.0) >= PASS

    @property
    def mark(self) -> str:
        """One of "distinction", "pass", "too slow" and "not right"."""
        if self.share is None:
            return "not right"
        return "distinction" if self.share >= DISTINCTION else "pass" if self.passed else "too slow"

    def verdict(self) -> str:
        """Return one line: the mark and the share or, if the operator is not right, how many cases pass."""
        if self.share is None:
            right = sum(row.right == row.strict == RIGHT for row in self.rows)
            return f"{self.operator}: not right yet: {right} of {len(self.rows)} cases pass, with --strict too"
        wanted = f"{PASS:.0%} passes, {DISTINCTION:.0%} is a distinction"
        return f"{self.operator}: {self.mark}, {self.share:.1%} of the modelled bound on {self.machine} ({wanted})"

    def advice(self) -> str:
        """Return what to do next.

        This is the first loss, or the case with the smallest share and the command to profile it. For a distinction, or
        if no case has times, nothing is left to do.
        """
        if self.losses:
            more = f"\n({len(self.losses) - 1} more like it or behind it)" if len(self.losses) > 1 else ""
            return f"{self.losses[0]}{more}"
        timed = [row for row in self.rows if row.share]
        if self.mark == "distinction" or not timed:
            return "Nothing is asked for any more."
        slowest = min(timed, key=lambda row: row.share or 0.0)
        shape, *rest = slowest.label.split(" ")
        words = f"--shape {shape.strip('()')} --dtype {rest[-1]}"
        return f"The share is smallest at {slowest.label}. See what it waits for: gnt profile {self.operator} {words}"

    def __repr__(self) -> str:
        table = text_table(HEADERS, [row.cells() for row in self.rows], indent="  ")
        return "\n".join(filter(None, [self.verdict(), table, self.advice(), self.spaces]))

    def _repr_html_(self) -> str:
        table = html_table(HEADERS, [row.cells() for row in self.rows], caption=self.verdict())
        return table + html_table((), [(line,) for line in self.advice().split("\n")])
