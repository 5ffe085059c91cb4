"""Files of questions: ``exercises/quizzes/NN.toml`` and the theory bank, ``exercises/theory/``. One parser for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gn_tutorial.course.quizzes.quiz_question import Option, QuizQuestion
from gn_tutorial.errors import RegistryError
from gn_tutorial.toml_file import parse_toml

FEWEST_OPTIONS = 3
#: A statement is judged by these two, in this order.
TRUE_FALSE = ("true", "false")
LEVELS = ("easy", "medium", "hard")
_KEYS = {"question", "options", "source", "level"}


def read_questions(path: Path) -> tuple[dict[str, Any], tuple[QuizQuestion, ...]]:
    """The keys of a file, and its questions. Raises RegistryError."""
    try:
        data = parse_toml(path.read_bytes())
        return data, tuple(_question(item, f"{path}, question {n}") for n, item in enumerate(data["question"], 1))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RegistryError(f"cannot read the quiz: {error!r}", where=str(path)) from error


def _question(item: Mapping[str, Any], where: str) -> QuizQuestion:
    options: Sequence[Mapping[str, Any]] = item["options"]
    made = tuple(
        Option("abcdefgh"[index], one["text"], one.get("right", False) is True, one["why"])
        for index, one in enumerate(options)
    )
    question = QuizQuestion(item["question"], made, item["source"], item.get("level", ""))
    unknown = set().union(*(one.keys() for one in options)) - {"text", "right", "why"} | item.keys() - _KEYS
    if unknown:
        raise RegistryError(f"'{sorted(unknown)[0]}' is not a key of a question", where=where)
    texts = [question.text, question.source, *(one.text for one in made), *(one.why for one in made)]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise RegistryError("a question, each option, each explanation and the source are texts", where=where)
    if question.level not in ("", *LEVELS):
        raise RegistryError(f"'{question.level}' is no level; there are {', '.join(LEVELS)}", where=where)
    offered = [one.text for one in made]
    if len(set(offered)) != len(made) or (len(made) < FEWEST_OPTIONS and tuple(offered) != TRUE_FALSE):
        raise RegistryError(
            f"a question has {FEWEST_OPTIONS} different options or more, or true and false", where=where
        )
    if not question.right or len(question.right) == len(made):
        raise RegistryError("some options are right and some are wrong", where=where)
    return question
