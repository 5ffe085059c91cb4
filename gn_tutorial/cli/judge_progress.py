"""Prints the output of ``gnt judge``: its progress, then each learner's points, similar texts and result files."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import Any

from gn_tutorial.cli.terminal import print_table
from gn_tutorial.course.classroom.judge_class import CSV, JSON, PAGE, HowFar
from gn_tutorial.course.classroom.results import Results
from gn_tutorial.course.classroom.results_page import summary

#: The least time between two lines of progress, in seconds, if standard error is no terminal.
_EVERY = 30.0
_SHOWN = 20


class Watcher:
    """Shows progress on standard error: a bar on a terminal, elsewhere at most one line in 30 s. A context manager."""

    def __init__(self) -> None:
        self._stack, self._begun, self._told = contextlib.ExitStack(), time.monotonic(), 0.0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def tell(self, progress: HowFar) -> None:
        """Show the progress; the judge calls this at the beginning and after each judgement."""
        todo = progress.texts - progress.known
        if progress.last is None:
            again = f", {progress.known} of them before" if progress.known else ""
            print(f"gnt: {progress.texts} texts{again}; {todo} to judge", file=sys.stderr, flush=True)
            self._begun = self._told = time.monotonic()
        if todo and sys.stderr.isatty():
            self._draw(progress, todo)
        elif progress.last and time.monotonic() - self._told > _EVERY:
            self._told = time.monotonic()
            left = (self._told - self._begun) / progress.done * (todo - progress.done)
            print(f"gnt: {progress.done} of {todo} judged, about {left / 60:.0f} min left", file=sys.stderr, flush=True)

    def _draw(self, progress: HowFar, todo: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = self._stack.enter_context(Bar(*columns, console=Console(stderr=True)))
            self._task = self._bar.add_task("judging", total=todo)
        self._bar.update(self._task, completed=progress.done)


def print_results(found: Results, into: Path) -> None:
    """Print each learner's points, then the texts that a teacher has to look at, and the path of the results."""
    tasks = list(dict.fromkeys(name for one in found.sums for name in one.points))
    rows = [
        (one.learner, f"{len(one.passed)} of {one.tried}", *(_points(one.points.get(name)) for name in tasks))
        for one in found.sums
    ]
    print_table(("learner", "exercises right", *tasks), rows, title=summary(found))
    for row in found.rows:
        if row.status in ("stopped", "undecided"):
            print(f"{row.status}: {row.path}: {row.first.what}")
    _print_some("not judged", [f"{one.path}: {one.why}" for one in found.aside])
    told = [
        f"{one.item}, {one.how} ({one.share:.0%}): {', '.join(path for _, path in one.handed_in)}"
        for one in found.alike
    ]
    _print_some("suspiciously equal", told)
    print(f"results: {into / PAGE} (and {CSV}, {JSON} beside it)")


def _print_some(title: str, lines: list[str]) -> None:
    if lines:
        print(f"{title}: {len(lines)}")
        print("\n".join(f"  {line}" for line in lines[:_SHOWN]))
        if len(lines) > _SHOWN:
            print(f"  and {len(lines) - _SHOWN} more, in {JSON}")


def _points(points: float | None) -> str:
    return "" if points is None else f"{points:g}"
