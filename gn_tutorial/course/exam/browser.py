"""``gnt.exam_theory()``: the theory paper in a notebook, answered by clicks like the quizzes.

``gnt exam theory`` uses the same paper, so a paper that was begun in a terminal goes on here.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.paper import MINUTES_A_QUESTION, QUESTIONS, Paper, draw
from gn_tutorial.course.exam.paper_file import PaperFile, default_paper_file
from gn_tutorial.course.exam.terminal_paper import summary
from gn_tutorial.course.quizzes.quiz import WIDGET_VIEW
from gn_tutorial.course.quizzes.quiz_question import known_answers
from gn_tutorial.course.quizzes.quiz_widget import AskedWidget, as_html, not_kept
from gn_tutorial.errors import ArgumentError


class TheoryPaper:
    """A theory paper, open or finished, that a notebook shows. said: lines to show at first."""

    def __init__(self, file: PaperFile, paper: Paper, said: Sequence[str] = ()) -> None:
        self.file, self.paper, self._said = file, paper, tuple(said)

    def __repr__(self) -> str:
        known = self.file.read() or self.paper
        state = "handed in" if known.finished is not None else "open"
        return f"Theory paper {known.seed}: {len(known.asked)} questions, {len(known.answers)} answered, {state}"

    def _ipython_display_(self) -> None:
        """Show the widget in a live notebook; elsewhere show the command for a terminal."""
        from IPython import get_ipython
        from IPython.display import display

        if hasattr(get_ipython(), "kernel"):
            # Without anywidget (extra `lab`), the last statement shows the command for a terminal instead.
            with contextlib.suppress(ModuleNotFoundError):
                # Since ipywidgets 8 the bundle is a pair of data and metadata.
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
    """Return your theory paper: an open one goes on, a finished one is for reading. Draw one if there is none.

    new: draw another paper even if there is one; an open paper is handed in as it stands. The other arguments matter
    only for a paper that is drawn. topics: their names; empty: all. count: the number of questions. minutes: the limit
    of the whole paper; None: 1.5 for each question. untimed: no limit. Raises ArgumentError.
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


class PaperWidget(AskedWidget):
    """The widget of the paper in ``file``; the file must hold a paper. said: lines to show at first."""

    def __init__(self, file: PaperFile, said: Sequence[str] = ()) -> None:
        paper = file.read()
        assert paper is not None, "drawn before it is shown"
        self._file, self._paper = file, paper
        self._asked = [one for _, one in paper.questions(file.bank)]
        super().__init__(
            name="theory",
            questions=[as_html(one) for one in self._asked],
            answers=known_answers(self._asked, paper.answers),
            paper=True,
            finished=paper.finished is not None,
            deadline=paper.deadline or 0.0,
            note="\n".join([*said, *self._result(paper)]),
        )
        self.observe(self._answered, "answers")
        self.observe(self._handed_in, "finished")

    def _answered(self, change: Mapping[str, Any]) -> None:
        """Store the answers that changed. If the paper's time is over by then, show its result."""
        if self._paper.finished is not None:
            return
        try:
            for one in self._asked:
                letters = change["new"].get(one.key, "")
                valid = not letters or known_answers([one], {one.key: letters})
                if letters != change["old"].get(one.key, "") and valid:
                    self._paper = self._file.answer(one.key, letters)
        except ArgumentError as error:
            self.note = not_kept(error)
            return
        if self._paper.finished is not None:
            self._end()

    def _handed_in(self, change: Mapping[str, Any]) -> None:
        if not change["new"] or self._paper.finished is not None:
            return
        try:
            self._paper = self._file.hand_in()
        except ArgumentError as error:
            self.note = not_kept(error)
            return
        self._end()

    def _end(self) -> None:
        """Show the answers that count, and the result."""
        self.answers = known_answers(self._asked, self._paper.answers)
        self.finished = True
        self.note = "\n".join(self._result(self._paper))

    def _result(self, paper: Paper) -> list[str]:
        if paper.finished is None:
            return []
        result = self._file.result(paper)
        topics = [f"{title}: {right} of {asked}" for title, (right, asked) in result.by_topic.items()]
        return [*summary(result), *topics]
