"""What the checker of predictions says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.verdict import Verdict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = '?'", "b has no prediction yet"),
        ("a = 1", "b is missing: keep the names"),
        ("a = 1\nc = 2", "b is missing, and c is not a name that is asked for"),
        ("a = 1.5\nb = 2", "a is 1.5; a whole number is asked for"),
        ("a = 4\nb = 2", "a: you predicted 4, another number comes out. twice too many"),
        ("a = 2\nb = 1", "b: you predicted 1, another number comes out; you are below it. count all"),
        ("a = = 2", "the file cannot be read"),
    ],
)
def test_predictions(tmp_path: Path, text: str, message: str) -> None:
    twice = Prediction("a", "how many", lambda: 2, {4: "twice too many"})
    questions = (twice, Prediction("b", "how much", lambda: 3, rule="count all"))
    path = tmp_path / "answers.toml"
    path.write_text(text)
    found = PredictChecker(questions).check(path, 0)
    assert isinstance(found, Verdict)
    assert message in found.message
    path.write_text("a = 2\nb = 3")
    assert PredictChecker(questions).check(path, 0) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time = '?'\npipe = 'V'", "time has no prediction yet: replace the question mark by a number"),
        ("time = 100\npipe = '?'", "pipe has no prediction yet: replace the question mark by one of the words"),
        ("time = '100'\npipe = 'V'", "time is '100'; a number is asked for"),
        ("time = true\npipe = 'V'", "time is True; a number is asked for"),
        ("time = 100\npipe = 1", "pipe is 1; one of S, V is asked for, in quotation marks"),
        ("time = nan\npipe = 'V'", "time: you predicted nan, another number comes out"),
        ("time = 111\npipe = 'V'", "another number comes out; you are above it"),
        ("time = 111\npipe = 'V'", "you are above it. what else takes time?"),
        ("time = 48\npipe = 'V'", "another number comes out. half of it"),
        ("time = 54\npipe = 'V'", "another number comes out. and a little more"),
        ("time = 109.5\npipe = 'S'", "pipe: you predicted S, it is another one. no loop"),
    ],
)
def test_predictions_of_what_is_modelled_have_room_and_may_be_words(tmp_path: Path, text: str, message: str) -> None:
    questions = (
        Prediction(
            "time",
            "how long",
            lambda: 100.0,
            {50.0: "half of it", 55.0: "and a little more"},
            within=0.1,
            above="what else takes time?",
        ),
        Prediction("pipe", "which one", lambda: "V", {"S": "no loop"}, choices=("S", "V")),
    )
    path = tmp_path / "answers.toml"
    path.write_text(text)
    found = PredictChecker(questions).check(path, 0)
    assert isinstance(found, Verdict)
    assert message in found.message
    for right in (90, 100, 110.0):
        path.write_text(f"time = {right}\npipe = 'V'")
        assert PredictChecker(questions).check(path, 0) == 2


def test_a_wrong_number_is_always_told_how_the_number_comes_about() -> None:
    """Which side of it one is says little; the last words of a message are about the count itself."""
    bare = []
    for exercise in load_course():
        checker = checker_of(exercise)
        for question in checker.questions if isinstance(checker, PredictChecker) else ():
            number = not (question.choices or question.is_line)
            if number and not (question.rule or (question.above and question.below)):
                bare.append(f"{exercise.id} {question.name}")
    assert bare == []
