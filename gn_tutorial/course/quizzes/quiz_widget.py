"""The widget of a quiz in a live notebook, answered by clicks. Only this module of the folder imports anywidget.

It uses anywidget because each option is a button with an explanation below it, which takes a few lines of HTML but is
hard to arrange from the controls of ipywidgets. The page judges a choice by itself, so that it reacts to a click while
the kernel is busy; the kernel only stores the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from gn_tutorial.course.progress import ProgressFile, default_progress
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion, known_answers, marked
from gn_tutorial.errors import ArgumentError
from gn_tutorial.translation.texts import translated

_HERE = Path(__file__).parent


class AskedWidget(anywidget.AnyWidget):
    """Questions on a page. ``answers``: key of a question -> letters. ``note``: a text shown below the questions.

    In a quiz the first choice counts and is explained at once. In a ``paper`` choices may change, and nothing is
    explained before the paper is ``finished``: by the page's button, or at ``deadline`` (seconds since 1970, 0: none).
    """

    _esm = (_HERE / "quiz_widget.js").read_text(encoding="utf-8")
    _css = (_HERE / "quiz_widget.css").read_text(encoding="utf-8")
    name = traitlets.Unicode().tag(sync=True)
    questions = traitlets.List().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    answers = traitlets.Dict().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    paper = traitlets.Bool(False).tag(sync=True)
    finished = traitlets.Bool(False).tag(sync=True)
    deadline = traitlets.Float(0.0).tag(sync=True)

    @traitlets.default("words")
    def _words(self) -> dict[str, str]:
        return page_words()


def page_words() -> dict[str, str]:
    """Return the page's words about answers, in the learner's language.

    The words about a paper's time and its handing in are not among them. They stay English.
    """
    return {
        "right": translated("right"),
        "wrong": translated("wrong"),
        "good": translated("Right."),
        "not": translated("Not right: it is {letters}."),
        "open": translated("Left open: it is {letters}."),
        "and": translated("and"),
        "source": translated("Source: {source}"),
        "several": translated("Several are right."),
        "score": translated("{score} of {count} right"),
        "left": translated(", {open} not answered"),
        "again": translated("answer anew"),
        "check": translated("check"),
    }


class QuizWidget(AskedWidget):
    """One quiz, with the answers that the learner's progress has."""

    def __init__(self, name: str, asked: Sequence[QuizQuestion], progress: ProgressFile | None = None) -> None:
        self._asked, self._said = asked, []
        self._progress = progress or default_progress(self._said.append)
        answers = {}
        try:
            answers = known_answers(asked, self._progress.read().quizzes.get(name, {}))
        except ArgumentError as error:
            self._said.append(not_kept(error))
        questions = [as_html(question) for question in asked]
        super().__init__(name=name, questions=questions, answers=answers, note=self._news())
        self.observe(self._answered, "answers")

    def _answered(self, change: Mapping[str, Any]) -> None:
        """Store new answers in the progress; remove all answers if the learner begins the quiz anew."""
        before, now = (known_answers(self._asked, change[key]) for key in ("old", "new"))
        new = {key: letters for key, letters in now.items() if before.get(key) != letters}
        try:
            if new:
                self._progress.update(lambda known: known.with_answers(self.name, new))
            elif not now:
                self._progress.update(lambda known: known.without_answers(self.name))
        except ArgumentError as error:
            self._said.append(not_kept(error))
        self.note = self._news()

    def _news(self) -> str:
        """Return the messages about the progress file since the last call."""
        said = "\n".join(self._said)
        self._said.clear()
        return said


def as_html(question: QuizQuestion) -> dict[str, Any]:
    """Return a question's data for the page, with its texts as HTML."""
    return {
        "key": question.key,
        "text": marked(question.text),
        "right": question.right,
        "source": marked(question.source),
        "options": [
            {"letter": one.letter, "text": marked(one.text), "why": marked(one.why)} for one in question.options
        ],
    }


def not_kept(error: ArgumentError) -> str:
    """Return the page's message for answers that cannot be read or stored."""
    return f"Your answers are not kept: {error}"
