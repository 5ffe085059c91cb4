"""The course: every exercise, read from ``solutions/NN_topic/NN_K.exercise.toml``.

``exercises/NN_topic/`` holds what a learner starts from, ``solutions/NN_topic/`` the solved file of the same name, the
exercise's TOML file (its task, hints and wrong solutions), and the file that checks it. Wrong solutions are edits of
the solution, not files, so that they cannot drift from it; and they lie there because an edit quotes the solution,
which ``exercises/`` must not.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import course_folder, read_toml
from gn_tutorial.translation.texts import translated

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
_FILE = re.compile(r"(\d\d)_(\d+)\.exercise\.toml")
_FIELDS: dict[str, type] = {
    "title": str,
    "objectives": list,
    "section": str,
    "minutes": int,
    "difficulty": str,
    "kind": str,
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
                    where="the [[wrong.edit]] of that name in the exercise's TOML file",
                    hint="edit it together with the solution",
                )
            solution = solution.replace(edit.find, edit.replace)
        return solution


@dataclass(frozen=True)
class Exercise:
    """One exercise. ``stub`` and ``solution`` are absolute paths.

    file: of the stub and the solution, in both folders; ``info`` is the TOML file that says all this.
    """

    id: str
    title: str
    objectives: tuple[str, ...]
    notebook: str
    section: str
    minutes: int
    difficulty: str
    kind: str
    file: str
    task: str
    hints: tuple[str, ...]
    wrong: tuple[WrongSolution, ...]
    stub: Path
    solution: Path
    info: Path

    @property
    def check_file(self) -> Path:
        """The file that checks it, beside ``info``. Its name follows from the id, so no key can be out of date."""
        return self.info.with_name(f"{self.id.replace('.', '_')}.check.py")

    @property
    def lesson(self) -> str:
        """Where it is explained, in words."""
        return self.lesson_in(self.section)

    def lesson_in(self, section: str) -> str:
        """The same for another section of its notebook."""
        words = translated("notebook {notebook}, section '{section}'")
        return words.format(notebook=self.notebook, section=translated(section))

    def translated(self) -> Exercise:
        """The exercise with what a learner reads in the learner's language."""
        hints = tuple(map(translated, self.hints))
        return replace(self, title=translated(self.title), task=translated(self.task), hints=hints)


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

    def following(self, exercise: Exercise, passed: Container[str]) -> Exercise | None:
        """The first exercise from this one on that was not passed, from the first after the last; None if all were."""
        begin = self.exercises.index(exercise)
        order = self.exercises[begin:] + self.exercises[:begin]
        return next((one for one in order if one.id not in passed), None)

    def after(self, exercise: Exercise) -> Exercise:
        """The exercise behind this one; behind the last, the first."""
        return self.exercises[(self.exercises.index(exercise) + 1) % len(self.exercises)]


def exercises_root() -> Path:
    """The folder of the stubs and quizzes. Raises RegistryError if it is missing."""
    return course_folder("exercises", "*/*")


def solutions_root() -> Path:
    """The folder of the exercises' files: task, hints, solution. Raises RegistryError if it is missing."""
    return course_folder("solutions", "*/*.exercise.toml")


def load_course(root: Path | None = None, solutions: Path | None = None) -> Course:
    """Read the exercises, in the order of their ids and in the learner's language.

    Raises RegistryError that names the file and the key at fault.
    """
    root = root or exercises_root()
    solutions = solutions or solutions_root()
    found = sorted((_known(path, root, solutions) for path in solutions.glob("*/*.exercise.toml")), key=_order)
    return Course(tuple(one.translated() for one in found), root, solutions)


def _order(exercise: Exercise) -> tuple[int, int]:
    notebook, _, number = exercise.id.partition(".")
    return int(notebook), int(number)


def _known(info: Path, root: Path, solutions: Path) -> Exercise:
    """As ``_read``, which is not asked twice for a file that stayed as it was: a check asks for the course twice."""
    try:
        now = info.stat()
    except OSError:
        return _read(info, root, solutions)  # which says so
    return _read_once(info, root, solutions, (now.st_mtime_ns, now.st_size, now.st_ino))


@functools.lru_cache(maxsize=256)
def _read_once(info: Path, root: Path, solutions: Path, _edition: tuple[int, int, int]) -> Exercise:
    return _read(info, root, solutions)


def _read(info: Path, root: Path, solutions: Path) -> Exercise:
    where, item = str(info), read_toml(info, "the exercise")
    for key in sorted(_FIELDS.keys() ^ item.keys()):
        raise RegistryError(f"'{key}' is {'missing' if key in _FIELDS else 'not a key of an exercise'}", where=where)
    for key, kind in _FIELDS.items():
        if not isinstance(item[key], kind) or isinstance(item[key], bool) or not item[key]:
            raise RegistryError(f"'{key}' is empty or of the wrong type: {item[key]!r}", where=where)
    for key, choices in (("kind", tuple(KINDS)), ("difficulty", DIFFICULTIES)):
        if item[key] not in choices:
            raise RegistryError(f"'{key}' is {item[key]!r}", where=where, hint=f"one of {', '.join(choices)}")
    named = _FILE.fullmatch(info.name)
    if not named or not info.parent.name.startswith(f"{named[1]}_"):
        raise RegistryError("the file is NN_topic/NN_K.exercise.toml: exercise K of notebook NN", where=where)
    if len(item["hints"]) != HINTS or not all(isinstance(hint, str) and hint.strip() for hint in item["hints"]):
        raise RegistryError(f"an exercise has {HINTS} hints, none of them empty", where=where)
    file = f"{info.parent.name}/{item['file']}"
    rest = {key: item[key] for key in _FIELDS if key not in ("objectives", "hints", "wrong", "file")}
    return Exercise(
        **rest,
        id=f"{named[1]}.{named[2]}",
        notebook=named[1],
        file=file,
        objectives=tuple(item["objectives"]),
        hints=tuple(item["hints"]),
        wrong=_wrong(item["wrong"], where),
        stub=root / file,
        solution=solutions / file,
        info=info,
    )


def _wrong(items: list[dict[str, Any]], where: str) -> tuple[WrongSolution, ...]:
    names = [one.get("name", "") for one in items]
    if len(set(names)) != len(names) or not all(one.get("name") and one.get("message") for one in items):
        raise RegistryError("each wrong solution has a name of its own and a message", where=where)
    try:
        return tuple(
            WrongSolution(one["name"], one["message"], tuple(Edit(**edit) for edit in one["edit"])) for one in items
        )
    except (KeyError, TypeError) as error:
        raise RegistryError(
            f"a wrong solution has [[wrong.edit]], each with the keys 'find' and 'replace': {error}", where=where
        ) from error
