"""The quizzes: the bank, both renderings, the terminal; and that each notebook asks what the bank asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import make_quizzes
import pytest

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.exercises.course import exercises_root
from gn_tutorial.exercises.quiz import names, quiz

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", names())
def test_quiz_is_whole_and_its_right_letters_vary(name: str) -> None:
    found = quiz(name)
    assert len({question.right for question in found.questions}) >= 3
    assert repr(found) == repr(quiz(name))
    assert found._repr_html_() == quiz(name)._repr_html_()


def test_html_explains_every_option_and_has_no_id() -> None:
    html = quiz("00")._repr_html_()
    options = sum(len(question.options) for question in quiz("00").questions)
    assert html.count(" is right: ") == 5
    assert html.count(" is wrong: ") == options - 5
    assert "id=" not in html
    assert "<code>DeQue</code>" in html
    assert html.count("<details>") == html.count("</details>") == 5


def test_text_does_not_give_the_answers_away() -> None:
    text = repr(quiz("00"))
    assert "in its Unified Buffer" in text
    assert not any(one.why in text for question in quiz("00").questions for one in question.options)
    swapped = quiz("00").questions[0].options
    assert text.index(swapped[0].text) < text.index(swapped[1].text)


def test_the_terminal_shows_no_dollar_signs_and_no_latex() -> None:
    for name in names():
        said: list[str] = []
        answers = iter([question.right for question in quiz(name).questions])
        quiz(name).ask(lambda prompt, answers=answers: next(answers), said.append)
        assert not re.search(r"[$\\\\]", "".join(said) + repr(quiz(name)))


def typed(*lines: str) -> Iterator[str]:
    yield from lines


def test_terminal_counts_right_answers_and_asks_again() -> None:
    answers, said = typed("b", "z", "C", "a", "a", "", "b"), []
    score = quiz("00").ask(lambda prompt: next(answers), said.append)
    assert score == 4
    assert said[-1] == "\n4 of 5 right"
    assert any("not right: it is c" in line for line in said)
    assert sum("type one of" in line for line in said) == 2


def test_an_unknown_quiz_lists_those_there_are() -> None:
    for name in ("77", "../info", "0"):
        with pytest.raises(ArgumentError, match="there are 00"):
            quiz(name)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("right = true, ", "", "some options are right and some are wrong"),
        ("source = ", "sauce = ", "KeyError"),
        ("why = ", "because = ", "KeyError"),
        ("right = true", "rihgt = true", "'rihgt' is not a key"),
        ('text = "it halves"', 'text = "it doubles"', "3 different options"),
    ],
)
def test_a_mistake_in_the_bank_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = (exercises_root() / "quizzes" / "00.toml").read_text()
    assert before in text
    (tmp_path / "quizzes").mkdir()
    (tmp_path / "quizzes" / "00.toml").write_text(text.replace(before, after, 1))
    with pytest.raises(RegistryError, match=re.escape(message)):
        quiz("00", tmp_path)


@pytest.mark.parametrize("name", names())
def test_the_notebook_asks_what_the_bank_asks(name: str) -> None:
    (path,) = (ROOT / "notebooks").glob(f"{name}_*.ipynb")
    assert make_quizzes.put(path, check=True), "repair: ./gnt lint quizzes --fix"


def test_a_section_has_every_option_and_why(tmp_path: Path) -> None:
    made = make_quizzes.section("00")
    words = " ".join(made.split())
    for number, question in enumerate(quiz("00").questions, 1):
        assert f"**{number}.** {question.text}" in words
        for option in question.options:
            assert f"- **{option.letter}** {option.text}" in words
            assert f"**{option.letter}**{' is right' * option.right}: {option.why}" in words
    notebook = tmp_path / "00_edited.ipynb"
    notebook.write_text(json.dumps({"cells": [{"id": "quiz", "source": ["## Quiz\n", "by hand"]}]}))
    assert not make_quizzes.put(notebook, check=True)
    assert "by hand" in notebook.read_text(), "--check writes nothing"
    assert make_quizzes.put(notebook, check=False)
    assert "".join(json.loads(notebook.read_text())["cells"][0]["source"]) == made
