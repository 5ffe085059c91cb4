"""Compares two profiles: their times, busy pipes, bytes and instructions, and the ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gn_tutorial.profiler.profile import Profile
from gn_tutorial.tables import html_table, text_table


class DiffRow(NamedTuple):
    """One quantity of both launches. digits: number of decimals to show."""

    name: str
    unit: str
    first: float
    second: float
    digits: int

    @property
    def ratio(self) -> float | None:
        """Second value divided by the first; None if the first is 0."""
        return self.second / self.first if self.first else None


@dataclass(frozen=True)
class Difference:
    """A comparison of two launches. ``rows`` is computed from the profiles, so nothing is stored twice."""

    first: Profile
    second: Profile

    @property
    def rows(self) -> tuple[DiffRow, ...]:
        """Time, busy time of each pipe, amounts of work, blocks, and the distance from the binding limit."""
        one, two = self.first, self.second
        found = [DiffRow("modelled time", "us", one.microseconds, two.microseconds, 2)]
        found += [DiffRow(f"{pipe.name} busy", "us", one.busy[pipe], two.busy[pipe], 2) for pipe in one.busy]
        a, b = one.timeline.traffic, two.timeline.traffic
        counts = (
            ("bytes in", "bytes", one.tally.bytes_in, two.tally.bytes_in),
            ("bytes out", "bytes", one.tally.bytes_out, two.tally.bytes_out),
            ("bytes of HBM", "bytes", a.hbm_read + a.hbm_written, b.hbm_read + b.hbm_written),
            ("vector instructions", "", one.tally.vector, two.tally.vector),
            ("elements in them", "", one.operations, two.operations),
            ("copies in", "", one.tally.mte2, two.tally.mte2),
            ("copies out", "", one.tally.mte3, two.tally.mte3),
            ("scalar accesses", "", one.tally.scalar, two.tally.scalar),
            ("blocks", "", one.blocks, two.blocks),
        )
        found += [DiffRow(name, unit, float(first), float(second), 0) for name, unit, first, second in counts]
        found.append(DiffRow("time / binding limit", "", one.distance, two.distance, 2))
        return tuple(found)

    @property
    def limits(self) -> tuple[str, str]:
        """The binding limit of each launch."""
        return self.first.binding.name, self.second.binding.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that qualify the comparison: differences between the two launches, and the notes of each."""
        found = []
        sizes = [{one.name: one.bytes for one in each.trace.arguments} for each in (self.first, self.second)]
        unlike = sorted(name for name in sizes[0].keys() & sizes[1].keys() if sizes[0][name] != sizes[1][name])
        if unlike:
            found.append(f"not the same problem: the sizes of {', '.join(unlike)} differ")
        if self.first.machine.name != self.second.machine.name:
            found.append(f"not the same machine: {self.first.machine.name} and {self.second.machine.name}")
        for each in (self.first, self.second):
            found += [note for note in each.notes if note not in found]
        return tuple(found)

    @property
    def headers(self) -> tuple[str, str, str, str]:
        """The headers of the table."""
        return "", self.first.kernel, self.second.kernel, "ratio"

    def cells(self) -> list[tuple[str, str, str, str]]:
        """Return the table's cells as texts. A ratio below 1 says that the second launch has less.

        The ratio is empty if both values are equal, or if the first is 0.
        """
        cells = []
        for row in self.rows:
            first, second = (f"{value:,.{row.digits}f} {row.unit}".strip() for value in (row.first, row.second))
            ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
            cells.append((row.name, first, second, "" if row.first == row.second else ratio))
        cells.insert(-1, ("binding limit", *self.limits, ""))
        return cells

    def verdict(self) -> str:
        """Return one line that says which launch is faster and by how much, or that both take equally long."""
        one, two = self.first, self.second
        if f"{one.microseconds:.2f}" == f"{two.microseconds:.2f}":
            return f"modelled on {two.machine.name}: {two.kernel} takes as long as {one.kernel}"
        slow, quick = (one, two) if one.microseconds > two.microseconds else (two, one)
        times = slow.microseconds / quick.microseconds
        return f"modelled on {two.machine.name}: {quick.kernel} is {times:.2f} times as fast as {slow.kernel}"

    def __repr__(self) -> str:
        notes = [f"  note: {note}" for note in self.notes]
        return "\n".join([self.verdict(), text_table(self.headers, self.cells(), indent="  "), *notes])

    def _repr_html_(self) -> str:
        notes = [("note", note, "", "") for note in self.notes]
        return html_table(self.headers, [*self.cells(), *notes], caption=self.verdict())


def diff(first: Profile, second: Profile) -> Difference:
    """Compare two launches: ``diff(gnt.profile(a, x), gnt.profile(b, x))``. Ratios are second over first."""
    return Difference(first, second)
