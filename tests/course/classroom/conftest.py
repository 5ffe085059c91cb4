"""A class as the tests of this room need it: learners' folders that one line fills."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gn_tutorial.course.exam.handout import solved, write
from gn_tutorial.course.exam.solution_files import right_solutions
from gn_tutorial.course.exam.task import find_task
from gn_tutorial.course.exercises.registry import load_course

#: ``hand_in("ada", "01.1", text)`` puts a text into the learner's file of the exercise: the solution for None.
HandIn = Callable[..., Path]


@pytest.fixture
def camp(tmp_path: Path) -> Path:
    """An empty folder of a class."""
    folder = tmp_path / "camp"
    folder.mkdir()
    return folder


@pytest.fixture
def hand_in(camp: Path) -> HandIn:
    def put(learner: str, item: str, text: str | None = None, *, inside: str = "my_exercises") -> Path:
        exercise = load_course().find(item)
        path = camp / learner / inside / exercise.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(exercise.solution.read_text() if text is None else text)
        return path

    return put


@pytest.fixture
def hand_in_task(camp: Path) -> HandIn:
    def put(learner: str, name: str, layout: str = "9.x", inside: str = "my_exam") -> Path:
        task = find_task(name)
        pieces = next(iter(right_solutions(task).values()))
        return write(solved(task, pieces, layout), camp / learner / inside / name)

    return put
