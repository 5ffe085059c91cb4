"""The report on how far a class is with each objective, from files that learners handed in (``progress_export``)."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial import __version__
from gn_tutorial.course.classroom.progress_export import Export, read_export
from gn_tutorial.course.classroom.results import cell
from gn_tutorial.course.classroom.submissions import Aside
from gn_tutorial.course.exam.goals import Goal, load_goals
from gn_tutorial.course.exam.objective_progress import Standing, standings
from gn_tutorial.errors import ArgumentError

HEADERS = ("objective", "reached", "half and more", "begun", "not begun", "mean")
_HALF = 0.5
_DEEPEST = 2


@dataclass(frozen=True)
class LearnerStanding:
    """How far one learner is. standings: one for each objective, in the order of the course."""

    name: str
    export: Export
    standings: tuple[Standing, ...]

    @property
    def share(self) -> float:
        """The mean of the objectives' shares, 0 to 1."""
        return statistics.fmean(one.share for one in self.standings)


@dataclass(frozen=True)
class GoalOfClass:
    """How far a class is with one objective. shares: one for each learner, 0 to 1. reached: how many reached it."""

    goal: Goal
    shares: tuple[float, ...]
    reached: int

    @property
    def half(self) -> int:
        """How many learners have half of the objective or more, but have not reached it."""
        return sum(share >= _HALF for share in self.shares) - self.reached

    @property
    def begun(self) -> int:
        """How many learners have a part of the objective, but less than half."""
        return sum(0 < share < _HALF for share in self.shares)

    @property
    def untouched(self) -> int:
        """How many learners have nothing of the objective."""
        return sum(share == 0 for share in self.shares)

    @property
    def mean(self) -> float:
        """The mean share of the learners, 0 to 1."""
        return statistics.fmean(self.shares)


@dataclass(frozen=True)
class ClassReport:
    """The report on a class. aside: files that do not count, and why. Of one learner's files only the newest counts."""

    learners: tuple[LearnerStanding, ...]
    aside: tuple[Aside, ...]
    notes: tuple[str, ...] = ()

    def goals(self) -> list[GoalOfClass]:
        """Return how far the class is with each objective, in the order of the course."""
        columns = zip(*(one.standings for one in self.learners), strict=True)
        return [
            GoalOfClass(mine[0].goal, tuple(one.share for one in mine), sum(not one.left for one in mine))
            for mine in columns
        ]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells under HEADERS, a row for each objective."""
        return [
            (one.goal.title, *map(str, (one.reached, one.half, one.begun, one.untouched)), f"{one.mean:.0%}")
            for one in self.goals()
        ]

    def summary(self) -> str:
        """Return one line: how many learners, and their mean share."""
        mean = statistics.fmean(one.share for one in self.learners)
        many = len(self.learners)
        return f"{many} learner{'s' * (many > 1)}, {mean:.0%} of the objectives in the mean"

    def csv(self) -> str:
        """Return CSV text with a line for each learner: exercises and puzzles passed, points of tasks, shares."""
        goals = [one.goal for one in self.goals()]
        tasks = sorted({one.task for each in self.learners for one in each.export.known.attempts.attempts})
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        of_tasks = [f"points of {name}" for name in tasks]
        writer.writerow(["learner", "exported", "exercises", "puzzles", *of_tasks, "mean", *(one.id for one in goals)])
        for one in self.learners:
            known = one.export.known
            best = [known.attempts.best(name) for name in tasks]
            points = ["" if said is None else f"{said['points']:g}" for said in best]
            passed = [len(known.progress.passed), len(known.progress.puzzles)]
            shares = [f"{share:.3f}" for share in (one.share, *(each.share for each in one.standings))]
            writer.writerow([cell(one.name), one.export.date, *passed, *points, *shares])
        return out.getvalue()

    def record(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "learners": [
                {"name": one.name, "date": one.export.date, "share": round(one.share, 4)} for one in self.learners
            ],
            "objectives": [
                {
                    "objective": one.goal.id,
                    "title": one.goal.title,
                    "reached": one.reached,
                    "half": one.half,
                    "begun": one.begun,
                    "untouched": one.untouched,
                    "mean": round(one.mean, 4),
                    "shares": {
                        each.name: round(share, 4) for each, share in zip(self.learners, one.shares, strict=True)
                    },
                }
                for one in self.goals()
            ],
            "aside": [vars(one) for one in self.aside],
        }


def class_report(folder: Path) -> ClassReport:
    """Return the report on a folder of exports. Raises ArgumentError if there is no folder, or no export in it."""
    if not folder.is_dir():
        raise ArgumentError(f"there is no folder {folder}", hint="a folder with the files of gnt progress export")
    last: dict[str, tuple[str, Export]] = {}
    aside: list[Aside] = []
    for path in _files(folder, 1):
        shown = path.relative_to(folder).as_posix()
        try:
            export = read_export(path)
        except ValueError as error:
            aside.append(Aside(shown, str(error)))
            continue
        older = last.get(export.name)
        if older is None or older[1].date < export.date:
            last[export.name], rest = (shown, export), older
        else:
            rest = (shown, export)
        if rest is not None:
            newer = f"{last[export.name][0]} is of '{export.name}' too, and newer"
            aside.append(Aside(rest[0], f"{newer}; gnt progress export --name tells two learners apart"))
    if not last:
        detail = "\n".join(f"  {one.path}: {one.why}" for one in aside[:10])
        hint = "learners make it: gnt progress export"
        raise ArgumentError(f"no file of exported progress in {folder}", hint=hint, detail=detail)
    goals = load_goals()
    learners = [LearnerStanding(name, one, standings(goals, one.known)) for name, (_, one) in sorted(last.items())]
    others = [one.name for one in learners if one.export.course != __version__]
    notes = []
    if others:
        notes.append(f"of another version of the course, whose changed questions do not count: {', '.join(others)}")
    return ClassReport(tuple(learners), tuple(aside), tuple(notes))


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Yield every path that ends in .json, in the folder or in a folder directly below it.

    Names that begin with a dot, and links to folders, are skipped. depth: 1 for the folder of exports.
    """
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.suffix == ".json":
            yield path
        elif path.is_dir() and not path.is_symlink() and depth < _DEEPEST:
            yield from _files(path, depth + 1)
