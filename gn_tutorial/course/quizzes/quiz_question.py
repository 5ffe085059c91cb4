"""One question of a quiz: its options, its answers, and its texts for a terminal and as HTML."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

from gn_tutorial.translation.choice import ENGLISH, language
from gn_tutorial.translation.texts import translated

_CODE = re.compile(r"`([^`]+)`")
_FORMULA = re.compile(r"\$([^$]+)\$")
_RAISED = re.compile(r"\^\{([^}]+)\}|\^(\w)")
_LOWERED = re.compile(r"_\{([^}]+)\}|_(\w)")
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
    """One question. source: the document or the section of the course that explains the answer.

    level: one of ``quiz_file.LEVELS``, or "" if the file gives none. english: the English question of which this is the
    translation; None if this question is the English one.
    """

    text: str
    options: tuple[Option, ...]
    source: str
    level: str = ""
    english: QuizQuestion | None = field(default=None, repr=False, compare=False)

    def translated(self) -> QuizQuestion:
        """Return the question in the learner's language; it keeps the key of the English question."""
        if language() == ENGLISH:
            return self
        options = tuple(replace(one, text=translated(one.text), why=translated(one.why)) for one in self.options)
        return replace(self, text=translated(self.text), options=options, source=translated(self.source), english=self)

    @property
    def right(self) -> str:
        """The letters of the right options, in order: ``"b"``, ``"ac"``."""
        return "".join(option.letter for option in self.options if option.right)

    @property
    def key(self) -> str:
        """The key of the answer in the progress file. It changes if the English text of question or options changes."""
        if self.english:
            return self.english.key
        words = "\n".join([self.text, *(option.text for option in self.options)])
        return f"{zlib.crc32(words.encode()):08x}"


def known_answers(questions: Sequence[QuizQuestion], answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers (question key -> letters) to these questions.

    An answer that is empty, or has a letter that is not on offer, is left out.
    """
    offered = {one.key: {option.letter for option in one.options} for one in questions}
    return {key: one for key, one in answers.items() if one and set(one) <= offered.get(key, set())}


def question_html(number: int, question: QuizQuestion) -> str:
    """Return a question as a notebook stores it: HTML without state, with the answer in a <details>."""
    # The letters are text, because JupyterLab shows numbers for a list of any type.
    options = "<br>".join(f"{one.letter.upper()}. {marked(one.text)}" for one in question.options)
    answers = "".join(
        f"<p>{_judged(one).format(letter=f'<b>{one.letter.upper()}</b>', why=marked(one.why))}</p>"
        for one in question.options
    )
    answers += f"<p>{translated('Source: {source}').format(source=marked(question.source))}</p>"
    return (
        f"<p><b>{number}.</b> {marked(question.text)}</p><p>{options}</p>"
        f'<details style="margin-bottom:1em"><summary>{translated("Answer")}</summary>{answers}</details>'
    )


def _judged(option: Option) -> str:
    return translated("{letter} is right: {why}") if option.right else translated("{letter} is wrong: {why}")


def plain(text: str) -> str:
    """Return the text for a terminal: without the dollar signs of formulas, which are readable as plain text."""
    return _FORMULA.sub(r"\1", text)


def marked(text: str) -> str:
    """Return the text as HTML: escaped, with `code`, *emphasis*, and formulas. Their indices need no MathJax."""
    text = _FORMULA.sub(lambda found: _formula(found[1]), escape(text))
    return _EMPHASIS.sub(r"<em>\1</em>", _CODE.sub(r"<code>\1</code>", text))


def _formula(text: str) -> str:
    raised = _RAISED.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", text)
    return _LOWERED.sub(lambda found: f"<sub>{found[1] or found[2]}</sub>", raised)
