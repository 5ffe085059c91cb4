"""What a check found, as text and as HTML, with the next step. Stable: no time, no random id.

The one path of a machine is where HTML links the learner's file; the text beside it names it from the learner's folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
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


@dataclass(frozen=True)
class Step:
    """What a notebook offers besides the verdict.

    file: the learner's, which exists. following: id and title of the exercise that comes next; "": there is none.
    solution: the text of ours, for one that was passed.
    """

    file: Path
    following: str = ""
    solution: str = ""

    @property
    def shown(self) -> str:
        """The file from the learner's folder on: ``my_exercises/03_scalar_kernel/offsets.cpp``."""
        return "/".join(self.file.parts[-3:])

    def link(self) -> str:
        """The file as a link, from the folder where the notebook runs: Jupyter opens what lies below its root."""
        try:
            target = os.path.relpath(self.file)
        except ValueError:  # another drive
            target = str(self.file)
        return f'<a href="{escape(Path(target).as_posix())}" target="_blank">{escape(self.shown)}</a>'


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The verdict on one attempt. ``result.passed`` is what a program asks; a notebook shows the object itself."""

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
        if self.step and self.status == "not attempted":
            lines.append(f"  file:  {self.step.shown}")
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
                parts.append(f"edit {self.step.link()}, save it, and run this cell again")
            elif self.step and self.step.following:
                parts.append(f"next: {escape(self.step.following)}")
            return f"<p>{'; '.join(parts)}</p>" + self._solution()
        rows = html_table((), self.rows(), caption=self.head())
        return rows + (f"<p>your file: {self.step.link()}</p>" if self.step else "") + self._detail()

    def _detail(self) -> str:
        """The finding's text as it was laid out: lines are not wrapped, and marks below code stand out."""
        if not self.finding or not self.finding.detail:
            return ""
        lines = (
            f'<span style="color:#D55E00;font-weight:bold">{escape(line)}</span>' if _is_mark(line) else escape(line)
            for line in self.finding.detail.splitlines()
        )
        return f'<pre style="white-space:pre;overflow-x:auto">{"<br>".join(lines)}</pre>'

    def _solution(self) -> str:
        if not self.passed or not self.step or not self.step.solution:
            return ""
        text = f'<pre style="white-space:pre;overflow-x:auto">{escape(self.step.solution)}</pre>'
        return f"<details><summary>our solution</summary>{text}</details>"


def _is_mark(line: str) -> bool:
    """Whether a line points at the code above it: carets and tildes, perhaps behind a bar and before a word."""
    return bool(re.match(r"[ |]*[~^]+", line)) and "^" in line
