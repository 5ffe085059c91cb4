"""The exercises, read from ``exercises/info.toml``; what is not in that file does not exist for anybody.

``exercises/NN_topic/`` holds what a learner starts from, ``solutions/NN_topic/`` the solved file of the same name, and
``solutions/wrong.toml`` the wrong solutions, each as an edit of the solution. They are edits, not files, so that they
cannot drift from the solution; and they lie there because an edit quotes the solution, which ``exercises/`` must not.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import course_folder, read_toml

#: What the learner does; the words are shown.
KINDS = {
    "fill": "complete a kernel",
    "mend": "find and mend a mistake",
    "predict": "predict, then measure",
    "tiling": "write a tiling function",
    "numpy": "derive it in NumPy",
    "torch": "register it in PyTorch",
}
DIFFICULTIES = ("easy", "medium", "hard")
HINTS = 3
_ID = re.compile(r"\d\d\.\d+")
_FIELDS: dict[str, type] = {
    "id": str,
    "title": str,
    "objectives": list,
    "notebook": str,
    "section": str,
    "minutes": int,
    "difficulty": str,
    "kind": str,
    "checker": str,
    "file": str,
    "task": str,
    "hints": list,
    "wrong": list,
}


@dataclass(frozen=True)
class Edit:
    """One replacement in the solution's text; ``find`` must stand there exactly once."""

    find: str
    replace: str


@dataclass(frozen=True)
class WrongSolution:
    """A mistake that learners make, or a cheat. ``message`` is a part of what the checker must say about it."""

    name: str
    message: str
    edits: tuple[Edit, ...]

    def apply(self, solution: str) -> str:
        """The wrong program. Raises RegistryError if the solution no longer has the text that an edit replaces."""
        for edit in self.edits:
            if solution.count(edit.find) != 1:
                raise RegistryError(
                    f"the wrong solution '{self.name}' replaces a text that the solution has "
                    f"{solution.count(edit.find)} times: {edit.find.strip().splitlines()[0]!r}",
                    where="solutions/wrong.toml",
                    hint="edit it together with the solution",
                )
            solution = solution.replace(edit.find, edit.replace)
        return solution


@dataclass(frozen=True)
class Exercise:
    """One exercise. ``stub`` and ``solution`` are absolute paths; ``checker`` names an entry of ``exercises/cases``."""

    id: str
    title: str
    objectives: tuple[str, ...]
    notebook: str
    section: str
    minutes: int
    difficulty: str
    kind: str
    checker: str
    file: str
    task: str
    hints: tuple[str, ...]
    wrong: tuple[WrongSolution, ...]
    stub: Path
    solution: Path

    @property
    def lesson(self) -> str:
        """Where it is explained, in words."""
        return self.lesson_in(self.section)

    def lesson_in(self, section: str) -> str:
        """The same for another section of its notebook."""
        return f"notebook {self.notebook}, section '{section}'"


@dataclass(frozen=True)
class Course:
    """All exercises in order, and the two folders they were read from."""

    exercises: tuple[Exercise, ...]
    root: Path
    solutions: Path

    def __iter__(self) -> Iterator[Exercise]:
        return iter(self.exercises)

    def find(self, name: str) -> Exercise:
        """The exercise of that id. Raises ArgumentError that suggests the closest ids."""
        for exercise in self.exercises:
            if exercise.id == name:
                return exercise
        ids = [exercise.id for exercise in self.exercises]
        near = difflib.get_close_matches(str(name), ids, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(ids)}"
        raise ArgumentError(f"there is no exercise '{name}'", hint=hint)


def exercises_root() -> Path:
    """The folder of the stubs, hints and quizzes. Raises RegistryError if it is missing."""
    return course_folder("exercises", "info.toml")


def solutions_root() -> Path:
    """The folder of the solved files. Raises RegistryError if it is missing."""
    return course_folder("solutions", "wrong.toml")


def load_course(root: Path | None = None, solutions: Path | None = None) -> Course:
    """Read the exercises. Raises RegistryError that names the file, the exercise and the key at fault."""
    root = root or exercises_root()
    solutions = solutions or solutions_root()
    info, edits = read_toml(root / "info.toml", "it"), read_toml(solutions / "wrong.toml", "it")
    exercises = tuple(_read(item, root, solutions, edits) for item in info.get("exercise", ()))
    ids = [exercise.id for exercise in exercises]
    if ids != sorted(set(ids), key=_order):
        raise RegistryError("exercises stand in the order of their ids, each once", where=str(root / "info.toml"))
    unknown = sorted(edits.keys() - set(ids))
    if unknown:
        raise RegistryError(
            f"wrong solutions of an unknown exercise: {', '.join(unknown)}", where="solutions/wrong.toml"
        )
    return Course(exercises, root, solutions)


def _order(name: str) -> tuple[int, int]:
    notebook, _, number = name.partition(".")
    return int(notebook), int(number)


def _read(item: dict[str, Any], root: Path, solutions: Path, edits: dict[str, Any]) -> Exercise:
    where = f"{root / 'info.toml'}, exercise {item.get('id', '?')}"
    for key in sorted(_FIELDS.keys() ^ item.keys()):
        raise RegistryError(f"'{key}' is {'missing' if key in _FIELDS else 'not a key of an exercise'}", where=where)
    for key, kind in _FIELDS.items():
        if not isinstance(item[key], kind) or isinstance(item[key], bool) or not item[key]:
            raise RegistryError(f"'{key}' is empty or of the wrong type: {item[key]!r}", where=where)
    for key, choices in (("kind", tuple(KINDS)), ("difficulty", DIFFICULTIES)):
        if item[key] not in choices:
            raise RegistryError(f"'{key}' is {item[key]!r}", where=where, hint=f"one of {', '.join(choices)}")
    if not _ID.fullmatch(item["id"]) or not item["id"].startswith(item["notebook"] + "."):
        raise RegistryError(f"the id is the notebook's two digits, a dot and a number, not {item['id']!r}", where=where)
    if len(item["hints"]) != HINTS or not all(isinstance(hint, str) and hint.strip() for hint in item["hints"]):
        raise RegistryError(f"an exercise has {HINTS} hints, none of them empty", where=where)
    rest = {key: item[key] for key in _FIELDS if key not in ("objectives", "hints", "wrong")}
    return Exercise(
        **rest,
        objectives=tuple(item["objectives"]),
        hints=tuple(item["hints"]),
        wrong=_wrong(item, edits.get(item["id"], {}), where),
        stub=root / item["file"],
        solution=solutions / item["file"],
    )


def _wrong(item: dict[str, Any], edits: dict[str, Any], where: str) -> tuple[WrongSolution, ...]:
    named = {one.get("name", ""): one.get("message", "") for one in item["wrong"]}
    if len(named) != len(item["wrong"]) or not all(named) or not all(named.values()):
        raise RegistryError("each wrong solution has a name of its own and a message", where=where)
    for name in sorted(named.keys() ^ edits.keys()):
        lacks = "solutions/wrong.toml" if name in named else "info.toml"
        raise RegistryError(f"the wrong solution '{name}' is missing in {lacks}", where=where)
    try:
        return tuple(
            WrongSolution(name, message, tuple(Edit(one["find"], one["replace"]) for one in edits[name]))
            for name, message in named.items()
        )
    except (KeyError, TypeError) as error:
        raise RegistryError(
            f"an edit has the keys 'find' and 'replace': {error}", where="solutions/wrong.toml"
        ) from error
