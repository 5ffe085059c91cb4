"""Checks a task, for authors and CI.

Unfilled gaps must fail with a helpful message, right solutions must pass, and each wrong one must get its own message.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gn_tutorial.course.exam.handout import handout, solved, write
from gn_tutorial.course.exam.judge import judge
from gn_tutorial.course.exam.marks import Marks
from gn_tutorial.course.exam.solution_files import right_solutions
from gn_tutorial.course.exam.task import SPEED, Task
from gn_tutorial.course.exercises.registry import WrongSolution
from gn_tutorial.projects.new_project import LAYOUTS

FEWEST_WRONG, RIGHT = 5, 3


def judged(task: Task, files: Mapping[str, str], layout: str) -> Marks:
    """Return the judge's verdict on a folder with these files."""
    with tempfile.TemporaryDirectory(prefix="gnt-exam-") as folder:
        return judge(task, write(files, Path(folder) / task.name), layout)


def gaps_complaints(task: Task, layout: str) -> Iterator[str]:
    """Yield a complaint if the gaps of a candidate's folder earn points, or if they fail without a helpful message."""
    marks = judged(task, handout(task, layout), layout)
    if marks.points:
        yield f"the gaps earn {marks.points:g} points in layout {layout}"
    first = marks.losses[0]
    if "tiling struct has no field" not in first.what or not first.read or not first.case:
        yield f"the gaps fail without help in layout {layout}: {first.what}"


def right_complaints(task: Task, layout: str, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield a complaint for each right solution that is refused, or if the first solution earns less than 100 points.

    names: the solutions to judge; empty: all.
    """
    for number, (name, pieces) in enumerate(right_solutions(task).items()):
        if names and name not in names:
            continue
        marks = judged(task, solved(task, pieces, layout), layout)
        if not marks.accepted:
            yield f"the right solution '{name}' is refused in layout {layout}: {marks.losses[0].what}"
        elif number == 0 and marks.points < 100:
            yield f"the first solution earns {marks.points:g} points: {marks.losses[0].what}"


def wrong_complaints(task: Task, layout: str, chosen: Sequence[WrongSolution] | None = None) -> Iterator[str]:
    """Yield a complaint for each wrong solution that is accepted, or that does not get its own message.

    The message must contain ``WrongSolution.message``, and no two wrong solutions may get the same one.

    chosen: the solutions to judge; None: all. The edits of the others are still applied, to see that they fit.
    """
    first, told = next(iter(right_solutions(task).values())), {}
    for wrong in task.wrong():
        pieces = first.mistaken(wrong)
        if chosen is not None and wrong not in chosen:
            continue
        marks = judged(task, solved(task, pieces, layout), layout)
        if marks.accepted:
            yield f"the wrong solution '{wrong.name}' is accepted"
            continue
        what = marks.losses[0].what
        if wrong.message not in what:
            yield f"the wrong solution '{wrong.name}' must get the message '{wrong.message}', not: {what}"
        if what in told:
            yield f"the wrong solutions '{wrong.name}' and '{told[what]}' get the same message: {what}"
        told[what] = wrong.name


def complaints(task: Task) -> Iterator[str]:
    """Yield the complaints of all checks. Wrong solutions are judged in one layout, the rest in both. Takes minutes."""
    if len(task.wrong()) < FEWEST_WRONG:
        yield f"{len(task.wrong())} wrong solutions; at least {FEWEST_WRONG} are needed"
    if len(right_solutions(task)) < RIGHT:
        yield f"{len(right_solutions(task))} right solutions; at least {RIGHT} are needed"
    if not 0 < task.points[SPEED] <= 20:
        yield f"'{SPEED}' has {task.points[SPEED]} points; give it 1 to 20, because a slow solution is still accepted"
    for layout in LAYOUTS:
        yield from gaps_complaints(task, layout)
        yield from right_complaints(task, layout)
    yield from wrong_complaints(task, LAYOUTS[-1])
