"""The commands of ``gnt exam`` for practical tasks: list, start, status, check, submit, report, solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.course.exam.attempt import Attempt, AttemptFile

Name = Annotated[
    str,
    typer.Argument(
        help="A task of gnt exam list. Default: the one whose folder you are in, otherwise the one started last."
    ),
]


def exam_list(json: Json = False) -> None:
    """List the tasks of the practical exam, and your results."""
    from gn_tutorial.course.exam.task import load_tasks

    known = _file().read()
    rows = []
    for task in load_tasks():
        latest, best = known.latest(task.name), known.best(task.name)
        state = "" if latest is None else "handed in" if latest.submissions else "open"
        rows.append((task.name, task.grade, _dtypes(task), state, f"{best['points']:g}" if best else ""))
    if json:
        keys = ("task", "grade", "dtypes", "state", "points")
        emit_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    print_table(("task", "grade", "dtypes", "state", "points of 100"), rows, title="practical exam, two hours each")
    print("gnt exam start TASK makes the folder and starts the clock; gnt exam theory asks questions.")


def exam_start(
    name: Annotated[str, typer.Argument(metavar="TASK", help="A task of gnt exam list.")],
    layout: Annotated[str, typer.Option(help="8.x (macro structs) or 9.x (plain structs).")] = "9.x",
    soc: Annotated[str, typer.Option(help="The chip of AddConfig; ascend310b for such a board.")] = "ascend910b",
    minutes: Annotated[float | None, typer.Option(help="The time limit. Default: two hours.")] = None,
    untimed: Annotated[bool, typer.Option("--untimed", help="No limit of time.")] = False,
    folder: Annotated[Path | None, typer.Option(help="The folder to make. Default: my_exam/TASK.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Start again; the folder of the earlier attempt stays.")] = False,
) -> None:
    """Make a task's folder, an operator project with gaps, and start the clock. A task already started continues."""
    from gn_tutorial.course.exam.attempt import MINUTES, Attempt, default_folder
    from gn_tutorial.course.exam.handout import handout, write
    from gn_tutorial.course.exam.task import find_task
    from gn_tutorial.projects.chips import find_soc

    task, file = find_task(name), _file()
    if untimed and minutes is not None:
        raise ArgumentError("--untimed and --minutes exclude each other", hint="give one of them")
    if minutes is not None and not 0 < minutes <= 24 * 60:
        raise ArgumentError(f"{minutes:g} minutes is not a time for a task", hint="more than 0, a day at most")
    there = file.read().latest(name)
    if there is not None and not new:
        print(f"{name} was already started; --new starts again, in another folder")
        _print_status(there, file.now())
        return
    files = handout(task, layout, soc)
    root = write(files, (folder or default_folder(name)).expanduser().absolute())
    now = file.now()
    limit = None if untimed else minutes or MINUTES
    attempt = Attempt(name, str(root), layout, find_soc(soc).config, limit, now, now)
    file.keep(lambda known: known.with_(attempt))
    print(f"{task.title}: {root}")
    print("README.md has the task. The clock goes on while the terminal is closed; nothing is lost then.")
    _print_status(attempt, now)


def exam_status(name: Name = "", json: Json = False) -> None:
    """Show how much time is left, which gaps are open, and what was handed in."""
    file = _file()
    attempt, now = file.read().chosen(name, Path.cwd()), file.now()
    if json:
        left = attempt.left(now)
        emit_json(
            {
                "task": attempt.task,
                "folder": attempt.folder,
                "layout": attempt.layout,
                "minutes_left": None if left is None or attempt.finished else round(left / 60, 1),
                "gaps": _gaps(attempt),
                "checks": attempt.checks,
                "submissions": attempt.submissions,
            }
        )
        return
    _print_status(attempt, now)


def exam_check(name: Name = "") -> None:
    """Run the test that the folder came with (run.sh). It is as lax as an exam's own. Check as often as you like."""
    from gn_tutorial.course.exam.submission_files import handed_in
    from gn_tutorial.projects.test_runner.own_test import run_own_test

    file = _file()
    attempt = file.read().chosen(name, Path.cwd())
    handed_in(Path(attempt.folder))
    found = run_own_test(attempt.folder)
    attempt = file.update(attempt, lambda one: one.checked(file.now()))
    print(found)
    print(f"the given test {_verdict(attempt) if found.passed else 'fails'}")
    _print_time(attempt, file.now())
    if not found.passed:
        raise typer.Exit(1)


def exam_submit(name: Name = "", json: Json = False) -> None:
    """Hand in the folder as it stands. A strict judge tries hidden sizes, compares every element, runs all checks.

    You get points for each part. The first submission ends the attempt. A later one is practice; the report says so.
    """
    from gn_tutorial.course.exam.judge import judge
    from gn_tutorial.course.exam.task import find_task

    file = _file()
    attempt = file.read().chosen(name, Path.cwd())
    at, task = file.now(), find_task(attempt.task)  # take the time now, because judging takes long
    with working(f"judging {attempt.task}"):
        marks = judge(task, Path(attempt.folder), attempt.layout, attempt.soc)
    record = marks.record()
    attempt = file.update(attempt, lambda one: one.submitted(record, at))
    if json:
        emit_json(attempt.submissions[-1])
    else:
        _print_report(attempt, len(attempt.submissions) - 1)
    if not marks.accepted:
        raise typer.Exit(1)


def exam_report(name: Name = "", json: Json = False) -> None:
    """Show the judge's last report: points by part, why each point was lost, what to read."""
    attempt = _file().read().chosen(name, Path.cwd())
    if not attempt.submissions:
        raise ArgumentError(f"{attempt.task} was not handed in", hint=f"gnt exam submit {attempt.task}")
    if json:
        emit_json(attempt.submissions)
        return
    _print_report(attempt, len(attempt.submissions) - 1)
    if len(attempt.submissions) > 1:
        before = ", ".join(f"{one['points']:g}{' (late)' if one['late'] else ''}" for one in attempt.submissions)
        print(f"all submissions: {before}; the first counts")


def exam_solution(
    name: Annotated[str, typer.Argument(metavar="TASK", help="A task of gnt exam list.")],
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    layout: Annotated[str, typer.Option(help="8.x (macro structs) or 9.x (plain structs).")] = "9.x",
    which: Annotated[str, typer.Option(help="One of the three solutions; they are written differently.")] = "",
) -> None:
    """Make the folder of a task with our solution in its gaps. This is refused while an attempt of yours is open."""
    from gn_tutorial.course.exam.handout import solved, write
    from gn_tutorial.course.exam.solution_files import FIRST, right_solutions
    from gn_tutorial.course.exam.task import find_task

    task, file = find_task(name), _file()
    latest = file.read().latest(name)
    if latest is not None and not latest.submissions and not latest.over(file.now()):
        raise ArgumentError(f"your attempt at {name} is open", hint=f"gnt exam submit {name}, then look at ours")
    found = right_solutions(task)
    if (which or FIRST) not in found:
        raise ArgumentError(f"there is no solution '{which}' of {name}", hint=", ".join(found))
    root = write(solved(task, found[which or FIRST], layout), folder.expanduser().absolute())
    print(f"made {root}; others: {', '.join(one for one in found if one != (which or FIRST))} (--which)")


COMMANDS = {
    "list": exam_list,
    "start": exam_start,
    "status": exam_status,
    "check": exam_check,
    "submit": exam_submit,
    "report": exam_report,
    "solution": exam_solution,
}


def _file() -> AttemptFile:
    from gn_tutorial.course.exam.attempt import default_attempt_file

    return default_attempt_file(time.time)


def _dtypes(task: Any) -> str:
    from gn_tutorial.projects.dtype_columns import dtype_name

    return ", ".join(dict.fromkeys(dtype_name(one) for one in task.definition.inputs[0].dtypes))


def _gaps(attempt: Attempt) -> dict[str, int]:
    from gn_tutorial.course.exam.submission_files import handed_in

    return handed_in(Path(attempt.folder)).gaps()


def _print_status(attempt: Attempt, now: float) -> None:
    print(f"{attempt.task} ({attempt.layout}, {attempt.soc}): {attempt.folder}")
    _print_time(attempt, now)
    gaps = _gaps(attempt)
    marked = ", ".join(f"{name} ({many})" for name, many in gaps.items())
    print(f"marks of gaps (YOUR TURN): {marked}" if gaps else "no mark of a gap (YOUR TURN) is left")
    print(f"the given test was run {attempt.checks} times, handed in {len(attempt.submissions)} times")


def _verdict(attempt: Attempt) -> str:
    """Return the words after "the given test" for a passed test: the verdict and the next step."""
    if not attempt.submissions:
        return "passes; gnt exam submit asks for more"
    return "passes; it was handed in before, so another submission is practice"


def _print_time(attempt: Attempt, now: float) -> None:
    from gn_tutorial.course.exam.terminal_paper import clock

    spent, left = attempt.spent(now) / 60, attempt.left(now)
    begun = f"begun at {clock(attempt.started)}"
    if attempt.finished is not None:
        print(f"{begun}, handed in after {spent:.0f} min{_lateness(attempt)}")
    elif left is None or attempt.deadline is None:
        print(f"{begun}, {spent:.0f} min ago; no limit of time")
    elif left:
        print(f"{begun}; {left / 60:.0f} of {attempt.minutes:g} min are left, until {clock(attempt.deadline)}")
    else:
        over = (now - attempt.deadline) / 60
        print(f"{begun}; the time ended {over:.0f} min ago: work handed in now is late")


def _lateness(attempt: Attempt) -> str:
    if attempt.minutes is None:
        return " (no limit of time)"
    late = attempt.submissions[0]["late"]
    return f", later than its {attempt.minutes:g} min" if late else f" of {attempt.minutes:g}"


def _print_report(attempt: Attempt, number: int) -> None:
    from gn_tutorial.course.exam.marks import Loss

    said: Mapping[str, Any] = attempt.submissions[number]
    rows = [(part, f"{earned:g} of {most}") for part, (earned, most) in said["parts"].items()]
    verdict = "accepted" if said["accepted"] else "refused"
    print_table(("part", "points"), rows, title=f"{attempt.task}: {verdict}, {said['points']:g} of 100 points")
    for loss in said["losses"]:
        print("\n".join(Loss(**loss).lines()))
    if said["cases"]:
        print(f"{said['cases']} hidden calls, drawn by the text of your files")
    if said["share"] is not None:
        print(f"modelled time: {said['share']:.0%} of what the bound allows (modelled, not measured on a device)")
    if said.get("spaces"):  # submissions of earlier versions have no such line
        print(said["spaces"])
    if number:
        print("handed in before: practice, the first submission counts")
    elif said["late"]:
        print("late: an exam would not have accepted it")
    _print_time(attempt, said["at"])
