"""The theory bank, ``exercises/theory/NN_topic.toml``: questions by topic, in the format of the quizzes.

A question cites a page of this repository (``docs/projects.md, section 'Layouts'``), a section of a notebook, or a page
of the Ascend C documentation (``page: initbuffer``). The word after ``page:`` is a key of ``pages.toml``, which has the
page's title and path.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import Struct

from gn_tutorial.course.exercises.registry import exercises_root
from gn_tutorial.course.quizzes.quiz_file import TRUE_FALSE, read_questions
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import decode

PAGE = "page: "


class Page(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of the Ascend C documentation. path: in the repository asc-devkit."""

    title: str
    path: str

    def __str__(self) -> str:
        return f"Ascend C documentation, {self.title} ({self.path})"


class _PageList(Struct, frozen=True, forbid_unknown_fields=True):
    pages: dict[str, Page]
    revision: str = ""


@dataclass(frozen=True)
class Topic:
    """The questions of one topic. name: the value of ``--topic``. cited: their sources, spelled as in the file."""

    name: str
    title: str
    questions: tuple[QuizQuestion, ...]
    cited: tuple[str, ...]


@dataclass(frozen=True)
class Bank:
    """All topics in order, and the pages of the Ascend C documentation by key."""

    topics: tuple[Topic, ...]
    pages: dict[str, Page]

    def topic(self, name: str) -> Topic:
        """Return the topic of that name. Raises ArgumentError that lists the names."""
        for one in self.topics:
            if one.name == name:
                return one
        names = ", ".join(one.name for one in self.topics)
        raise ArgumentError(f"there is no topic '{name}'", hint=f"there are {names}")


def kind_of(question: QuizQuestion) -> str:
    """Return ``true or false``, ``multiple choice`` or ``single choice``."""
    if tuple(one.text for one in question.options) == TRUE_FALSE:
        return "true or false"
    return "multiple choice" if len(question.right) > 1 else "single choice"


@functools.cache
def load_bank(root: Path | None = None) -> Bank:
    """Return the bank. root: the course's folder of exercises. Raises RegistryError with the file and what is wrong."""
    folder = (root or exercises_root()) / "theory"
    known = decode(folder / "pages.toml", _PageList, "the list of pages").pages
    topics = tuple(_topic(path, known) for path in sorted(folder.glob("[0-9][0-9]_*.toml")))
    if not topics:
        raise RegistryError("the theory bank has no topic", where=str(folder))
    return Bank(topics, known)


def _topic(path: Path, pages: dict[str, Page]) -> Topic:
    title, asked = read_questions(path)
    if not title:
        raise RegistryError("the topic has no title", where=str(path))
    for question in asked:
        if not question.level:
            raise RegistryError(f"a level is missing: {question.text}", where=str(path))
        if question.source.startswith(PAGE) and question.source.removeprefix(PAGE) not in pages:
            raise RegistryError(f"no page has the key '{question.source.removeprefix(PAGE)}'", where=str(path))
    shown = tuple(replace(one, source=_in_words(one.source, pages)) for one in asked)
    return Topic(path.stem[3:], title, shown, tuple(one.source for one in asked))


def _in_words(source: str, pages: dict[str, Page]) -> str:
    return str(pages[source.removeprefix(PAGE)]) if source.startswith(PAGE) else source
