"""Judges one text: an exercise with its checker, a task of the exam with the judge of ``gnt exam submit``."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gn_tutorial import __version__
from gn_tutorial.course.classroom.judgement import Finding, Judgement
from gn_tutorial.course.classroom.submissions import EXERCISE, Text
from gn_tutorial.course.exam.judge import judge_sources
from gn_tutorial.course.exam.marks import Marks
from gn_tutorial.course.exam.submission_files import HandedIn
from gn_tutorial.course.exam.task import find_task
from gn_tutorial.course.exercises.attempt_process import Forks
from gn_tutorial.course.exercises.check_python import PythonChecker
from gn_tutorial.course.exercises.checkers import Checker, checker_of
from gn_tutorial.course.exercises.grade import grade
from gn_tutorial.course.exercises.registry import Exercise, load_course
from gn_tutorial.course.exercises.verdict import CheckResult
from gn_tutorial.errors import GntError

TASK_POINTS, EXERCISE_POINTS = 100.0, 1.0


def points_of(kind: str) -> float:
    """Return the most points that a text of this kind can earn."""
    return EXERCISE_POINTS if kind == EXERCISE else TASK_POINTS


class TextJudge:
    """Judges texts one after the other; a context manager.

    An attempt in Python runs in a fork of a process that has imported its libraries. The judge keeps such processes
    for further attempts. No attempt sees what another one did.
    """

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._forks: dict[tuple[str, ...], Forks] = {}

    def __enter__(self) -> TextJudge:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def judge(self, text: Text, limit: float) -> Judgement:
        """Return the judgement on a text. limit: in seconds; it is recorded in the judgement but not enforced here.

        An error that is not the text's fault makes the judgement undecided.
        """
        begun = time.monotonic()
        try:
            status, points, findings = self._exercise(text) if text.kind == EXERCISE else _task(text)
        except GntError as error:  # for example no compiler, or a full disk
            status, points, findings = "undecided", 0.0, [Finding(error.what, error.where, read=error.hint)]
        except Exception as error:
            status, points, findings = "undecided", 0.0, [Finding(f"the judge itself failed: {error!r}")]
        seconds = round(time.monotonic() - begun, 3)
        return Judgement(
            text.digest, status, points, points_of(text.kind), tuple(findings), seconds, limit, __version__
        )

    def _exercise(self, text: Text) -> tuple[str, float, list[Finding]]:
        exercise = load_course().find(text.item)
        checker = checker_of(exercise)
        if isinstance(checker, PythonChecker) and (missing := checker.missing()):
            return "undecided", 0.0, [Finding(f"{missing} is not installed here, and {exercise.id} needs it")]
        with _file(exercise, text) as path:
            found = grade(exercise, path, self._for_many(checker))
        if found.passed:
            return "right", EXERCISE_POINTS, []
        return "wrong", 0.0, [_finding(found)]

    def _for_many(self, checker: Checker) -> Checker:
        if not isinstance(checker, PythonChecker):
            return checker
        if checker.libraries not in self._forks:
            self._forks[checker.libraries] = self._stack.enter_context(Forks(checker.libraries))
        return replace(checker, run=self._forks[checker.libraries].run)


@contextlib.contextmanager
def _file(exercise: Exercise, text: Text) -> Iterator[Path]:
    """Write the text, with its original bytes, to a temporary file with the exercise's name."""
    (content,) = text.files.values()
    with tempfile.TemporaryDirectory(prefix="gnt-attempt-") as folder:
        path = Path(folder) / Path(exercise.file).name
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
        yield path


def _finding(found: CheckResult) -> Finding:
    assert found.finding is not None
    one = found.finding
    return Finding(one.message, one.where, one.case, found.lesson, detail=one.detail)


def _task(text: Text) -> tuple[str, float, list[Finding]]:
    marks: Marks = judge_sources(find_task(text.item), HandedIn(text.files), text.layout, text.soc)
    findings = [Finding(one.what, one.where, one.case, one.read, round(one.total, 1)) for one in marks.losses]
    return "right" if marks.accepted else "wrong", float(marks.points), findings
