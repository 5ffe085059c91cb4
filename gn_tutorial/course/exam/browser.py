"""``gnt.exam_theory()``: the theory paper in a notebook, clickable as the quizzes are.

It is the same paper as that of ``gnt exam theory``: one that was begun in a terminal goes on here.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Sequence

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.paper import MINUTES_A_QUESTION, QUESTIONS, Paper, draw
from gn_tutorial.course.exam.paper_file import PaperFile, default_paper_file
from gn_tutorial.course.quizzes.quiz import WIDGET_VIEW
from gn_tutorial.errors import ArgumentError


class TheoryPaper:
    """The open paper, or one that was just drawn. Show it in a notebook; its time runs already."""

    def __init__(self, file: PaperFile, paper: Paper, said: Sequence[str] = ()) -> None:
        self.file, self.paper, self._said = file, paper, tuple(said)

    def __repr__(self) -> str:
        known = self.file.read() or self.paper
        state = "handed in" if known.finished is not None else "open"
        return f"Theory paper {known.seed}: {len(known.asked)} questions, {len(known.answers)} answered, {state}"

    def _ipython_display_(self) -> None:
        """The widget in a live notebook; elsewhere a line that says how to go on."""
        from IPython import get_ipython
        from IPython.display import display

        if hasattr(get_ipython(), "kernel"):
            # Without anywidget (extra `lab`) there is the terminal.
            with contextlib.suppress(ModuleNotFoundError):
                from gn_tutorial.course.exam.paper_widget import PaperWidget

                # A pair since ipywidgets 8: data and metadata.
                shown = PaperWidget(self.file, self._said)._repr_mimebundle_()
                data = shown[0] if isinstance(shown, tuple) else shown
                display({WIDGET_VIEW: data[WIDGET_VIEW]}, raw=True)
                return
        display({"text/plain": f"{self!r}\nin a terminal: gnt exam theory"}, raw=True)


def exam_theory(
    topics: Sequence[str] = (),
    *,
    minutes: float | None = None,
    untimed: bool = False,
    count: int = QUESTIONS,
    seed: int | None = None,
    new: bool = False,
) -> TheoryPaper:
    """The open theory paper, or a new one: ``count`` questions of these topics, 1.5 minutes each unless told.

    What is chosen here matters for a new paper only. new: hand in an open paper as it stands and draw another one; a
    finished one stays to be read until then. Raises ArgumentError.
    """
    said: list[str] = []
    file = default_paper_file(load_bank(), time.time, said.append)
    paper = file.read()
    if paper is not None and paper.finished is None and new:
        file.hand_in()
    if paper is None or new:
        if untimed and minutes is not None:
            raise ArgumentError("untimed and minutes exclude each other", hint="give one of them")
        chosen = secrets.randbelow(1_000_000) if seed is None else seed
        trial = draw(file.bank, chosen, file.now(), topics=topics, count=count, minutes=minutes)
        limit = None if untimed else minutes or len(trial.asked) * MINUTES_A_QUESTION
        paper = file.write(draw(file.bank, chosen, file.now(), topics=topics, count=count, minutes=limit))
    return TheoryPaper(file, paper, said)
