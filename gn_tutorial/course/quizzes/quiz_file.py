"""Reads files of questions: ``exercises/quizzes/NN.toml``, and the theory bank in ``exercises/theory/``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from gn_tutorial.course.exercises.registry import Text
from gn_tutorial.course.quizzes.quiz_question import Option, QuizQuestion
from gn_tutorial.toml_file import decode

FEWEST_OPTIONS = 3
#: The two options, in this order, of a question that asks whether a statement is true.
TRUE_FALSE = ("true", "false")
LEVELS = ("easy", "medium", "hard")
_LETTERS = "abcdefgh"


class _Option(Struct, frozen=True, forbid_unknown_fields=True):
    text: Text
    why: Text
    right: bool = False


class _Question(Struct, frozen=True, forbid_unknown_fields=True):
    question: Text
    options: Annotated[tuple[_Option, ...], Meta(max_length=len(_LETTERS))]
    source: Text
    level: Literal["", *LEVELS] = ""

    def __post_init__(self) -> None:
        offered = tuple(one.text for one in self.options)
        if len(set(offered)) < len(offered) or (len(offered) < FEWEST_OPTIONS and offered != TRUE_FALSE):
            raise ValueError(f"a question has {FEWEST_OPTIONS} different options or more, or true and false")
        if len({one.right for one in self.options}) < 2:
            raise ValueError("a question needs a right and a wrong option")

    def made(self) -> QuizQuestion:
        options = (
            Option(letter, one.text, one.right, one.why) for letter, one in zip(_LETTERS, self.options, strict=False)
        )
        return QuizQuestion(self.question, tuple(options), self.source, self.level)


class _Quiz(Struct, frozen=True, forbid_unknown_fields=True):
    question: tuple[_Question, ...]
    title: str = ""


def read_questions(path: Path) -> tuple[str, tuple[QuizQuestion, ...]]:
    """Return the title of a file, "" if it has none, and its questions. Raises RegistryError for a faulty file."""
    found = decode(path, _Quiz, "the quiz")
    return found.title, tuple(one.made() for one in found.question)
