"""The answer to the lines of a puzzle, as text and as HTML: a verdict, a picture, the kernel around them, hints."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Literal

from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.course.puzzles.bank import Puzzle
from gn_tutorial.course.puzzles.frame import Framed
from gn_tutorial.course.puzzles.picture import Lanes
from gn_tutorial.course.quizzes.quiz_question import marked
from gn_tutorial.course.source_html import excerpt_html, unwrapped
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.svg import svg_gantt

_COLUMNS = 88


@dataclass(frozen=True, repr=False)
class PuzzleResult:
    """``result.passed`` is what a program asks; a notebook shows the object itself.

    kernel: the learner's lines and what is around them. lanes: what they wrote, if they got so far.
    """

    puzzle: Puzzle
    status: Literal["passed", "failed", "not attempted"]
    kernel: Framed
    verdict: Verdict | None = None
    lanes: tuple[Lanes, ...] = ()
    profile: Profile | None = None

    @property
    def passed(self) -> bool:
        """Whether the lines are right."""
        return self.status == "passed"

    @property
    def message(self) -> str:
        """What is wrong, or nothing."""
        return self.verdict.message if self.verdict else ""

    def head(self) -> str:
        """The verdict in one line."""
        said = {"passed": "passed", "failed": "not right yet", "not attempted": "not attempted yet"}[self.status]
        return f"Puzzle {self.puzzle.id} ({self.puzzle.title}): {said}"

    def code(self) -> str:
        """The given lines and the learner's, with their numbers in the whole kernel; a bar marks the learner's."""
        lines = self.kernel.text.splitlines()
        (first, last), (begin, end) = self.kernel.shown, self.kernel.own
        return "\n".join(
            f"{number:3} {'|' if begin <= number <= end else ' '}{lines[number - 1]}"
            for number in range(first, last + 1)
        )

    def __repr__(self) -> str:
        parts = [self.head()]
        if self.verdict:
            parts += textwrap.wrap(self.verdict.message, _COLUMNS, initial_indent="  ", subsequent_indent="  ")
            parts += [f"  where: {one}" for one in (self.verdict.where, self.verdict.case) if one]
            parts += [f"  {line}".rstrip() for line in self.verdict.detail.splitlines()]
        parts += [one.text() for one in self.lanes]
        if not self.passed:
            parts.append(self.code())
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{escape(self.head())}</b></p>"]
        if self.verdict:
            where = ", ".join(filter(None, (self.verdict.where, self.verdict.case)))
            parts.append(f"<p>{marked(self.verdict.message)}{f' ({escape(where)})' if where else ''}</p>")
            parts.append(excerpt_html(self.verdict.detail, None) if self.verdict.detail else "")
        parts += [f'<div style="overflow-x:auto">{one.svg()}</div>' for one in self.lanes]
        if self.profile:
            parts.append(f'<div style="overflow-x:auto">{svg_gantt(self.profile.timeline)}</div>')
        code = unwrapped(escape(self.code()))
        parts.append(_opens("the lines around yours", code) if self.passed else code)
        parts.append(_opens("the whole kernel", unwrapped(escape(self.kernel.text))))
        if self.passed:
            parts.append(_opens("our lines", unwrapped(escape(self.puzzle.solution.strip("\n")))))
        else:
            parts += [_opens(f"Hint {n}", marked(one)) for n, one in enumerate(self.puzzle.hints, 1)]
        return "".join(parts)


def _opens(title: str, html: str) -> str:
    return f"<details><summary>{title}</summary>{html}</details>"
