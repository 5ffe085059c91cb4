"""``gnt progress``: writes a learner's progress to a file, which the learner may hand in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel

progress_app = typer.Typer(help="Your progress as a file, for a teacher.", no_args_is_help=True)


@progress_app.callback()
def _progress() -> None:
    """Your progress as a file, for a teacher."""


@progress_app.command("export")
def export(
    file: Annotated[Path | None, typer.Argument(help="The file. Default: progress-NAME.json, here.")] = None,
    name: Annotated[str, typer.Option(help="The name in it. Default: that of your login.")] = "",
) -> None:
    """Write your progress into a file that you may hand in; nothing is sent anywhere.

    The file has the exercises and puzzles that you passed, the hints that you read, your answers to quizzes and theory
    papers, and the points of exam tasks. It has none of your sources.
    """
    from gn_tutorial.cli.learn_session import warn
    from gn_tutorial.course.classroom.progress_export import default_file, own_export, write_export

    made = own_export(name, warn)
    path = file or default_file(made.name)
    write_export(made, path)
    known = made.known
    passed, puzzles, attempts = len(known.progress.passed), len(known.progress.puzzles), len(known.attempts.attempts)
    print(f"{path}: progress of {made.name}; exercises passed: {passed}, puzzles: {puzzles}, exam attempts: {attempts}")
    print("it is yours: hand it in where you are asked for it, or do not")


COMMAND = Command("progress", progress_app, Panel.LEARN, 200)
