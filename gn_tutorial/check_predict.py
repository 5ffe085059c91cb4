"""Checks predictions: the learner writes numbers into a TOML file, the twin measures, and the two are compared."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.exercise_result import Finding

_SEPARATED = re.compile(r"^\s*(\w+)\s*=\s*(\d{1,3}(?:[,.' ]\d{3})+)\s*(?:#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Question:
    """One number. measure: what the twin says. slips: a wrong number -> what led to it."""

    name: str
    asks: str
    measure: Callable[[], int]
    slips: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PredictChecker:
    """Compares every prediction with its measurement, in order, and stops at the first that differs."""

    questions: tuple[Question, ...]

    def check(self, path: Path, seed: int) -> Finding | int:
        """The first thing that is wrong, or the number of questions if all is right. The seed is not used."""
        del seed
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            for name, number in _SEPARATED.findall(path.read_text(encoding="utf-8", errors="replace")):
                plain = re.sub(r"\D", "", number)
                return Finding(f"{name}: write {plain}, without a mark between the thousands", where=path.name)
            return Finding(f"the file cannot be read: {error}; each line is a name, = and a number", where=path.name)
        for question in self.questions:
            answer = given.get(question.name)
            if answer in (None, "?"):
                return Finding(
                    f"{question.name} has no prediction yet: replace the question mark by a number", question.asks
                )
            if isinstance(answer, bool) or not isinstance(answer, int):
                return Finding(f"{question.name} is {answer!r}; a whole number is asked for", question.asks)
        # Measured only now: a look at the first result would help with the others.
        for question in self.questions:
            measured, answer = question.measure(), given[question.name]
            if answer != measured:
                led = question.slips.get(answer, "")
                more = f". {led}" if led else f"; you are {'above' if answer > measured else 'below'} it"
                return Finding(
                    f"{question.name}: you predicted {answer}, the twin measured another number{more}", question.asks
                )
        return len(self.questions)
