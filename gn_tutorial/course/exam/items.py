"""One list of all items of the course: exercises, quiz questions, theory questions, tasks of the exam."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.task import load_tasks
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.quizzes.quiz import names, quiz
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion

#: Key of an objective's table that names items -> the word for one item of that kind.
KINDS = {"exercises": "exercise", "quizzes": "quiz question", "theory": "theory question", "tasks": "exam task"}
_CITED = re.compile(r"(?:[Nn]otebook (\d\d)|(docs/[\w-]+\.md)), section '(.+?)'(?=$|[;,.])")


@dataclass(frozen=True)
class Item:
    """One item. kind: a key of KINDS. name: its name in objectives.toml. group: its quiz or topic, or its own name.

    cites: the pages and sections that teach it; a page is a notebook's number or a path under docs. question: None for
    exercises and tasks. text: the question or the title, by which to recognise the item.
    """

    kind: str
    name: str
    group: str
    text: str
    cites: tuple[tuple[str, str], ...] = ()
    question: QuizQuestion | None = None

    def __str__(self) -> str:
        return f"{KINDS[self.kind]} {self.name}" + ("" if self.question is None else f" ({self.text})")


def all_items() -> tuple[Item, ...]:
    """Return every item of the course. Raises RegistryError."""
    return (*_exercises(), *_quizzes(), *_theory(), *_tasks())


def _exercises() -> Iterator[Item]:
    for one in load_course():
        yield Item("exercises", one.id, one.id, one.title, ((one.notebook, one.section),))


def _quizzes() -> Iterator[Item]:
    for name in names():
        for one in quiz(name).questions:
            yield _asked("quizzes", name, one, one.source)


def _theory() -> Iterator[Item]:
    for topic in load_bank().topics:
        for one, source in zip(topic.questions, topic.cited, strict=True):
            yield _asked("theory", topic.name, one, source)


def _tasks() -> Iterator[Item]:
    for one in load_tasks():
        yield Item("tasks", one.name, one.name, one.title)


def _asked(kind: str, group: str, question: QuizQuestion, source: str) -> Item:
    cites = tuple((notebook or page, section) for notebook, page, section in _CITED.findall(source))
    return Item(kind, f"{group}/{source}", group, question.text, cites, question)
