"""The result of a check as text and as HTML, with the next step.

Stored outputs compare equal, because they have no times and no random ids. The only path of this machine is in the link
to the learner's file; the text of the link begins at the learner's folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from gn_tutorial.course.source_html import coloured, excerpt_html, file_link, linked, unwrapped
from gn_tutorial.tables import Html, html_table
from gn_tutorial.translation.texts import translated

Status = Literal["passed", "failed", "not attempted"]


@dataclass(frozen=True)
class Verdict:
    """The first thing that is wrong with an attempt, in the learner's terms.

    message: one or two sentences. case: the smallest input that shows it. where: file and line, if a line is to blame.
    detail: longer text below, such as the compiler's errors. section: the section of the exercise's notebook that
    explains the mistake, if it is not the exercise's own section.
    """

    message: str
    case: str = ""
    where: str = ""
    detail: str = ""
    section: str = ""


@dataclass(frozen=True)
class Step:
    """Further facts that a notebook shows besides the verdict.

    file: the learner's file, which exists. following: after a pass, id and title of the next exercise, if there is one.
    solution: the text of our solution after a pass, else "".
    """

    file: Path
    following: str = ""
    solution: str = ""

    @property
    def shown(self) -> str:
        """The path of the file from the learner's folder on: ``my_exercises/03_scalar_kernel/offsets.cpp``."""
        return "/".join(self.file.parts[-3:])

    def link(self) -> str:
        """Return an HTML link to the file."""
        return file_link(self.file, self.shown)


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The verdict on one attempt: programs read ``result.passed``, and a notebook shows the object itself."""

    exercise: str
    title: str
    status: Status
    cases: int = 0
    finding: Verdict | None = None
    lesson: str = ""
    step: Step | None = None

    @property
    def passed(self) -> bool:
        """Whether the attempt is right."""
        return self.status == "passed"

    @property
    def message(self) -> str:
        """The sentence about the mistake; empty if there is none."""
        return self.finding.message if self.finding else ""

    def head(self) -> str:
        """Return the verdict in one line."""
        if self.status == "not attempted":
            words = translated("{exercise}: not attempted yet")
        elif self.status == "passed":
            words = translated("{exercise}: passed ({title}; {cases} cases)")
        else:
            words = translated("{exercise}: not right yet ({title})")
        return words.format(exercise=self.exercise, title=self.title, cases=self.cases)

    def rows(self) -> list[tuple[str, str]]:
        """Return the label and the text of each row below the head; no rows unless the attempt failed."""
        if self.finding is None:
            return []
        rows = [
            (translated("what"), self.finding.message),
            (translated("case"), self.finding.case),
            (translated("where"), self.finding.where),
            (translated("hint"), f"gnt learn hint {self.exercise}"),
            (translated("read"), self.lesson),
        ]
        return [(label, text) for label, text in rows if text]

    def __repr__(self) -> str:
        lines = [self.head()]
        if self.step and self.status == "not attempted":
            lines.append(f"  {translated('file') + ':':<7}{self.step.shown}")
        for label, text in self.rows():
            first, *more = text.splitlines()
            lines += [f"  {label + ':':<7}{first}", *(f"         {line}" for line in more)]
        if self.finding and self.finding.detail:
            lines += [f"  {line}".rstrip() for line in self.finding.detail.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self.finding is None:
            parts = [escape(self.head())]
            if self.step and self.status == "not attempted":
                words = translated("edit {file}, save it, and run this cell again")
                parts.append(words.format(file=self.step.link()))
            elif self.step and self.step.following:
                parts.append(translated("next: {following}").format(following=escape(self.step.following)))
            return f"<p>{'; '.join(parts)}</p>" + self._solution()
        file = self.step.file if self.step else None
        rows = [(label, Html(linked(text, file))) for label, text in self.rows()]
        detail = excerpt_html(self.finding.detail, file) if self.finding.detail else ""
        named = translated("your file: {file}")
        yours = f"<p>{named.format(file=self.step.link())}</p>" if self.step else ""
        return html_table((), rows, caption=self.head()) + yours + detail

    def _solution(self) -> str:
        if not self.passed or not self.step or not self.step.solution:
            return ""
        text = unwrapped(coloured(self.step.solution, self.step.file.name))
        return f"<details><summary>{translated('our solution')}</summary>{text}</details>"
