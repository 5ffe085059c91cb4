"""A theory paper that is answered by clicks: the quiz's widget, without a word on right and wrong before the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gn_tutorial.course.exam.paper import Paper
from gn_tutorial.course.exam.paper_file import PaperFile
from gn_tutorial.course.exam.terminal_paper import summary
from gn_tutorial.course.quizzes.quiz_question import known_answers
from gn_tutorial.course.quizzes.quiz_widget import AskedWidget, as_html, not_kept
from gn_tutorial.errors import ArgumentError


class PaperWidget(AskedWidget):
    """The paper of one file, which has to hold one. said: what there is to say at first."""

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
        """Note what differs from before; what comes after the end is not taken, and the page is told so."""
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
        """The page shows what counts."""
        self.answers = known_answers(self._asked, self._paper.answers)
        self.finished = True
        self.note = "\n".join(self._result(self._paper))

    def _result(self, paper: Paper) -> list[str]:
        if paper.finished is None:
            return []
        result = self._file.result(paper)
        topics = [f"{title}: {right} of {asked}" for title, (right, asked) in result.by_topic.items()]
        return [*summary(result), *topics]
