"""The paper in a notebook: the same file as the terminal's, and no word on right and wrong before the end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from exam_support import BEGIN, Clock

import gn_tutorial as gnt
from gn_tutorial.course.exam import browser
from gn_tutorial.course.exam.paper import Paper
from gn_tutorial.course.exam.paper_file import PaperFile

pytest.importorskip("anywidget", reason="the extra `lab` has it")

from gn_tutorial.course.exam.browser import PaperWidget


def test_choices_are_kept_changed_and_handed_in(file: PaperFile, drawn: Paper, clock: Clock) -> None:
    asked = [one for _, one in drawn.questions(file.bank)]
    widget = PaperWidget(file)
    assert (widget.paper, widget.finished, widget.deadline, widget.note) == (True, False, BEGIN + 600, "")
    first, second = asked[:2]
    widget.answers = {first.key: "a"}
    widget.answers = {first.key: first.right, second.key: "a"}
    widget.answers = {first.key: first.right, second.key: ""}
    known = file.read()
    assert known is not None
    assert known.answers == {first.key: first.right}
    assert PaperWidget(file).answers == {first.key: first.right}
    clock.now = BEGIN + 120
    widget.finished = True
    assert widget.note.startswith("1 of 6 right, in 2 min (limit 10 min)\n5 left open")
    assert file.progress.read().theory[0]["right"] == 1
    assert PaperWidget(file).note == widget.note


def test_a_choice_after_the_end_is_not_taken_and_the_page_learns_it(
    file: PaperFile, drawn: Paper, clock: Clock
) -> None:
    widget = PaperWidget(file)
    key = drawn.asked[0][1]
    clock.now = BEGIN + 601
    widget.answers = {key: "a"}
    assert widget.finished
    assert widget.answers == {}
    assert "in 10 min" in widget.note


def test_what_no_button_sends_is_not_noted(file: PaperFile, drawn: Paper) -> None:
    widget = PaperWidget(file)
    widget.answers = {drawn.asked[0][1]: "z", "no such": "a"}
    known = file.read()
    assert known is not None
    assert known.answers == {}


def test_the_door_goes_on_with_the_open_paper(monkeypatch: pytest.MonkeyPatch, file: PaperFile) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(file.progress.path.parent))
    first = gnt.exam_theory(count=5, topics=["api"], seed=3)
    assert repr(first) == "Theory paper 3: 5 questions, 0 answered, open"
    assert first.paper.minutes == 7.5
    assert gnt.exam_theory(seed=4).paper.asked == first.paper.asked
    second = gnt.exam_theory(seed=4, new=True, untimed=True)
    assert (second.paper.seed, second.paper.minutes, len(second.paper.asked)) == (4, None, 40)
    assert [one["seed"] for one in file.progress.read().theory] == [3]


def test_a_notebook_gets_the_widget_and_a_script_a_line(monkeypatch: pytest.MonkeyPatch, file: PaperFile) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(file.progress.path.parent))
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    paper = gnt.exam_theory(count=5)
    paper._ipython_display_()
    assert "in a terminal: gnt exam theory" in shown[0]["text/plain"]
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=None))
    paper._ipython_display_()
    assert set(shown[1]) == {browser.WIDGET_VIEW}
