"""``gnt.exam_goals()``: the objectives, how far the learner is with each, and what to do next."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from gn_tutorial.course.exam.attempt import default_attempt_file
from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.goals import MATHEMATICS, load_goals
from gn_tutorial.course.exam.items import KINDS
from gn_tutorial.course.exam.objective_progress import Learned, Proposal, Standing, propose, standings
from gn_tutorial.course.progress import default_progress
from gn_tutorial.tables import html_table, text_table

HEADERS = ("objective", "share", "exercises", "quizzes", "theory", "exam tasks")
DONE = "every objective is reached"


@dataclass(frozen=True, repr=False)
class GoalsReport:
    """How far one learner is with every objective, in the order of the course, and up to three things to do next.

    topics: the title of each topic that ``Goal.topic`` may name.
    """

    standings: tuple[Standing, ...]
    proposals: tuple[Proposal, ...]
    topics: dict[str, str]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells under HEADERS, a row for each objective."""
        return [
            (one.goal.title, f"{one.share:.0%}", *(str(one.parts[kind]) for kind in KINDS)) for one in self.standings
        ]

    def reached(self) -> str:
        """Return one line: how many objectives are reached, and the mean share."""
        full = sum(not one.left for one in self.standings)
        mean = sum(one.share for one in self.standings) / len(self.standings)
        return f"{full} of {len(self.standings)} objectives reached, {mean:.0%} in the mean"

    def next_lines(self) -> list[str]:
        """Return the lines on what to do next, each proposal with its command."""
        if not self.proposals:
            return [DONE]
        told = [f"{number}. {one}" for number, one in enumerate(self.proposals, 1)]
        return ["what to do next:", *told]

    def record(self) -> dict[str, Any]:
        """Return the report as plain data, for programs."""
        found = [
            {
                "objective": one.goal.id,
                "title": one.goal.title,
                "you_can": one.goal.you_can,
                "topic": one.goal.topic,
                "share": round(one.share, 4),
                "parts": {kind: {"done": round(part.done, 4), "of": part.of} for kind, part in one.parts.items()},
            }
            for one in self.standings
        ]
        steps = [
            {"objective": one.standing.goal.id, "what": one.what, "command": one.command, "read": one.read}
            for one in self.proposals
        ]
        return {"objectives": found, "next": steps}

    def __repr__(self) -> str:
        return "\n".join([self.reached(), text_table(HEADERS, self.rows()), *self.next_lines()])

    def _repr_html_(self) -> str:
        steps = [(one.standing.goal.title, one.what, one.command, one.read) for one in self.proposals]
        after = html_table(("objective", "do", "command", "read"), steps, caption="What to do next")
        return html_table(HEADERS, self.rows(), caption=self.reached()) + (after if steps else f"<p>{DONE}</p>")


def exam_goals() -> GoalsReport:
    """Return the objectives of the course and of the exam, and how far you are with each.

    Exercises passed, answers to quizzes, theory papers and attempts at exam tasks count. Show the report in a notebook,
    or draw it: ``gnt.plot.goals(gnt.exam_goals())``. Raises ArgumentError if a file of yours cannot be read.
    """
    progress = default_progress(lambda text: print(f"gnt: {text}", file=sys.stderr))
    known = Learned(progress.read(), default_attempt_file(time.time).read())
    found = standings(load_goals(), known)
    topics = {MATHEMATICS: "Mathematics"} | {one.name: one.title for one in load_bank().topics}
    return GoalsReport(found, propose(found, known), topics)
