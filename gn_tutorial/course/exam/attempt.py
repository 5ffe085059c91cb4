"""Attempts at tasks of the practical exam, with folder, times and submissions, in ``exam_attempts.json``.

The file lies beside the learner's progress and is written at each step, so that nothing is lost when a terminal
closes. The sources stay in the candidate's folder; the file holds the judge's verdicts on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from gn_tutorial.course.exam.countdown import Timed
from gn_tutorial.course.exercises.registry import exercises_root
from gn_tutorial.course.progress import default_progress
from gn_tutorial.course.users_file import UsersFile
from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import learners_folder

#: The time limit of the intermediate exam.
MINUTES = 120.0
_VERSION = 1


@dataclass(frozen=True)
class Attempt(Timed):
    """One attempt at a task; ``Timed`` explains its times. finished: the time of its first submission.

    layout, soc: the project layout and the chip of the folder. checks: how often the given test was run. submissions:
    the judge's verdict on each (``Marks.record``), with ``at`` and ``late``.
    """

    task: str
    folder: str
    layout: str
    soc: str
    minutes: float | None
    started: float
    seen: float
    finished: float | None = None
    checks: int = 0
    submissions: tuple[Mapping[str, Any], ...] = ()

    def over(self, now: float) -> bool:
        """Whether the time limit has passed at ``now``, even if the attempt was handed in before."""
        return self.left(now) == 0.0

    def checked(self, now: float) -> Attempt:
        """Return this attempt with one more run of the given test."""
        return replace(self, checks=self.checks + 1, seen=max(now, self.seen))

    def submitted(self, record: Mapping[str, Any], at: float) -> Attempt:
        """Return this attempt with a submission at the time ``at``. The first submission ends the attempt.

        Later submissions, and those after the time limit, are only practice.
        """
        entry = {**record, "at": at, "late": self.over(at)}
        return replace(
            self,
            submissions=(*self.submissions, entry),
            finished=at if self.finished is None else self.finished,
            seen=max(at, self.seen),
        )


@dataclass(frozen=True)
class Attempts:
    """All attempts of one learner, the oldest first."""

    attempts: tuple[Attempt, ...] = field(default=())

    def latest(self, task: str) -> Attempt | None:
        """Return the last attempt at a task; None if there is none."""
        return next((one for one in reversed(self.attempts) if one.task == task), None)

    def chosen(self, task: str, here: Path) -> Attempt:
        """Return the last attempt at ``task`` whose folder contains ``here``; if no folder does, the last at ``task``.

        An empty ``task`` means any task. Raises ArgumentError if there is no attempt.
        """
        mine = [one for one in self.attempts if task in ("", one.task)]
        inside = [one for one in mine if Path(one.folder).resolve() in (here, *here.parents)]
        found = next(reversed(inside or mine), None)
        if found is None:
            what = f"'{task}' was not begun" if task else "no task was begun"
            raise ArgumentError(what, hint="gnt exam list shows the tasks, gnt exam start TASK begins one")
        return found

    def best(self, task: str) -> Mapping[str, Any] | None:
        """Return the verdict with the most points among first submissions in time; None if there is none."""
        firsts = [one.submissions[0] for one in self.attempts if one.task == task and one.submissions]
        return max((one for one in firsts if not one["late"]), key=lambda one: one["points"], default=None)

    def with_(self, attempt: Attempt) -> Attempts:
        """Return the attempts with ``attempt`` in place of the one with its task and start.

        If there is no such attempt, ``attempt`` is added at the end.
        """
        others = list(self.attempts)
        for index, one in enumerate(others):
            if (one.task, one.started) == (attempt.task, attempt.started):
                others[index] = attempt
                return Attempts(tuple(others))
        return Attempts((*others, attempt))


class AttemptFile:
    """The file of one user's attempts. folder: where the user's progress lies. now: returns the seconds since 1970."""

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self.path, self.now = folder / "exam_attempts.json", now
        self._kept = UsersFile(self.path, "the file of exam attempts", "cannot be kept", _VERSION)

    def read(self) -> Attempts:
        """Return the attempts; none without a file. Raises ArgumentError if the file cannot be read; the file stays."""
        advice = "rename it to begin anew: your folders are untouched, but their clocks are in this file"
        return self._kept.load(Attempts, advice) or Attempts()

    def keep(self, change: Callable[[Attempts], Attempts]) -> Attempts:
        """Read the attempts, change them and write them, in one step; return the changed ones."""
        return self._kept.store(lambda: change(self.read()))

    def update(self, attempt: Attempt, change: Callable[[Attempt], Attempt]) -> Attempt:
        """Apply ``change`` to the attempt as the file has it now, store the changed attempt and return it."""
        known = self.keep(lambda all_of: all_of.with_(change(_same(all_of, attempt))))
        return _same(known, attempt)


def default_attempt_file(now: Callable[[], float]) -> AttemptFile:
    """Return the file of this user's attempts."""
    return AttemptFile(default_progress().path.parent, now)


def default_folder(task: str) -> Path:
    """Return the path of a new attempt's folder: the first free name in the learner's folder of tasks."""
    root = learners_folder("GNT_EXAM_DIR", exercises_root(), "my_exam", "gn_exam")
    names = (root / (task if number == 1 else f"{task}_{number}") for number in range(1, 1000))
    return next(path for path in names if not path.exists())


def _same(known: Attempts, attempt: Attempt) -> Attempt:
    return next((one for one in known.attempts if (one.task, one.started) == (attempt.task, attempt.started)), attempt)


def attempts_of(data: Any) -> Attempts:
    """Return the attempts in plain data. Raises ValueError that names the wrong value and its place."""
    try:
        return Attempts(msgspec.convert(data, tuple[Attempt, ...]))
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
