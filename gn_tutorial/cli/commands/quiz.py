"""``gnt quiz``: asks one quiz in the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json


def ask_quiz(
    notebook: Annotated[str, typer.Argument(help="The notebook's number, for example 00.")],
    json: Json = False,
) -> None:
    """Answer a notebook's quiz in the terminal; your answers are kept, and gnt learn list has the score."""
    from gn_tutorial.course.progress import default_progress
    from gn_tutorial.course.quizzes.quiz import quiz

    chosen = quiz(notebook)
    if json:
        emit_json(
            [{"question": q.text, "right": q.right, "source": q.source, "options": q.options} for q in chosen.questions]
        )
        return
    progress = default_progress(lambda text: print(f"gnt: {text}", file=sys.stderr))

    def note(key: str, letters: str) -> None:
        progress.update(lambda known: known.with_answers(chosen.name, {key: letters}))

    try:
        chosen.ask(input, print, note)
    except EOFError:
        print("\nstopped before the end", file=sys.stderr)


COMMAND = Command("quiz", ask_quiz, Panel.LEARN, 30)
