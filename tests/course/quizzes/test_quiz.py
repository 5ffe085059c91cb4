"""The quizzes: the bank, both renderings, the terminal; and that each notebook asks what the bank asks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import make_quizzes
import pytest

from gn_tutorial.course.exercises.registry import exercises_root
from gn_tutorial.course.quizzes.quiz import WIDGET_VIEW, names, quiz
from gn_tutorial.course.quizzes.quiz_question import known_answers, marked
from gn_tutorial.errors import ArgumentError, RegistryError

ROOT = Path(__file__).resolve().parents[3]


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
    assert html.count("<details") == html.count("</details>") == 5


def test_letters_are_text_and_formulas_need_no_mathjax() -> None:
    """JupyterLab numbers the items of `<ol type="a">` with digits, and GitHub typesets nothing in an output."""
    for name in names():
        html = quiz(name)._repr_html_()
        assert "<ol" not in html
        assert "<li" not in html
        assert "$" not in html
        assert "^{" not in html
        for question in quiz(name).questions:
            for option in question.options:
                assert f"{option.letter.upper()}. {marked(option.text)}" in html
    assert marked("$n_A n_B / n$ < $2^{-10}$, `a_b` *so*") == (
        "n<sub>A</sub> n<sub>B</sub> / n &lt; 2<sup>-10</sup>, <code>a_b</code> <em>so</em>"
    )


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
    answers, said, noted = typed("b", "z", "C", "a", "a", "", "b"), [], {}
    score = quiz("00").ask(lambda prompt: next(answers), said.append, noted.__setitem__)
    assert score == 4
    assert list(noted.values()) == ["b", "c", "a", "a", "b"]
    assert quiz("00").standing(noted) == (4, 5)
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
        ("right = true, ", "", "a question needs a right and a wrong option"),
        ("source = ", "sauce = ", "'sauce' is not a key of a question"),
        ("why = ", "because = ", "'because' is not a key of an option"),
        (", why = ", ", # ", "cannot read the quiz"),
        ("right = true", "rihgt = true", "'rihgt' is not a key"),
        ('text = "it stays the same"', 'text = "it doubles, as the blocks do"', "3 different options"),
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


def notebook_of(tmp_path: Path, *ids: str) -> Path:
    cells = [{"cell_type": "code", "id": name, "source": ["1"]} for name in ids]
    made = tmp_path / "00_edited.ipynb"
    made.write_text(json.dumps({"cells": cells}))
    return made


@pytest.mark.parametrize("ids", [("a", "quiz", "end"), ("a", "quiz", "quiz-ask", "end")])
def test_the_cells_are_made_and_nothing_else_is_touched(tmp_path: Path, ids: tuple[str, ...]) -> None:
    notebook = notebook_of(tmp_path, *ids)
    before = notebook.read_text()
    assert not make_quizzes.put(notebook, check=True)
    assert notebook.read_text() == before, "--check writes nothing"
    assert make_quizzes.put(notebook, check=False)
    cells = json.loads(notebook.read_text())["cells"]
    assert [cell["id"] for cell in cells] == ["a", "quiz", "quiz-ask", "end"]
    assert cells[2]["execution_count"] == 2
    assert cells[2]["source"] == ['gnt.quiz("00")']
    (shown,) = cells[2]["outputs"]
    assert "".join(shown["data"]["text/html"]) == quiz("00")._repr_html_()
    assert "".join(shown["data"]["text/plain"]) == repr(quiz("00"))
    assert make_quizzes.put(notebook, check=True)


def test_an_answer_belongs_to_the_words_of_its_question() -> None:
    asked = quiz("00")
    first, second = asked.questions[:2]
    right = {one.key: one.right for one in asked.questions}
    assert asked.standing(right) == (5, 5)
    assert asked.standing({first.key: first.right, "no key": "a", second.key: "z"}) == (1, 1)
    other = replace(first, text=first.text + " Really?")
    assert known_answers((other, second), right) == {second.key: second.right}


def test_in_a_terminal_or_a_script_only_what_is_stored_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    quiz("00")._ipython_display_()
    assert [set(data) for data in shown] == [{"text/html", "text/plain"}]


def test_in_a_kernel_the_widget_follows_and_without_anywidget_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "gn_tutorial.course.quizzes.quiz_widget", None)  # what an import that fails leaves
    quiz("00")._ipython_display_()
    assert len(shown) == 1
    monkeypatch.delitem(sys.modules, "gn_tutorial.course.quizzes.quiz_widget")
    pytest.importorskip("anywidget")
    quiz("00")._ipython_display_()
    assert set(shown[-1]) == {WIDGET_VIEW}
    assert len(shown) == 3
