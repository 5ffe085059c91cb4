"""``gnt puzzle``: shows and checks a puzzle in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel


def solve_puzzle(
    name: Annotated[str, typer.Argument(help="A puzzle, for example 04.count; without it all are listed.")] = "",
    file: Annotated[str, typer.Argument(help="A file with your lines; - reads them from standard input.")] = "",
    hint: Annotated[bool, typer.Option("--hint", help="Show its hints.")] = False,
) -> None:
    """Solve a puzzle: a few lines of C++, checked at once, with a picture of their output; exit code 1 if wrong."""
    from gn_tutorial.cli.learn_session import warn
    from gn_tutorial.cli.terminal import print_table
    from gn_tutorial.course.progress import default_progress
    from gn_tutorial.course.puzzles.bank import find, load
    from gn_tutorial.course.puzzles.check import puzzle

    progress = default_progress(warn)
    if not name:
        passed = progress.read().puzzles
        rows = [(one.id, one.title, f"passed {passed[one.id]}" if one.id in passed else "") for one in load().values()]
        print_table(("puzzle", "title", "state"), rows)
        return
    chosen = find(name)
    if hint:
        print("\n".join(f"hint {number}: {text}" for number, text in enumerate(chosen.hints, 1)))
        return
    result = puzzle(name, _lines(file), progress=progress)
    if result.status == "not attempted":
        print(chosen.stub().strip())
    print(result)
    if result.status == "failed":
        raise typer.Exit(1)


def _lines(file: str) -> str:
    """Return the learner's lines; "" without a file. Raises ArgumentError if the file cannot be read."""
    from gn_tutorial.errors import ArgumentError

    if not file:
        return ""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise ArgumentError(f"cannot read your lines: {error.strerror}", where=file) from error


COMMAND = Command("puzzle", solve_puzzle, Panel.LEARN, 25)
