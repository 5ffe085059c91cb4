"""Reads the submissions of a class: a folder for each learner, with files of ``gnt learn`` and folders of exam tasks.

Submissions may lie anywhere in the learner's folder. An exercise's file is recognised by its name, a task's folder by
its ``op_host`` and ``op_kernel``. Nothing outside the learner's folder is read. A link that could hide a submission,
and a file or folder that looks like a submission but cannot be judged, is listed with the reason.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.course.exam.submission_files import handed_in
from gn_tutorial.course.exam.task import Task, load_tasks
from gn_tutorial.course.exercises.registry import Exercise, load_course
from gn_tutorial.cpp.queries import calls
from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.projects.chips import find_soc

EXERCISE, TASK = "exercise", "exam"
#: The most bytes of an exercise's file. A source file of a task has the same limit.
LARGEST_FILE = 1 << 20
#: The most characters of all sources of a task.
LARGEST_TASK = 4 << 20
#: At most this many files and tasks' folders of one learner are looked at. A course and its tasks have far fewer.
MOST_ENTRIES = 20_000
DEEPEST = 8
PAGE = "docs/judging.md, section 'The folder of a class'"
_HINT = f"CLASS/ada/my_exercises, CLASS/ada/my_exam: {PAGE}"
_TASK_FOLDERS = ("op_host", "op_kernel")
_NUMBERED = re.compile(r"\d\d_\d+_\w+\.(?:cpp|h|py|toml)")
_PACKED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar")


@dataclass(frozen=True)
class Text:
    """A text to judge, without its learner. files: name -> text; one file for an exercise, the sources for a task.

    item: the exercise's id, or the task's name. layout, soc: the layout and the chip of a task's project.
    """

    kind: str
    item: str
    files: Mapping[str, str]
    layout: str = ""
    soc: str = ""

    @functools.cached_property
    def digest(self) -> str:
        """The checksum of the text. Texts with the same checksum are judged once."""
        facts = [self.kind, self.item, self.layout, self.soc, sorted(self.files.items())]
        return checksum(json.dumps(facts).encode())

    @property
    def order(self) -> tuple[str, int, int, str]:
        """The sort key: exercises by number, then tasks by name."""
        notebook, _, number = self.item.partition(".")
        known = self.kind == EXERCISE and notebook.isdecimal() and number.isdecimal()
        return ("", int(notebook), int(number), "") if known else ("exam", 0, 0, self.item)


@dataclass(frozen=True)
class Submission:
    """One learner's text. path: relative to the folder of the class."""

    learner: str
    path: str
    text: Text


@dataclass(frozen=True)
class Aside:
    """A file or folder that is not judged, and why. path: relative to the folder of the class."""

    path: str
    why: str


@dataclass
class Camp:
    """The contents of a class's folder. untouched: exercises that are still equal to their stub."""

    learners: list[str] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)
    untouched: list[Submission] = field(default_factory=list)
    aside: list[Aside] = field(default_factory=list)

    def texts(self) -> list[Text]:
        """Return each text once. Tasks come first, because they take longest and so should not start last."""
        found = {one.text.digest: one.text for one in self.submissions}
        return sorted(found.values(), key=lambda one: (one.kind == EXERCISE, one.order, one.digest))


def read_camp(folder: Path) -> Camp:
    """Return the contents of a class's folder.

    Raises ArgumentError if there is no such folder, if it cannot be read or is the folder of one learner, or if it has
    no exercise and no task that can be judged.
    """
    if not folder.is_dir():
        raise ArgumentError(f"there is no folder {folder}", hint=f"a folder with one for each learner: {_HINT}")
    try:
        names = sorted(one.name for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    except OSError as error:
        raise ArgumentError(f"the folder cannot be read: {error.strerror}", where=str(folder)) from error
    _refuse_one_learners(folder, names)
    if not names:
        raise ArgumentError(f"{folder} has no folder of a learner", hint=_HINT)
    camp, reader = Camp(learners=names), _Reader(folder)
    for name in names:
        reader.learner(name, camp)
    for path in sorted(folder.iterdir()):
        if path.is_file() and (_NUMBERED.fullmatch(path.name) or path.suffix in _PACKED):
            camp.aside.append(Aside(path.name, "it lies in no learner's folder"))
    if not camp.submissions and not camp.untouched:
        detail = "\n".join(f"  {one.path}: {one.why}" for one in camp.aside[:10])
        many = f"{len(names)} folder{'s' * (len(names) > 1)}"
        raise ArgumentError(
            f"{folder} has {many} and nothing to judge in them", where=", ".join(names[:5]), hint=_HINT, detail=detail
        )
    return camp


def _refuse_one_learners(folder: Path, names: list[str]) -> None:
    """Raise ArgumentError if the folder is one learner's, whose subfolders would be taken for learners."""
    topics = {Path(one.file).parent.name for one in load_course()} | {"my_exercises", "my_exam", *_TASK_FOLDERS}
    theirs = [name for name in names if name in topics]
    if not theirs and names and all(re.sub(r"_\d+$", "", one) in {task.name for task in load_tasks()} for one in names):
        theirs = names
    if theirs:
        raise ArgumentError(
            f"{folder} is the folder of one learner, not of a class: it has {', '.join(theirs[:3])}",
            hint=f"put it into another folder, under the learner's name: {_HINT}",
        )


class _Reader:
    """Reads learners' folders below ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.exercises = {Path(one.file).name: one for one in load_course()}
        self.tasks = {one.definition.snake_name: one for one in load_tasks()}

    def learner(self, name: str, camp: Camp) -> None:
        """Read everything of one learner into ``camp``."""
        top, before = self.root / name, (len(camp.submissions), len(camp.untouched), len(camp.aside))
        if top.is_symlink():
            camp.aside.append(Aside(name, "it is a link"))
            return
        for seen, (path, refused) in enumerate(_walk(top, self._known), 1):
            shown = path.relative_to(self.root).as_posix()
            if seen > MOST_ENTRIES:
                camp.aside.append(
                    Aside(name, f"it has more than {MOST_ENTRIES:,} files; the others were not looked at")
                )
                break
            if refused:
                camp.aside.append(Aside(shown, refused))
            elif path.is_dir() and _is_task(path):
                self._task(name, path, shown, camp)
            elif path.name in self.exercises and not path.is_dir():
                self._exercise(name, path, shown, camp)
            elif _NUMBERED.fullmatch(path.name):
                camp.aside.append(Aside(shown, "this version of the course has no exercise of that name"))
            elif path.suffix in _PACKED:
                camp.aside.append(Aside(shown, "it is packed: unpack it"))
        if before == (len(camp.submissions), len(camp.untouched), len(camp.aside)):
            camp.aside.append(Aside(name, "no exercise and no task in it"))

    def _known(self, path: Path) -> bool:
        """Whether a link at this path could hide a submission. Then the link has to be listed."""
        return path.name in self.exercises or path.name in _TASK_FOLDERS or path.is_dir()

    def _exercise(self, learner: str, path: Path, shown: str, camp: Camp) -> None:
        exercise: Exercise = self.exercises[path.name]
        try:
            data = _bytes(path)
        except OSError as error:
            camp.aside.append(Aside(shown, str(error.strerror)))
            return
        text = Text(EXERCISE, exercise.id, {path.name: data.decode("utf-8", "surrogateescape")})
        untouched = data == exercise.stub.read_bytes()
        (camp.untouched if untouched else camp.submissions).append(Submission(learner, shown, text))

    def _task(self, learner: str, path: Path, shown: str, camp: Camp) -> None:
        links = [one for top in _TASK_FOLDERS for one in (path / top).rglob("*") if one.is_symlink()]
        if links:
            camp.aside.append(Aside(links[0].relative_to(self.root).as_posix(), "it is a link; the task is not judged"))
            return
        found: Task | None = next((self.tasks[name] for name in self.tasks if _has(path, name)), None)
        if found is None:
            names = ", ".join(f"{name}.cpp" for name in self.tasks)
            camp.aside.append(Aside(shown, f"its op_host has no operator of a task of the exam ({names})"))
            return
        snake = found.definition.snake_name
        try:
            files = dict(handed_in(path).files)
        except GntError as error:
            camp.aside.append(Aside(shown, error.what))
            return
        if sum(map(len, files.values())) > LARGEST_TASK:
            camp.aside.append(Aside(shown, f"its sources have more than {LARGEST_TASK >> 20} MiB"))
            return
        layout = "8.x" if f"op_host/{snake}_tiling.h" in files else "9.x"
        named = (one.arguments[0] for one in calls(files.get(f"op_host/{snake}.cpp", ""), "AddConfig") if one.arguments)
        chips = [one.strip('"') for one in named if one.startswith('"')]
        camp.submissions.append(Submission(learner, shown, Text(TASK, found.name, files, layout, _config(chips))))


def _walk(top: Path, known: Callable[[Path], bool], depth: int = 0) -> Iterator[tuple[Path, str]]:
    """Yield ``top`` if it is a task's folder, else files and tasks' folders below it, each with the reason if refused.

    The reason is empty if the path is not refused. Other folders are yielded only if they are refused.
    """
    if _is_task(top):
        yield top, ""
        return
    try:
        entries = sorted(os.scandir(top), key=lambda one: one.name)
    except OSError as error:
        yield top, f"it cannot be read: {error.strerror}"
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_symlink():
            if known(path):
                yield path, "it is a link"
        elif not entry.is_dir(follow_symlinks=False):
            yield path, ""
        elif entry.name in _TASK_FOLDERS:
            yield path, "the folder of a task has op_host and op_kernel; here one of them is missing"
        elif depth == DEEPEST:
            yield path, f"it lies deeper than {DEEPEST} folders"
        else:
            yield from _walk(path, known, depth + 1)


def _is_task(path: Path) -> bool:
    return all((path / one).is_dir() and not (path / one).is_symlink() for one in _TASK_FOLDERS)


def _has(path: Path, snake: str) -> bool:
    return (path / "op_host" / f"{snake}.cpp").is_file()


def _config(chips: list[str]) -> str:
    """Return the first known chip of the definition; if there is none, ascend910b, the chip of the exam's tasks."""
    for one in chips:
        try:
            return find_soc(one).config
        except GntError:
            continue
    return "ascend910b"


def _bytes(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises OSError for anything else, and for a file that is too large."""
    # O_NONBLOCK: without it, opening a pipe that has no writer would wait.
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(opened, "rb") as file:
        if not path.is_file():
            raise OSError(0, "it is no regular file")
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise OSError(0, f"it has more than {LARGEST_FILE >> 20} MiB")
    return data
