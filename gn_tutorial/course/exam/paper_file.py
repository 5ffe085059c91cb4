"""The file of one user's theory paper, ``theory_paper.json``: the last paper, open or finished, written at each answer.

The file lies beside the learner's progress, which keeps the result of every paper. A terminal and a notebook may have
the same paper open at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gn_tutorial.course.exam.bank import Bank
from gn_tutorial.course.exam.marking import PaperResult, mark
from gn_tutorial.course.exam.paper import Paper
from gn_tutorial.course.progress import ProgressFile, default_progress
from gn_tutorial.course.users_file import UsersFile
from gn_tutorial.errors import ArgumentError

_VERSION = 1


class PaperFile:
    """The file of one user's paper. progress: the file that keeps results. now: returns the seconds since 1970."""

    def __init__(self, progress: ProgressFile, bank: Bank, now: Callable[[], float]) -> None:
        self.path = progress.path.with_name("theory_paper.json")
        self._kept = UsersFile(self.path, "the theory paper", "cannot be kept", _VERSION)
        self.bank, self.now = bank, now
        self.progress = progress

    def read(self) -> Paper | None:
        """Return the paper as it is now; None if there is none. Raises ArgumentError if the file cannot be read."""
        paper = self._kept.load(Paper, "gnt exam theory --new draws another one, and keeps this file aside")
        return None if paper is None else paper.at(self.now())

    def write(self, paper: Paper) -> Paper:
        """Write a new paper in place of the one before, and return it. Raises ArgumentError."""
        return self._kept.store(lambda: paper)

    def change(self, change: Callable[[Paper, float], Paper]) -> Paper:
        """Change the paper in the file and return it. If it is finished then, add its result to the progress.

        Raises ArgumentError if there is no paper, or if a file cannot be used.
        """

        def changed() -> Paper:
            there = self.read()
            if there is None:
                raise ArgumentError("there is no theory paper", hint="gnt exam theory")
            return change(there, self.now())

        paper = self._kept.store(changed)
        if paper.finished is not None:
            record = self.result(paper).record()
            self.progress.update(lambda known: known.with_theory(record))
        return paper

    def answer(self, key: str, letters: str) -> Paper:
        """Store one answer and return the paper; "" leaves the question open. Raises as ``change`` does.

        A finished paper keeps its answers.
        """
        return self.change(lambda paper, now: paper.answered(key, letters, now))

    def hand_in(self) -> Paper:
        """Finish the paper and return it. Raises as ``change`` does."""
        return self.change(lambda paper, now: paper.handed_in(now))

    def result(self, paper: Paper) -> PaperResult:
        """Return the result of a finished paper."""
        return mark(paper, self.bank)

    def set_aside(self) -> Path | None:
        """Rename a file that cannot be read, and return its new path; None if there is no file."""
        return self._kept.set_aside() if self.path.exists() else None


def default_paper_file(bank: Bank, now: Callable[[], float], warn: Callable[[str], None]) -> PaperFile:
    """Return the paper file of this user."""
    return PaperFile(default_progress(warn), bank, now)
