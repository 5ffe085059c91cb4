"""Stores a learner's progress: exercises and puzzles passed, hints read, answers to quizzes, theory papers written.

The progress is one file in the user's data folder (``$GNT_DATA_DIR`` if set).
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import platformdirs

from gn_tutorial.course.migrations import new_id
from gn_tutorial.course.users_file import UsersFile

#: The version of the file. 2: notebook 06 became two, which changed the numbers of later exercises. 3: exercises took
#: the order of their notebook.
VERSION = 3


@dataclass(frozen=True)
class Progress:
    """One learner's progress. passed, puzzles: id of an exercise or puzzle -> ISO date of the first pass.

    hints: exercise id -> the highest level of hint that was read. quizzes: notebook -> key of a question
    (``QuizQuestion.key``) -> the letters that were chosen. theory: the record of each theory paper, in order
    (``PaperResult.record`` in ``exam.marking``).
    """

    passed: dict[str, str] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    quizzes: dict[str, dict[str, str]] = field(default_factory=dict)
    theory: tuple[dict[str, Any], ...] = ()
    puzzles: dict[str, str] = field(default_factory=dict)

    def with_pass(self, exercise: str) -> Progress:
        """Return this progress with one more exercise passed; an earlier date stays."""
        return replace(self, passed={exercise: _today()} | self.passed)

    def with_puzzle(self, puzzle: str) -> Progress:
        """Return this progress with one more puzzle passed; an earlier date stays."""
        return replace(self, puzzles={puzzle: _today()} | self.puzzles)

    def with_hint(self, exercise: str, level: int) -> Progress:
        """Return this progress with the hint of this level read; a higher level that was read before stays."""
        return replace(self, hints=self.hints | {exercise: max(level, self.hints.get(exercise, 0))})

    def with_answers(self, quiz: str, answers: Mapping[str, str]) -> Progress:
        """Return this progress with answers to questions of one quiz; they replace earlier answers."""
        return replace(self, quizzes=self.quizzes | {quiz: self.quizzes.get(quiz, {}) | dict(answers)})

    def with_theory(self, record: Mapping[str, Any]) -> Progress:
        """Return this progress with one more theory paper, unless a paper of the same date and seed is in it."""
        same = [one for one in self.theory if (one["date"], one["seed"]) == (record["date"], record["seed"])]
        return self if same else replace(self, theory=(*self.theory, dict(record)))

    def theory_answers(self) -> dict[str, str]:
        """Return question key -> the letters that the last paper with this theory question has; "" if left open.

        Papers of earlier versions have only counts by topic, and no answers.
        """
        return {key: letters for record in self.theory for key, letters in record.get("answers", {}).items()}

    def without_answers(self, quiz: str) -> Progress:
        """Return this progress without the answers to one quiz."""
        return replace(self, quizzes={name: one for name, one in self.quizzes.items() if name != quiz})


class ProgressFile:
    """The file of one user's progress. Two terminals, or a terminal and a notebook, may use it at one time."""

    def __init__(self, folder: Path, warn: Callable[[str], None] = lambda text: None) -> None:
        self.path = folder / "progress.json"
        self._kept = UsersFile(self.path, "the progress file", "cannot be used", VERSION)
        self._warn = warn

    def read(self) -> Progress:
        """Return the progress; an empty one if there is no file, or if the file is damaged.

        Renames a damaged file, and calls ``warn``. Raises ArgumentError if the file cannot be read.
        """
        try:
            return progress_of(json.loads(self.path.read_bytes()))
        except FileNotFoundError:
            return Progress()
        except (ValueError, TypeError, KeyError, AttributeError):
            kept = self._kept.set_aside()
            self._warn(f"the progress file is damaged; it was kept as {kept}, and progress starts anew")
            return Progress()
        except OSError as error:
            raise self._kept.unusable(error) from error

    def update(self, change: Callable[[Progress], Progress]) -> Progress:
        """Change the progress in the file and return it.

        Raises ArgumentError as ``read`` and ``UsersFile.store`` do.
        """
        return self._kept.store(lambda: change(self.read()))


def default_progress(warn: Callable[[str], None] = lambda text: None) -> ProgressFile:
    """Return the progress file of this user."""
    chosen = os.environ.get("GNT_DATA_DIR")
    folder = Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_data_dir("gn_tutorial", False))
    return ProgressFile(folder, warn)


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def progress_of(data: Any) -> Progress:
    """Return progress from plain data. Raises KeyError, TypeError, ValueError or AttributeError for other data."""
    version = data.get("version", 1)
    passed = {new_id(key, version): str(value) for key, value in data["passed"].items()}
    hints = {new_id(key, version): int(value) for key, value in data["hints"].items()}
    quizzes = {
        quiz: {str(key): str(letters) for key, letters in answers.items()}
        for quiz, answers in data.get("quizzes", {}).items()
    }
    theory = tuple(dict(record) for record in data.get("theory", []))
    puzzles = {str(key): str(date) for key, date in data.get("puzzles", {}).items()}
    return Progress(passed, hints, quizzes, theory, puzzles)
