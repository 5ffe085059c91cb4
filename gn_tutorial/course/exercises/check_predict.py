"""Checks predictions: the learner writes numbers into a TOML file, the twin measures, and the two are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.toml_file import parse_toml

_SEPARATED = re.compile(r"^\s*(\w+)\s*=\s*(\d{1,3}(?:[,.' ]\d{3})+)\s*(?:#.*)?$", re.MULTILINE)

Answer = int | float | str


@dataclass(frozen=True)
class Prediction:
    """One prediction: a number, or one of several words.

    measure: returns the twin's count, the timing model's number, or the right word. slips: a wrong answer -> its cause.
    within: the relative error that an answer may have; 0: whole numbers, exactly. choices: the possible words, if the
    answer is no number. is_line: the answer is a line number, and the message does not say if it is too large or small.
    above, below: the hints for an answer that is too large or too small, and near no slip. rule: the hint in place of
    an empty above or below; it says how the number is computed, but not the number.
    """

    name: str
    asks: str
    measure: Callable[[], Answer]
    slips: Mapping[Answer, str] = field(default_factory=dict)
    within: float = 0.0
    choices: tuple[str, ...] = ()
    is_line: bool = False
    above: str = ""
    below: str = ""
    rule: str = ""

    def malformed(self, answer: object) -> str:
        """Return a message if an answer is missing or has a wrong form, whatever its value; else an empty one."""
        if answer in (None, "?"):
            what = "one of the words" if self.choices else "a number"
            return f"{self.name} has no prediction yet: replace the question mark by {what}"
        if self.choices:
            asked = f"one of {', '.join(self.choices)} is asked for, in quotation marks"
            return "" if answer in self.choices else f"{self.name} is {answer!r}; {asked}"
        if isinstance(answer, bool) or not isinstance(answer, int | float if self.within else int):
            return f"{self.name} is {answer!r}; a {'number' if self.within else 'whole number'} is asked for"
        return ""

    def wrong(self, answer: Answer) -> str:
        """Return a message if the value of an answer is wrong; empty if it is right."""
        measured = self.measure()
        if self._near(answer, measured):
            return ""
        near = {slip: words for slip, words in self.slips.items() if self._near(answer, slip)}
        led = near[min(near, key=lambda slip: _distance(answer, slip))] if near else ""
        if self.is_line:
            said = "it is another line"
        elif self.choices:
            said = "it is another one"
        else:
            said = "another number comes out"
        if led:
            return f"{self.name}: you predicted {answer}, {said}. {led}"
        if self.is_line or self.choices:
            return f"{self.name}: you predicted {answer}, {said}"
        side, words = ("above", self.above) if answer > measured else ("below", self.below)
        words = words or self.rule
        return f"{self.name}: you predicted {answer}, {said}; you are {side} it{f'. {words}' if words else ''}"

    def _near(self, answer: Answer, value: Answer) -> bool:
        if isinstance(answer, str) or isinstance(value, str):
            return answer == value
        return abs(answer - value) <= self.within * abs(value)


def _distance(answer: Answer, slip: Answer) -> float:
    """Return the distance between two numbers; 0 for words."""
    return 0.0 if isinstance(answer, str) or isinstance(slip, str) else abs(answer - slip)


@dataclass(frozen=True)
class PredictChecker:
    """Compares every prediction with its measurement, in order, and stops at the first that differs."""

    questions: tuple[Prediction, ...]

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Return the first thing that is wrong, or the number of questions if all is right. The seed is not used."""
        del seed
        try:
            given = parse_toml(path.read_bytes())
        except ValueError as error:
            for name, number in _SEPARATED.findall(path.read_text(encoding="utf-8", errors="replace")):
                plain = re.sub(r"\D", "", number)
                return Verdict(f"{name}: write {plain}, without a mark between the thousands", where=path.name)
            return Verdict(f"the file cannot be read: {error}; each line is a name, = and a number", where=path.name)
        if renamed := self._renamed(given):
            return Verdict(renamed, where=path.name)
        for question in self.questions:
            if malformed := question.malformed(given.get(question.name)):
                return Verdict(malformed, question.asks)
        # Measured only after every answer is given, because the first result would help with the others.
        for question in self.questions:
            if wrong := question.wrong(given[question.name]):
                return Verdict(wrong, question.asks)
        return len(self.questions)

    def _renamed(self, given: Mapping[str, object]) -> str:
        """Return a message on names that are missing, and on unknown ones; empty if no name is missing."""
        names = [question.name for question in self.questions]
        missing = ", ".join(name for name in names if name not in given)
        unknown = ", ".join(name for name in given if name not in names)
        if not missing:
            return ""
        extra = f", and {unknown} is not a name that is asked for" if unknown else ""
        return f"{missing} is missing{extra}: keep the names of the file, and write = and a number behind each"
