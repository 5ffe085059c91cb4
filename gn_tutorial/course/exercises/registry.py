"""The course: every exercise, read from ``solutions/NN_topic/NN_K.exercise.toml``.

``exercises/NN_topic/`` holds the file that a learner starts from. ``solutions/NN_topic/`` holds the solved file of the
same name, the exercise's TOML file (its task, hints and wrong solutions), and the file that checks it. Wrong solutions
are edits of the solution, not files, so that they cannot drift from it. They are not in ``exercises/``, because an edit
quotes the solution.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import course_folder, decode, look_of
from gn_tutorial.translation.choice import ENGLISH, language
from gn_tutorial.translation.texts import translated

#: Kind of exercise -> the words that tell a learner what to do.
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
#: A text for readers, with at least one character that is not a blank.
Text = Annotated[str, Meta(pattern=r"\S")]


class Edit(Struct, frozen=True, forbid_unknown_fields=True):
    """One replacement in the solution's text, which must contain ``find`` exactly once."""

    find: str
    replace: str


class WrongSolution(Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake that learners make, or a cheat. ``message`` is a part of what the checker must say about it."""

    name: Text
    message: Text
    edits: tuple[Edit, ...] = field(name="edit")

    def apply(self, solution: str) -> str:
        """Return the wrong program. Raises RegistryError if the solution has an edit's ``find`` not exactly once."""
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


class _Exercise(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of an exercise's TOML file."""

    title: Text
    objectives: Annotated[tuple[str, ...], Meta(min_length=1)]
    section: Text
    minutes: Annotated[int, Meta(ge=1)]
    difficulty: Literal[*DIFFICULTIES]
    kind: Literal[*KINDS]
    file: Text
    task: Text
    hints: tuple[str, ...]
    wrong: Annotated[tuple[WrongSolution, ...], Meta(min_length=1)]


class Exercise(_Exercise, frozen=True, kw_only=True):
    """One exercise. ``stub`` and ``solution`` are absolute paths.

    file: the path of the stub and of the solution in their folders. info: the exercise's TOML file.
    """

    id: str
    notebook: str
    stub: Path
    solution: Path
    info: Path

    @property
    def check_file(self) -> Path:
        """The file that checks the exercise, beside ``info``. Its name follows from the id; no TOML key names it."""
        return self.info.with_name(f"{self.id.replace('.', '_')}.check.py")

    @property
    def lesson(self) -> str:
        """The notebook and the section that explain the exercise, in words, in the learner's language."""
        return self.lesson_in(self.section)

    def lesson_in(self, section: str) -> str:
        """Return the exercise's notebook and another section of that notebook, in words."""
        words = translated("notebook {notebook}, section '{section}'")
        return words.format(notebook=self.notebook, section=translated(section))

    def translated(self) -> Exercise:
        """Return the exercise with title, task and hints in the learner's language."""
        if language() == ENGLISH:
            return self
        hints = tuple(map(translated, self.hints))
        return replace(self, title=translated(self.title), task=translated(self.task), hints=hints)


@dataclass(frozen=True)
class Course:
    """The exercises in order, and the two folders they are read from. An exercise is read when it is needed.

    files: id -> the exercise's TOML file.
    """

    files: Mapping[str, Path]
    root: Path
    solutions: Path

    def __iter__(self) -> Iterator[Exercise]:
        return (self._read(info) for info in self.files.values())

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """All exercises. Raises RegistryError that names the file and the key at fault."""
        return tuple(self)

    @property
    def ids(self) -> list[str]:
        """The id of each exercise."""
        return list(self.files)

    def find(self, name: str) -> Exercise:
        """Return the exercise of that id, in the learner's language.

        Raises ArgumentError that suggests the closest ids or lists all, and RegistryError that names the exercise's
        file and the key at fault.
        """
        if str(name) in self.files:
            return self._read(self.files[str(name)])
        near = difflib.get_close_matches(str(name), self.ids, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(self.ids)}"
        raise ArgumentError(f"there is no exercise '{name}'", hint=hint)

    def following(self, exercise: Exercise, passed: Container[str]) -> Exercise | None:
        """Return the next exercise not in ``passed``: from this one on, then from the first. None if all are passed."""
        begin = self.ids.index(exercise.id)
        order = self.ids[begin:] + self.ids[:begin]
        return next((self.find(one) for one in order if one not in passed), None)

    def after(self, exercise: Exercise) -> Exercise:
        """Return the exercise after this one; after the last, the first."""
        return self.find(self.ids[(self.ids.index(exercise.id) + 1) % len(self.ids)])

    def _read(self, info: Path) -> Exercise:
        return _read_once(info, self.root, self.solutions, look_of(info)).translated()


def exercises_root() -> Path:
    """Return the folder of the stubs and quizzes. Raises RegistryError if it is missing."""
    return course_folder("exercises", "*/*")


def solutions_root() -> Path:
    """Return the folder of the exercises' tasks, hints and solutions. Raises RegistryError if it is missing."""
    return course_folder("solutions", "*/*.exercise.toml")


def load_course(root: Path | None = None, solutions: Path | None = None) -> Course:
    """Return the exercises, in the order of their ids.

    root, solutions: the folders; by default the course's. Raises RegistryError for a wrongly named TOML file, and if a
    folder of the course is missing.
    """
    root = root or exercises_root()
    solutions = solutions or solutions_root()
    found = {}
    for info in solutions.glob("*/*.exercise.toml"):
        named = _FILE.fullmatch(info.name)
        if not named or not info.parent.name.startswith(f"{named[1]}_"):
            where = "NN_topic/NN_K.exercise.toml"
            raise RegistryError(f"the file is {where}: exercise K of notebook NN", where=str(info))
        found[int(named[1]), int(named[2])] = f"{named[1]}.{named[2]}", info
    return Course(dict(found[order] for order in sorted(found)), root, solutions)


@functools.lru_cache(maxsize=256)
def _read_once(info: Path, root: Path, solutions: Path, _look: object) -> Exercise:
    where = str(info)
    made = decode(info, _Exercise, "the exercise")
    if len(made.hints) != HINTS or not all(hint.strip() for hint in made.hints):
        raise RegistryError(f"an exercise has {HINTS} hints, none of them empty", where=where)
    if len({one.name for one in made.wrong}) != len(made.wrong):
        raise RegistryError("each wrong solution has a name of its own", where=where)
    notebook, _, number = info.name.partition(".")[0].partition("_")
    file = f"{info.parent.name}/{made.file}"
    paths = {"file": file, "stub": root / file, "solution": solutions / file, "info": info}
    return Exercise(**asdict(made) | paths, id=f"{notebook}.{number}", notebook=notebook)
