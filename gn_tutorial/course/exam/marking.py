"""The marks of a theory paper. A question counts as right if all right options were chosen and no other."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from gn_tutorial.course.exam.bank import Bank, Topic
from gn_tutorial.course.exam.paper import Paper
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion


@dataclass(frozen=True)
class Marked:
    """One question of a paper, and the letters that were chosen: "" if it was left open."""

    topic: Topic
    question: QuizQuestion
    chosen: str

    @property
    def right(self) -> bool:
        """Whether all right options were chosen and no other."""
        return self.chosen == self.question.right


@dataclass(frozen=True)
class PaperResult:
    """The result of a finished paper. by_topic: title -> how many questions were right, how many were asked.

    minutes: how long the paper took. limit: its minutes at most, or None. gone: how many of its questions the bank no
    longer has; they are not marked.
    """

    marked: tuple[Marked, ...]
    by_topic: dict[str, tuple[int, int]]
    minutes: float
    limit: float | None
    finished: float
    seed: int
    gone: int

    @property
    def right(self) -> int:
        """How many questions were answered right."""
        return sum(one.right for one in self.marked)

    def to_read(self) -> list[str]:
        """Return the sources of the questions that were not right, each once, in the paper's order."""
        return list(dict.fromkeys(one.question.source for one in self.marked if not one.right))

    def record(self) -> dict[str, Any]:
        """Return the result as plain data, for the learner's progress."""
        when = datetime.datetime.fromtimestamp(self.finished, tz=datetime.UTC)
        topics: dict[str, list[int]] = {}
        for one in self.marked:
            counts = topics.setdefault(one.topic.name, [0, 0])
            counts[0] += one.right
            counts[1] += 1
        return {
            "date": when.isoformat(timespec="seconds"),
            "seed": self.seed,
            "minutes": round(self.minutes, 1),
            "limit": self.limit,
            "right": self.right,
            "asked": len(self.marked),
            "topics": topics,
            "answers": {one.question.key: one.chosen for one in self.marked},
        }


def mark(paper: Paper, bank: Bank) -> PaperResult:
    """Return the result of a finished paper."""
    assert paper.finished is not None, "a paper is marked when it is finished"
    asked = paper.questions(bank)
    marked = tuple(Marked(topic, one, paper.answers.get(one.key, "")) for topic, one in asked)
    gone = len(paper.asked) - len(asked)
    by_topic = {}
    for topic in bank.topics:
        mine = [one.right for one in marked if one.topic.name == topic.name]
        if mine:
            by_topic[topic.title] = (sum(mine), len(mine))
    return PaperResult(
        marked, by_topic, paper.spent(paper.finished) / 60, paper.minutes, paper.finished, paper.seed, gone
    )
