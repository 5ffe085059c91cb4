"""The results of a class: a row for each submission and the learners' sums, as CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gn_tutorial import __version__
from gn_tutorial.course.classroom.judgement import Finding, Judgement
from gn_tutorial.course.classroom.similarity import Alike
from gn_tutorial.course.classroom.submissions import EXERCISE, TASK, Aside, Camp, Submission

COLUMNS = ("learner", "kind", "item", "path", "status", "points", "of", "seconds", "finding", "where", "digest")


@dataclass(frozen=True)
class ResultRow:
    """One submission and its judgement. status: one of ``judgement.STATES``, ``untouched`` or ``open`` (not judged)."""

    learner: str
    kind: str
    item: str
    path: str
    status: str
    points: float
    of: float
    seconds: float
    findings: tuple[Finding, ...]
    digest: str

    @property
    def first(self) -> Finding:
        """The first finding, or an empty one."""
        return self.findings[0] if self.findings else Finding("")


@dataclass(frozen=True)
class Sum:
    """One learner's sums. passed: the right exercises. tried: how many exercises are no longer equal to their stub.

    points: task -> the most points of its submissions.
    """

    learner: str
    passed: tuple[str, ...]
    tried: int
    points: Mapping[str, float]


@dataclass(frozen=True)
class Results:
    """All results of a class. sums: one for every learner, also for those without a submission."""

    rows: tuple[ResultRow, ...]
    sums: tuple[Sum, ...]
    aside: tuple[Aside, ...]
    alike: tuple[Alike, ...]

    def count(self, status: str) -> int:
        """Return how many submissions have this status."""
        return sum(row.status == status for row in self.rows)

    def csv(self) -> str:
        """Return CSV text with a line for each submission. Cells that look like formulas get a quote in front."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in self.rows:
            facts = asdict(row) | {"finding": row.first.what, "where": row.first.where}
            writer.writerow([cell(facts[name]) for name in COLUMNS])
        return out.getvalue()

    def record(self) -> dict[str, Any]:
        """Return the results as plain data."""
        return {
            "version": __version__,
            "learners": [asdict(one) for one in self.sums],
            "submissions": [asdict(row) for row in self.rows],
            "alike": [asdict(one) for one in self.alike],
            "aside": [asdict(one) for one in self.aside],
        }


def results(camp: Camp, known: Mapping[str, Judgement], alike: Sequence[Alike]) -> Results:
    """Return the results of a class from the judgements known so far (digest -> judgement)."""
    rows = [_row(one, known.get(one.text.digest)) for one in camp.submissions]
    rows += [_row(one, None, "untouched") for one in camp.untouched]
    orders = {one.path: (one.learner, one.text.order) for one in (*camp.submissions, *camp.untouched)}
    rows.sort(key=lambda row: (orders[row.path], row.path))
    return Results(tuple(rows), tuple(_sum(name, rows) for name in camp.learners), tuple(camp.aside), tuple(alike))


def _row(one: Submission, found: Judgement | None, status: str = "open") -> ResultRow:
    text = one.text
    if found is None:
        of = 1.0 if text.kind == EXERCISE else 100.0
        return ResultRow(one.learner, text.kind, text.item, one.path, status, 0.0, of, 0.0, (), text.digest)
    return ResultRow(
        one.learner, text.kind, text.item, one.path,
        found.status, found.points, found.of, found.seconds, found.findings, text.digest,
    )  # fmt: skip


def _sum(learner: str, rows: Sequence[ResultRow]) -> Sum:
    mine = [row for row in rows if row.learner == learner and row.status != "untouched"]
    exercises = [row for row in mine if row.kind == EXERCISE]
    points: dict[str, float] = {}
    for row in mine:
        if row.kind == TASK:
            points[row.item] = max(row.points, points.get(row.item, 0.0))
    passed = tuple(dict.fromkeys(row.item for row in exercises if row.status == "right"))
    return Sum(learner, passed, len({row.item for row in exercises}), points)


def cell(value: Any) -> Any:
    """Return the value for a CSV cell. A text that begins like a formula, as a name may, gets a quote in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
