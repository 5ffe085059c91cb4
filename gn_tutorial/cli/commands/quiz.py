"""``gnt quiz``: one quiz in the terminal."""

from __future__ import annotations

import sys

from gn_tutorial.cli.terminal import emit_json
from gn_tutorial.exercises.quiz import quiz


def run(name: str, *, as_json: bool) -> None:
    """Ask the questions; answers come from standard input, a line each. Raises ArgumentError for an unknown quiz."""
    chosen = quiz(name)
    if as_json:
        emit_json(
            [{"question": q.text, "right": q.right, "source": q.source, "options": q.options} for q in chosen.questions]
        )
        return
    try:
        chosen.ask(input, print)
    except EOFError:
        print("\nstopped before the end", file=sys.stderr)
