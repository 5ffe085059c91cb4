"""``gnt exam``: the theory paper, the practical tasks (from ``cli/exam_task``), and the report on the objectives."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.exam_task import COMMANDS
from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.course.exam.paper import QUESTIONS
from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.course.exam.paper import Paper
    from gn_tutorial.course.exam.paper_file import PaperFile

exam_app = typer.Typer(help="Tasks and questions as in an exam, against the clock.", no_args_is_help=True)
for _name, _command in COMMANDS.items():
    exam_app.command(_name)(_command)


@exam_app.command("goals")
def exam_goals(
    plot: Annotated[Path | None, typer.Option(help="Draw a bar for each objective into this .png file.")] = None,
    json: Json = False,
) -> None:
    """Show what you can do after the course and for the exam, how far you are, and three things to do next."""
    from gn_tutorial.cli.pictures import check_paths
    from gn_tutorial.course.exam import goals_report

    check_paths(plot)
    report = goals_report.exam_goals()
    if plot is not None:
        with working(f"drawing {plot}"):
            from gn_tutorial.plot.objectives import goals

            goals(report).save(plot)
    if json:
        emit_json(report.record())
        return
    print_table(goals_report.HEADERS, report.rows(), title=report.reached())
    print("\n".join(report.next_lines()))
    if plot is not None:
        print(f"picture: {plot}")


@exam_app.command("theory")
def exam_theory(
    topic: Annotated[Many, typer.Option(help="Only of this topic; may be given several times.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="The time limit. Default: 1.5 minutes for each question.")
    ] = None,
    untimed: Annotated[bool, typer.Option("--untimed", help="No limit of time.")] = False,
    count: Annotated[int, typer.Option(help="How many questions.")] = QUESTIONS,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same paper.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Hand in an open paper as it stands, and draw another.")] = False,
    review: Annotated[bool, typer.Option("--review", help="The last paper, with every explanation.")] = False,
    json: Json = False,
) -> None:
    """Write a theory paper, whose questions are drawn from the bank by topic. It is marked at the end.

    Every answer is saved at once, and an open paper continues where you left it. The clock keeps running while the
    terminal is closed. --json asks nothing: it prints the current paper with its questions and, once it is finished,
    the right answers.
    """
    import time

    from gn_tutorial.course.exam.bank import load_bank
    from gn_tutorial.course.exam.paper_file import default_paper_file

    file = default_paper_file(load_bank(), time.time, lambda text: print(f"gnt: {text}", file=sys.stderr))
    if json:
        _as_json(file)
        return
    if review:
        _review(file)
        return
    paper = _open_paper(file, new, given=bool(topic or minutes or untimed or seed is not None or count != QUESTIONS))
    try:
        if paper is None:
            paper = _drawn(file, topic or [], minutes, untimed, count, seed)
        paper = _written(file, paper)
    except (EOFError, KeyboardInterrupt):
        _stopped(file)
        return
    _show(file, paper)


def _open_paper(file: PaperFile, new: bool, *, given: bool) -> Paper | None:
    """Return the paper to continue or to show; None if a new paper is to be drawn.

    new: hand in an open paper, and set a file aside that cannot be read. given: whether there are options for a new
    paper. Without ``new``, raises ArgumentError if the file cannot be read, or if a paper is open and ``given``.
    """
    try:
        paper = file.read()
    except ArgumentError:
        if not new:
            raise
        print(f"the file of the paper before is kept as {file.set_aside()}")
        return None
    if paper is None:
        return None
    if paper.finished is not None:
        # If the deadline passed while the learner was away, the result is recorded now and shown once.
        noted = len(file.progress.read().theory)
        paper = file.change(lambda there, now: there.at(now))
        if len(file.progress.read().theory) > noted and not new:
            print("the time of the open paper ended while you were away:")
            return paper
        return None
    if new:
        print("the open paper is handed in as it stands:")
        _show(file, file.hand_in())
        return None
    if given:
        raise ArgumentError(
            f"a paper is open: {len(paper.answers)} of {len(paper.asked)} answered",
            hint="gnt exam theory goes on with it; with --new it is handed in as it stands, and another one is drawn",
        )
    return paper


def _drawn(
    file: PaperFile, topics: list[str], minutes: float | None, untimed: bool, count: int, seed: int | None
) -> Paper:
    """Return a new paper. Its time begins when the learner presses Enter.

    Raises ArgumentError for --untimed with --minutes, and like ``draw``.
    """
    import secrets

    from gn_tutorial.course.exam.paper import MINUTES_A_QUESTION, draw
    from gn_tutorial.course.exam.terminal_paper import KEYS

    if untimed and minutes is not None:
        raise ArgumentError("--untimed and --minutes exclude each other", hint="give one of them")
    chosen = secrets.randbelow(1_000_000) if seed is None else seed
    trial = draw(file.bank, chosen, file.now(), topics=topics, count=count, minutes=minutes)
    limit = None if untimed else minutes or len(trial.asked) * MINUTES_A_QUESTION
    time = "no limit of time" if limit is None else f"{limit:g} minutes; the clock does not stop when you leave"
    print(f"theory paper {chosen}: {len(trial.asked)} questions, {time}")
    print("A question counts if all of its right options are chosen, and no other. Ctrl-D leaves; answers are kept.")
    print(KEYS)
    input("Enter begins: ")
    return file.write(draw(file.bank, chosen, file.now(), topics=topics, count=count, minutes=limit))


def _written(file: PaperFile, paper: Paper) -> Paper:
    from gn_tutorial.course.exam.terminal_paper import Sitting, clock

    if paper.finished is not None:
        return paper
    if paper.answers or paper.spent(file.now()) > 60:
        minutes = paper.spent(file.now()) / 60
        print(f"the paper begun at {clock(paper.started)}, {minutes:.0f} min ago; {len(paper.answers)} answered")
    return Sitting(file, input, print).write(paper)


def _stopped(file: PaperFile) -> None:
    from gn_tutorial.course.exam.terminal_paper import clock

    paper = file.read()
    if paper is None or paper.finished is not None:
        print("\nno paper was begun", file=sys.stderr)
        return
    until = "" if paper.deadline is None else f"; its time is over at {clock(paper.deadline)}"
    print(f"\nleft with {len(paper.answers)} of {len(paper.asked)} answered{until}", file=sys.stderr)
    print("gnt exam theory goes on with it", file=sys.stderr)


def _show(file: PaperFile, paper: Paper) -> None:
    """Print the result by topic, the sources to read, and the results of earlier papers."""
    from gn_tutorial.course.exam.terminal_paper import summary

    result = file.result(paper)
    rows = [(title, f"{right} of {asked}") for title, (right, asked) in result.by_topic.items()]
    print_table(("topic", "right"), rows)
    print("\n".join(summary(result)))
    if result.to_read():
        print("to read:")
        print("\n".join(f"  {source}" for source in result.to_read()))
    before = file.progress.read().theory[:-1]
    if before:
        print("before: " + ", ".join(f"{one['right']} of {one['asked']} ({one['date'][:10]})" for one in before[-5:]))
    print("every explanation: gnt exam theory --review")


def _review(file: PaperFile) -> None:
    from gn_tutorial.course.exam.terminal_paper import review, summary

    paper = file.read()
    if paper is None:
        raise ArgumentError("there is no paper to review", hint="gnt exam theory begins one")
    if paper.finished is None:
        raise ArgumentError("the paper is open: explanations come when it is handed in", hint="gnt exam theory")
    result = file.result(paper)
    for number, one in enumerate(result.marked, 1):
        print("\n".join(review(one, number)))
    print()
    print("\n".join(summary(result)))


def _as_json(file: PaperFile) -> None:
    paper = file.read()
    if paper is None:
        raise ArgumentError("there is no theory paper yet", hint="gnt exam theory begins one")
    done = paper.finished is not None
    questions = []
    for topic, one in paper.questions(file.bank):
        known = {"topic": topic.name, "question": one.text, "chosen": paper.answers.get(one.key, "")}
        options = [{"letter": option.letter, "text": option.text} for option in one.options]
        questions.append(
            known
            | ({"right": one.right, "source": one.source, "options": one.options} if done else {"options": options})
        )
    left = paper.left(file.now())
    emit_json(
        {
            "seed": paper.seed,
            "finished": done,
            "minutes_left": None if left is None or done else round(left / 60, 1),
            "result": file.result(paper).record() if done else None,
            "questions": questions,
        }
    )


COMMAND = Command("exam", exam_app, Panel.LEARN, 35)
