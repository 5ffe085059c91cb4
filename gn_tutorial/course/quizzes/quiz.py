"""Quizzes: ``quiz("00")`` in a notebook, ``gnt quiz 00`` in a terminal, from ``exercises/quizzes/NN.toml``.

In a notebook a quiz has two outputs. The stored output is HTML without random ids and without state, so it is equal
after each run, and readable where no Python kernel runs. The right answers are in <details>, which the browser opens.
In a live notebook a widget (``quiz_widget``) is the second output. It hides the stored output, and stores the learner's
answers in the progress.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.course.exercises.registry import exercises_root
from gn_tutorial.course.quizzes.quiz_file import read_questions
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion, known_answers, plain, question_html
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.translation.texts import translated

#: The MIME type of an output that refers to a widget of the running kernel by an id, which differs in each run. So no
#: notebook stores such an output.
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
FEWEST_QUESTIONS = 5


@dataclass(frozen=True, repr=False)
class Quiz:
    """The questions of one notebook. A notebook shows the object; ``ask`` asks the questions in a terminal."""

    name: str
    questions: tuple[QuizQuestion, ...]

    def standing(self, answers: Mapping[str, str]) -> tuple[int, int]:
        """Return how many questions are answered right, and how many are answered. answers: question key -> letters."""
        known = known_answers(self.questions, answers)
        return sum(known.get(one.key) == one.right for one in self.questions), len(known)

    def ask(
        self,
        answer: Callable[[str], str],
        say: Callable[[str], None],
        note: Callable[[str, str], None] = lambda key, letters: None,
    ) -> int:
        """Ask every question, explain every option, and return how many were answered right.

        answer: takes a prompt, and returns what was typed. say: shows a text. note: takes the key of each question and
        the chosen letters. A question is asked again until the answer consists of letters on offer. An EOFError of
        ``answer`` is not caught.
        """
        score = 0
        for number, question in enumerate(self.questions, 1):
            say(f"\n{number}. {plain(question.text)}")
            for option in question.options:
                say(f"   {option.letter}  {plain(option.text)}")
            letters = self._letters(question, answer, say)
            note(question.key, letters)
            score += letters == question.right
            right = ", ".join(question.right)
            no = translated("not right: it is {letters}").format(letters=right)
            say(translated("right") if letters == question.right else no)
            for option in question.options:
                word = translated("right") if option.right else translated("wrong")
                say(f"   {option.letter}  {word}: {plain(option.why)}")
            say("   " + translated("source: {source}").format(source=plain(question.source)))
        say("\n" + translated("{score} of {count} right").format(score=score, count=len(self.questions)))
        return score

    def _letters(self, question: QuizQuestion, answer: Callable[[str], str], say: Callable[[str], None]) -> str:
        offered = [option.letter for option in question.options]
        several = len(question.right) > 1
        prompt = translated("your answer (several):") if several else translated("your answer:")
        while True:
            typed = set(re.sub(r"[\s,]+", "", answer(f"   {prompt} ").lower()))
            if typed and typed <= set(offered):
                return "".join(sorted(typed))
            say("   " + translated("type one of {letters}").format(letters=", ".join(offered)))

    def __repr__(self) -> str:
        head = translated("Quiz {name}: {count} questions (answers: gnt quiz {name})")
        lines = [head.format(name=self.name, count=len(self.questions))]
        for number, question in enumerate(self.questions, 1):
            lines += [f"{number}. {plain(question.text)}"]
            lines += [f"   {one.letter}  {plain(one.text)}" for one in question.options]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        asked = "\n".join(question_html(number, question) for number, question in enumerate(self.questions, 1))
        # The widget finds the output that it replaces by this class.
        return f'<div class="gnt-quiz-{self.name}">\n{asked}\n</div>'

    def _ipython_display_(self) -> None:
        """Show the stored form and, in a live notebook with anywidget, the widget.

        They are two outputs: when a saved notebook is opened again, Jupyter prints "not found" in place of the widget.
        If both were one output, that line would replace the stored form.
        """
        from IPython import get_ipython
        from IPython.display import display

        display({"text/plain": repr(self), "text/html": self._repr_html_()}, raw=True)
        if hasattr(get_ipython(), "kernel"):
            # Without anywidget (extra `lab`) only the stored form is shown.
            with contextlib.suppress(ModuleNotFoundError):
                from gn_tutorial.course.quizzes.quiz_widget import QuizWidget

                # Since ipywidgets 8 the bundle is a pair of data and metadata.
                shown = QuizWidget(self.name, self.questions)._repr_mimebundle_()
                data = shown[0] if isinstance(shown, tuple) else shown
                display({WIDGET_VIEW: data[WIDGET_VIEW]}, raw=True)


def quiz(name: str, root: Path | None = None) -> Quiz:
    """Return the quiz of one notebook, ``quiz("00")``, in the learner's language.

    Raises ArgumentError, which lists the quizzes, for an unknown name; RegistryError for a faulty file, or if the
    folder of the exercises is missing.
    """
    folder = (root or exercises_root()) / "quizzes"
    path = folder / f"{name}.toml"
    if not re.fullmatch(r"\d\d", str(name)) or not path.is_file():
        raise ArgumentError(f"there is no quiz '{name}'", hint=f"there are {', '.join(names(root)) or 'none'}")
    _, questions = read_questions(path)
    if len(questions) < FEWEST_QUESTIONS:
        raise RegistryError(f"{len(questions)} questions; at least {FEWEST_QUESTIONS} are needed", where=str(path))
    return Quiz(name, tuple(question.translated() for question in questions))


def names(root: Path | None = None) -> list[str]:
    """Return the names of all quizzes, in order."""
    return sorted(path.stem for path in ((root or exercises_root()) / "quizzes").glob("*.toml"))
