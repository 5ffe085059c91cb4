"""The clickable quiz: what the page is given, and what of its answers is noted in the learner's progress."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gn_tutorial.course.progress import ProgressFile
from gn_tutorial.course.quizzes.quiz import names, quiz

pytest.importorskip("anywidget", reason="the extra `lab` has it")

from gn_tutorial.course.quizzes import quiz_widget
from gn_tutorial.course.quizzes.quiz_widget import QuizWidget
from gn_tutorial.translation.choice import speaking

ASKED = quiz("03")
FIRST, SECOND, *_ = ASKED.questions


def test_an_answer_is_noted_and_shown_again(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path / "data")
    widget = QuizWidget("03", ASKED.questions, file)
    assert widget.answers == {}
    assert not file.path.exists(), "to look at a quiz writes nothing"
    widget.answers = {FIRST.key: "a"}
    widget.answers = {FIRST.key: "a", SECOND.key: SECOND.right}
    assert file.read().quizzes == {"03": {FIRST.key: "a", SECOND.key: SECOND.right}}
    assert ASKED.standing(file.read().quizzes["03"]) == (1, 2)
    assert QuizWidget("03", ASKED.questions, file).answers == widget.answers
    assert widget.note == ""


def test_begun_anew_it_forgets_its_own_answers_only(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path)
    file.update(lambda known: known.with_pass("03.1").with_answers("04", {"other": "b"}))
    widget = QuizWidget("03", ASKED.questions, file)
    widget.answers = {FIRST.key: "a"}
    widget.answers = {}
    assert file.read().quizzes == {"04": {"other": "b"}}
    assert list(file.read().passed) == ["03.1"]


def test_an_answer_from_elsewhere_is_not_overwritten(tmp_path: Path) -> None:
    """A quiz stays open in a notebook while `gnt quiz` asks it in a terminal."""
    file = ProgressFile(tmp_path)
    widget = QuizWidget("03", ASKED.questions, file)
    file.update(lambda known: known.with_answers("03", {SECOND.key: "b"}))
    widget.answers = {FIRST.key: "a"}
    assert file.read().quizzes["03"] == {SECOND.key: "b", FIRST.key: "a"}


@pytest.mark.parametrize("answers", [{"no such": "a"}, {FIRST.key: "z"}, {FIRST.key: ""}])
def test_what_no_button_sends_is_not_noted(tmp_path: Path, answers: dict[str, str]) -> None:
    file = ProgressFile(tmp_path)
    file.update(lambda known: known.with_answers("03", {SECOND.key: "b"}))
    widget = QuizWidget("03", ASKED.questions, file)
    widget.answers = widget.answers | answers
    assert file.read().quizzes["03"] == {SECOND.key: "b"}


def test_a_folder_that_cannot_be_written_is_said_and_the_quiz_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    widget = QuizWidget("03", ASKED.questions, ProgressFile(tmp_path / "file" / "data"))
    widget.answers = {FIRST.key: "a"}
    assert "not kept" in widget.note
    assert "GNT_DATA_DIR" in widget.note
    assert widget.answers == {FIRST.key: "a"}


def test_a_damaged_progress_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path))
    (tmp_path / "progress.json").write_text("{")
    assert "damaged" in QuizWidget("03", ASKED.questions).note


@pytest.mark.parametrize("name", names())
def test_the_page_gets_every_option_escaped_and_can_tell_right_from_wrong(tmp_path: Path, name: str) -> None:
    widget = QuizWidget(name, quiz(name).questions, ProgressFile(tmp_path))
    assert [one["right"] for one in widget.questions] == [one.right for one in quiz(name).questions]
    for shown, question in zip(widget.questions, quiz(name).questions, strict=True):
        assert [one["letter"] for one in shown["options"]] == [one.letter for one in question.options]
        assert all(one["text"] and one["why"] for one in shown["options"])
    text = json.dumps(widget.questions)
    assert "$" not in text
    assert "<script" not in text


def test_the_page_has_every_word_that_it_asks_for_in_the_language() -> None:
    page = (Path(quiz_widget.__file__).with_suffix(".js")).read_text(encoding="utf-8")
    asked = set(re.findall(r"\bwords\.(\w+)", page))
    words = {}
    for language in ("en", "zh"):
        with speaking(language):
            words[language] = quiz_widget.AskedWidget().words
    assert asked == set(words["en"]) == set(words["zh"])
    assert [name for name in asked if words["en"][name] == words["zh"][name]] == []
    assert words["en"]["not"] == "Not right: it is {letters}."
