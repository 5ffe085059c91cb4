"""Attempts at tasks of the practical exam: the folder, the clock, what was handed in. ``exam_attempts.json``.

The file lies beside the learner's progress and is written at each step, so that nothing is lost when a terminal
closes. Sources are the candidate's own, in the folder; only what the judge said of them is kept here.
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

#: The window of the intermediate exam.
MINUTES = 120.0
_VERSION = 1


@dataclass(frozen=True)
class Attempt(Timed):
    """One attempt; its times are those of Timed. finished: when it was first handed in.

    layout, soc: what the folder was made for. checks: how often the given test was run. submissions: what the judge
    said each time (``Marks.record``), with ``at`` and ``late``.
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
        """Whether its time is over, handed in or not."""
        return self.left(now) == 0.0

    def checked(self, now: float) -> Attempt:
        """This attempt, the given test run once more."""
        return replace(self, checks=self.checks + 1, seen=max(now, self.seen))

    def submitted(self, record: Mapping[str, Any], at: float) -> Attempt:
        """This attempt, handed in at ``at``. The first time ends it; later ones, and late ones, are practice."""
        entry = {**record, "at": at, "late": self.over(at)}
        return replace(
            self,
            submissions=(*self.submissions, entry),
            finished=at if self.finished is None else self.finished,
            seen=max(at, self.seen),
        )


@dataclass(frozen=True)
class Attempts:
    """All attempts of one learner, the first one first."""

    attempts: tuple[Attempt, ...] = field(default=())

    def latest(self, task: str) -> Attempt | None:
        """The last attempt at a task."""
        return next((one for one in reversed(self.attempts) if one.task == task), None)

    def chosen(self, task: str, here: Path) -> Attempt:
        """The attempt in whose folder ``here`` lies, if it is one at the task; without one the last attempt at it.

        Without a name: any task. Raises ArgumentError: there is none.
        """
        mine = [one for one in self.attempts if task in ("", one.task)]
        inside = [one for one in mine if Path(one.folder).resolve() in (here, *here.parents)]
        found = next(reversed(inside or mine), None)
        if found is None:
            what = f"'{task}' was not begun" if task else "no task was begun"
            raise ArgumentError(what, hint="gnt exam list shows the tasks, gnt exam start TASK begins one")
        return found

    def best(self, task: str) -> Mapping[str, Any] | None:
        """What the judge said of the best first submission in time."""
        firsts = [one.submissions[0] for one in self.attempts if one.task == task and one.submissions]
        return max((one for one in firsts if not one["late"]), key=lambda one: one["points"], default=None)

    def with_(self, attempt: Attempt) -> Attempts:
        """These, with the attempt in place of the one that was begun at the same moment, or at the end."""
        others = list(self.attempts)
        for index, one in enumerate(others):
            if (one.task, one.started) == (attempt.task, attempt.started):
                others[index] = attempt
                return Attempts(tuple(others))
        return Attempts((*others, attempt))


class AttemptFile:
    """The file of one user. folder: that of the learner's progress. now: seconds since 1970."""

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self.path, self.now = folder / "exam_attempts.json", now
        self._kept = UsersFile(self.path, "the file of exam attempts", "cannot be kept", _VERSION)

    def read(self) -> Attempts:
        """What is there. Raises ArgumentError if it cannot be read; it is not thrown away."""
        advice = "give it another name: your folders are untouched, and their clocks are in it"
        return self._kept.load(Attempts, advice) or Attempts()

    def keep(self, change: Callable[[Attempts], Attempts]) -> Attempts:
        """Read, change and write in one step."""
        return self._kept.store(lambda: change(self.read()))

    def update(self, attempt: Attempt, change: Callable[[Attempt], Attempt]) -> Attempt:
        """Change one attempt as it is in the file by now."""
        known = self.keep(lambda all_of: all_of.with_(change(_same(all_of, attempt))))
        return _same(known, attempt)


def default_attempt_file(now: Callable[[], float]) -> AttemptFile:
    """The file of this user."""
    return AttemptFile(default_progress().path.parent, now)


def default_folder(task: str) -> Path:
    """Where a new attempt's folder goes: the first name that is free in the learner's folder of tasks."""
    root = learners_folder("GNT_EXAM_DIR", exercises_root(), "my_exam", "gn_exam")
    names = (root / (task if number == 1 else f"{task}_{number}") for number in range(1, 1000))
    return next(path for path in names if not path.exists())


def _same(known: Attempts, attempt: Attempt) -> Attempt:
    return next((one for one in known.attempts if (one.task, one.started) == (attempt.task, attempt.started)), attempt)


def attempts_of(data: Any) -> Attempts:
    """Attempts from plain data. Raises ValueError that says what is something else, and where."""
    try:
        return Attempts(msgspec.convert(data, tuple[Attempt, ...]))
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
