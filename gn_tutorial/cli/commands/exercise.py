"""``gnt dev exercise``: lists and checks the exercises, for authors and CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.course.exercises.author_check import Complaint
    from gn_tutorial.course.exercises.registry import Exercise

exercise_app = typer.Typer(help="List and check the exercises.", no_args_is_help=True)


@exercise_app.command("list")
def list_exercises(json: Json = False) -> None:
    """List the exercises."""
    from gn_tutorial.course.exercises.registry import KINDS, load_course

    course = load_course()
    if json:
        emit_json([_facts(exercise) for exercise in course])
        return
    rows = [(e.id, e.title, KINDS[e.kind], e.difficulty, f"{e.minutes} min", str(len(e.wrong))) for e in course]
    print_table(("exercise", "title", "what to do", "difficulty", "time", "wrong solutions"), rows)


@exercise_app.command("check")
def check_exercises(
    exercises: Annotated[Many, typer.Argument(help="Ids; without them all exercises, and stray files.")] = None,
    json: Json = False,
) -> None:
    """Check that each stub fails, each solution passes, and each wrong solution gets the message that fits it."""
    if not _check_all(exercises or [], as_json=json):
        raise typer.Exit(1)


def _check_all(names: list[str], *, as_json: bool) -> bool:
    """Check the exercises with these ids; without ids, all exercises and the folders. Returns whether all is right."""
    from gn_tutorial.course.exercises.author_check import check_exercise, check_folders
    from gn_tutorial.course.exercises.registry import load_course

    course = load_course()
    chosen = [course.find(name) for name in names] or list(course.exercises)
    if not chosen:
        raise ArgumentError("there are no exercises", where=str(course.solutions))
    found: list[Complaint] = [] if names else check_folders(course)
    for exercise in chosen:
        with working(f"checking {exercise.id}"):
            mine = list(check_exercise(exercise))
        found += mine
        if not as_json:
            verdict = "ok" if not mine else f"{len(mine)} complaint{'s' * (len(mine) > 1)}"
            print(f"{exercise.id} {exercise.title}: {verdict} (stub, solution, {len(exercise.wrong)} wrong solutions)")
    if as_json:
        emit_json([vars(one) for one in found])
    else:
        for one in found:
            print(f"{one.exercise or 'folders'}: {one.text}")
    return not found


def _facts(exercise: Exercise) -> dict[str, object]:
    names = ("id", "title", "kind", "notebook", "section", "minutes", "difficulty", "objectives", "file", "task")
    return {name: getattr(exercise, name) for name in names} | {"wrong": [one.name for one in exercise.wrong]}


COMMAND = Command("exercise", exercise_app, Panel.DEV, 10, old_names=("exercise",))
