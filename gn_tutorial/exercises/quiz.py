"""Quizzes: ``quiz("00")`` in a notebook, ``gnt quiz 00`` in a terminal, from ``exercises/quizzes/NN.toml``.

The rendering has no random id and no state, so that a notebook's stored output compares equal: an answer opens by the
browser's own <details>.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.exercises.course import exercises_root
from gn_tutorial.toml_file import parse_toml

FEWEST_QUESTIONS = 5
FEWEST_OPTIONS = 3
_CODE = re.compile(r"`([^`]+)`")
_FORMULA = re.compile(r"\$([^$]+)\$")
_EMPHASIS = re.compile(r"\*([^*]+)\*")


@dataclass(frozen=True)
class Option:
    """One answer on offer, and why it is right or wrong."""

    letter: str
    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class QuizQuestion:
    """One question. source: where the answer is explained, a document or a section of the course."""

    text: str
    options: tuple[Option, ...]
    source: str

    @property
    def right(self) -> str:
        """The letters of the right options, in order: ``"b"``, ``"ac"``."""
        return "".join(option.letter for option in self.options if option.right)


@dataclass(frozen=True, repr=False)
class Quiz:
    """The questions of one notebook. Show it in a notebook, or ``ask`` it."""

    name: str
    questions: tuple[QuizQuestion, ...]

    def ask(self, answer: Callable[[str], str], say: Callable[[str], None]) -> int:
        """Ask every question, explain every option, and return how many were answered rightly.

        answer: given a prompt, returns what was typed. say: shows a text. An answer is asked for again until it is made
        of letters on offer. EOFError of ``answer`` goes through.
        """
        score = 0
        for number, question in enumerate(self.questions, 1):
            say(f"\n{number}. {_plain(question.text)}")
            for option in question.options:
                say(f"   {option.letter}  {_plain(option.text)}")
            letters = self._letters(question, answer, say)
            score += letters == question.right
            say("right" if letters == question.right else f"not right: it is {' and '.join(question.right)}")
            for option in question.options:
                say(f"   {option.letter}  {'right' if option.right else 'wrong'}: {_plain(option.why)}")
            say(f"   source: {_plain(question.source)}")
        say(f"\n{score} of {len(self.questions)} right")
        return score

    def _letters(self, question: QuizQuestion, answer: Callable[[str], str], say: Callable[[str], None]) -> str:
        offered = [option.letter for option in question.options]
        several = " (several)" if len(question.right) > 1 else ""
        while True:
            typed = set(re.sub(r"[\s,]+", "", answer(f"   your answer{several}: ").lower()))
            if typed and typed <= set(offered):
                return "".join(sorted(typed))
            say(f"   type one of {', '.join(offered)}")

    def __repr__(self) -> str:
        lines = [f"Quiz {self.name}: {len(self.questions)} questions (answers: gnt quiz {self.name})"]
        for number, question in enumerate(self.questions, 1):
            lines += [f"{number}. {_plain(question.text)}"]
            lines += [f"   {one.letter}  {_plain(one.text)}" for one in question.options]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "".join(_html(number, question) for number, question in enumerate(self.questions, 1))


def quiz(name: str, root: Path | None = None) -> Quiz:
    """The quiz of one notebook: ``quiz("00")``. Raises ArgumentError with the names there are, RegistryError."""
    folder = (root or exercises_root()) / "quizzes"
    path = folder / f"{name}.toml"
    if not re.fullmatch(r"\d\d", str(name)) or not path.is_file():
        raise ArgumentError(f"there is no quiz '{name}'", hint=f"there are {', '.join(names(root)) or 'none'}")
    try:
        data = parse_toml(path.read_bytes())
        questions = tuple(_question(item, f"{path}, question {n}") for n, item in enumerate(data["question"], 1))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RegistryError(f"cannot read the quiz: {error!r}", where=str(path)) from error
    if len(questions) < FEWEST_QUESTIONS:
        raise RegistryError(f"{len(questions)} questions; {FEWEST_QUESTIONS} are the least", where=str(path))
    return Quiz(name, questions)


def names(root: Path | None = None) -> list[str]:
    """The quizzes there are."""
    return sorted(path.stem for path in ((root or exercises_root()) / "quizzes").glob("*.toml"))


def _question(item: Mapping[str, Any], where: str) -> QuizQuestion:
    options: Sequence[Mapping[str, Any]] = item["options"]
    made = tuple(
        Option("abcdefgh"[index], one["text"], one.get("right", False) is True, one["why"])
        for index, one in enumerate(options)
    )
    question = QuizQuestion(item["question"], made, item["source"])
    unknown = set().union(*(one.keys() for one in options)) - {"text", "right", "why"} | item.keys() - {
        "question",
        "options",
        "source",
    }
    if unknown:
        raise RegistryError(f"'{sorted(unknown)[0]}' is not a key of a question", where=where)
    texts = [question.text, question.source, *(one.text for one in made), *(one.why for one in made)]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise RegistryError("a question, each option, each explanation and the source are texts", where=where)
    if len(made) < FEWEST_OPTIONS or len({one.text for one in made}) != len(made):
        raise RegistryError(f"a question has {FEWEST_OPTIONS} different options or more", where=where)
    if not question.right or len(question.right) == len(made):
        raise RegistryError("some options are right and some are wrong", where=where)
    return question


def _html(number: int, question: QuizQuestion) -> str:
    options = "".join(f"<li>{_marked(one.text)}</li>" for one in question.options)
    answers = "".join(
        f"<p><b>{one.letter}</b> is {'right' if one.right else 'wrong'}: {_marked(one.why)}</p>"
        for one in question.options
    )
    return (
        f'<p><b>{number}.</b> {_marked(question.text)}</p><ol type="a">{options}</ol>'
        f"<details><summary>Answer</summary>{answers}<p>Source: {_marked(question.source)}</p></details>"
    )


def _plain(text: str) -> str:
    """For a terminal: formulas without their dollar signs. The bank's formulas read well as they are."""
    return _FORMULA.sub(r"\1", text)


def _marked(text: str) -> str:
    """Escaped, with `code` and *emphasis*."""
    return _EMPHASIS.sub(r"<em>\1</em>", _CODE.sub(r"<code>\1</code>", escape(text)))
