"""What a check found, as text and as HTML, with the next step. Stable: no time, no path of a machine, no random id."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from gn_tutorial.tables import html_table

Status = Literal["passed", "failed", "not attempted"]


@dataclass(frozen=True)
class Verdict:
    """What is wrong, in the learner's terms.

    message: one or two sentences. case: the smallest input that shows it. where: file and line, if one is to blame.
    detail: longer text below, such as the compiler's errors. section: of the exercise's notebook, where this is
    explained, if that is not where the exercise stands.
    """

    message: str
    case: str = ""
    where: str = ""
    detail: str = ""
    section: str = ""


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The verdict on one attempt. ``result.passed`` is what a program asks; a notebook shows the object itself."""

    exercise: str
    title: str
    status: Status
    cases: int = 0
    finding: Verdict | None = None
    lesson: str = ""

    @property
    def passed(self) -> bool:
        """Whether the attempt is right."""
        return self.status == "passed"

    @property
    def message(self) -> str:
        """What is wrong, or nothing."""
        return self.finding.message if self.finding else ""

    def head(self) -> str:
        """The verdict in one line."""
        if self.status == "not attempted":
            return f"{self.exercise}: not attempted yet"
        if self.status == "passed":
            return f"{self.exercise}: passed ({self.title}; {self.cases} cases)"
        return f"{self.exercise}: not right yet ({self.title})"

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of what follows the head; nothing unless the attempt failed."""
        if self.finding is None:
            return []
        rows = [
            ("what", self.finding.message),
            ("case", self.finding.case),
            ("where", self.finding.where),
            ("hint", f"gnt learn hint {self.exercise}"),
            ("read", self.lesson),
        ]
        return [(label, text) for label, text in rows if text]

    def __repr__(self) -> str:
        lines = [self.head()]
        for label, text in self.rows():
            first, *more = text.splitlines()
            lines += [f"  {label + ':':<7}{first}", *(f"         {line}" for line in more)]
        if self.finding and self.finding.detail:
            lines += [f"  {line}".rstrip() for line in self.finding.detail.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self.finding is None:
            return f"<p>{escape(self.head())}</p>"
        detail = f"<pre>{escape(self.finding.detail)}</pre>" if self.finding.detail else ""
        return html_table((), self.rows(), caption=self.head()) + detail
