"""The objectives of course and exam, ``exercises/objectives.toml``: the text, the lessons and the items of each.

An item belongs to an objective if it cites one of the objective's lessons, or if the objective's table names the item.
So a new question on a lesson's section needs no line in the file. An item without an objective is refused, and the
error says what to add to the file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.items import KINDS, Item, all_items
from gn_tutorial.course.exercises.registry import Text, exercises_root
from gn_tutorial.errors import RegistryError
from gn_tutorial.toml_file import decode

FILE = "objectives.toml"
#: The topic of mathematical objectives. The other topics are those of the theory bank.
MATHEMATICS = "mathematics"
# The most items that one message shows. A new notebook brings about a dozen at once.
_SHOWN = 20


@dataclass(frozen=True)
class Goal:
    """One objective. title: a few words. you_can: the end of "you can ...".

    lessons: page (``02`` or ``docs/exam.md``) and heading of each lesson.
    """

    id: str
    title: str
    you_can: str
    topic: str
    lessons: tuple[tuple[str, str], ...]
    items: tuple[Item, ...]

    def of(self, kind: str) -> tuple[Item, ...]:
        """Return the objective's items of one kind of ``items.KINDS``."""
        return tuple(one for one in self.items if one.kind == kind)

    def lesson(self, item: Item) -> str:
        """Return, in words, the section to read before an item: the item's first citation, or the first lesson."""
        page, section = item.cites[0] if item.cites else self.lessons[0]
        return f"{f'notebook {page}' if page.isdigit() else page}, section '{section}'"

    @property
    def last_notebook(self) -> int:
        """The highest number of a notebook among the lessons' pages; 0 if all lessons are pages under docs."""
        return max((int(page) for page, _ in self.lessons if page.isdigit()), default=0)


class _Objective(Struct, frozen=True, forbid_unknown_fields=True):
    title: Text
    you_can: Text
    topic: str
    lessons: Annotated[dict[str, tuple[Text, ...]], Meta(min_length=1)]
    exercises: tuple[Text, ...] = ()
    quizzes: tuple[Text, ...] = ()
    theory: tuple[Text, ...] = ()
    tasks: tuple[Text, ...] = ()


@functools.cache
def load_goals() -> tuple[Goal, ...]:
    """Return every objective of the course, in the file's order. Raises RegistryError as ``read_goals`` does."""
    return read_goals(exercises_root() / FILE, all_items(), [one.name for one in load_bank().topics])


def read_goals(path: Path, items: Sequence[Item], topics: Iterable[str]) -> tuple[Goal, ...]:
    """Read the objectives of a file, each with its items from ``items``. topics: the names of the theory bank's topics.

    Raises RegistryError: with file and key for an unknown key, topic, page or item; with the file if it cannot be read,
    has no objective, or leaves items without an objective.
    """
    data = decode(path, dict[str, _Objective], "the objectives")
    if not data:
        raise RegistryError("there is no objective", where=str(path))
    known = {MATHEMATICS, *topics}
    goals = tuple(_goal(key, one, known, items, f"{path} [{key}]") for key, one in data.items())
    _refuse_homeless(items, goals, path)
    return goals


def _goal(key: str, given: _Objective, topics: set[str], items: Sequence[Item], where: str) -> Goal:
    if given.topic not in topics:
        raise RegistryError(f"'topic' is '{given.topic}'", where=where, hint=f"one of {', '.join(sorted(topics))}")
    for page in given.lessons:
        if not re.fullmatch(r"\d\d|docs/[\w-]+\.md", page):
            raise RegistryError(
                f"'lessons' names '{page}', which is no page", where=where, hint='as in 02 or "docs/exam.md"'
            )
    named = {kind: getattr(given, kind) for kind in KINDS}
    for kind, patterns in named.items():
        for pattern in patterns:
            if not any(one.kind == kind and fnmatchcase(one.name, pattern) for one in items):
                raise RegistryError(f"'{kind}' names '{pattern}', and no {KINDS[kind]} is called that", where=where)
    lessons = tuple((page, heading) for page, headings in given.lessons.items() for heading in headings)
    mine = (one for one in items if _taught(one, lessons) or any(fnmatchcase(one.name, p) for p in named[one.kind]))
    return Goal(key, given.title, given.you_can, given.topic, lessons, tuple(mine))


def _taught(item: Item, lessons: Iterable[tuple[str, str]]) -> bool:
    """Whether the item cites a lesson: the lesson's heading is the cited section, or begins with the cited words."""
    return any(
        page == lesson_page and re.match(rf"{re.escape(section)}(?!\w)", heading) is not None
        for page, section in item.cites
        for lesson_page, heading in lessons
    )


def _refuse_homeless(items: Iterable[Item], goals: tuple[Goal, ...], path: Path) -> None:
    """Raise RegistryError if items belong to no objective. The error says what to add for the first _SHOWN."""
    at_home = {id(item) for goal in goals for item in goal.items}
    homeless = [one for one in items if id(one) not in at_home]
    if not homeless:
        return
    lines = [f"{one}: add {_line(one)}" for one in homeless]
    more = [] if len(lines) <= _SHOWN else [f"and {len(lines) - _SHOWN} more"]
    raise RegistryError(
        f"items of the course that belong to no objective: {len(lines)}",
        where=str(path),
        detail="\n".join([*lines[:_SHOWN], *more]),
        hint="add it to the objective that it serves, or write a new one; the file's first lines say how",
    )


def _line(item: Item) -> str:
    """Return, in words, what to add to a table of objectives.toml: the section that the item cites, or its name."""
    if item.cites:
        page, section = item.cites[0]
        key = page if page.isdigit() else f'"{page}"'
        return f'its section\'s heading to the lessons of an objective: {key} = ["{section}"]'
    return f'"{item.name}" to {item.kind} of an objective'
