"""The page's side of a theory paper: the module of the widget on an empty page, over a model that is a plain object."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion

pytest.importorskip("anywidget", reason="the extra `lab` has it")

from gn_tutorial.course.quizzes import quiz_widget
from gn_tutorial.course.quizzes.quiz_widget import as_html

pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
FRONT = Path(quiz_widget.__file__).with_suffix(".js")
ASKED = load_bank().topic("queues").questions
SINGLE = next(one for one in ASKED if len(one.right) == 1 and len(one.options) > 2)
SEVERAL = next(one for one in ASKED if len(one.right) > 1)
#: The module's text and the state of its model; ``model`` stays for the test to look into.
WIDGET = """async ([program, state]) => {
  const listeners = {};
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; (listeners[`change:${name}`] ?? []).forEach((call) => call()); },
    save_changes: () => {},
    on: (name, call) => (listeners[name] ??= []).push(call),
    off: (name, call) => { listeners[name] = (listeners[name] ?? []).filter((one) => one !== call); },
  };
  const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const module = await import(url);
  window.leave = module.default.render({ model: window.model, el: document.getElementById("cell") });
}"""


@pytest.fixture
def show(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A page with a paper of two questions; an error in it fails the test."""
    page = chromium.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def shown(*questions: QuizQuestion, **state: object) -> Any:
        there = {
            "name": "theory",
            "questions": [as_html(one) for one in questions],
            "words": quiz_widget.page_words(),
            "answers": {},
            "note": "",
            "paper": True,
            "finished": False,
            "deadline": 0.0,
        } | state
        page.set_content(f"<style>{FRONT.with_suffix('.css').read_text()}</style><div id='cell'></div>")
        page.evaluate(WIDGET, [FRONT.read_text(), there])
        return page

    yield shown
    assert errors == []
    page.close()


def answers(page: Any) -> dict[str, str]:
    return {key: one for key, one in page.evaluate("() => model.get('answers')").items() if one}


def letters(page: Any, question: int) -> Any:
    return page.locator(".gnt-quiz-question").nth(question).locator(".gnt-quiz-option")


def test_choices_may_be_changed_and_nothing_is_told_before_it_is_handed_in(show: Callable[..., Any]) -> None:
    page = show(SINGLE, SEVERAL)
    letters(page, 0).nth(0).click()
    letters(page, 0).nth(1).click()
    assert answers(page) == {SINGLE.key: "b"}
    letters(page, 1).nth(1).click()
    letters(page, 1).nth(0).click()
    assert answers(page)[SEVERAL.key] == "ab"
    letters(page, 1).nth(1).click()
    assert answers(page)[SEVERAL.key] == "a"
    assert [one.get_attribute("aria-pressed") for one in letters(page, 1).all()][:2] == ["true", "false"]
    assert page.locator(".gnt-quiz-score").inner_text() == "2 of 2 answered"
    assert page.locator(".gnt-quiz-why:visible").count() == 0
    assert not any(word in page.inner_text("body") for word in ("Right.", "Not right", "Source:"))
    assert page.locator(".gnt-quiz-check, .gnt-quiz-again:visible").count() == 0

    page.locator(".gnt-quiz-hand-in").click()
    assert page.evaluate("() => model.get('finished')")
    assert page.locator(".gnt-quiz-why:visible").count() == len(SINGLE.options) + len(SEVERAL.options)
    before = answers(page)
    letters(page, 0).nth(0).click(force=True)
    assert answers(page) == before
    assert page.locator(".gnt-quiz-hand-in:visible").count() == 0


def test_open_questions_are_asked_about_once_more(show: Callable[..., Any]) -> None:
    page = show(SINGLE, SEVERAL)
    letters(page, 0).nth(0).click()
    letters(page, 0).nth(0).click()
    assert answers(page) == {}, "a second click takes a choice back"
    button = page.locator(".gnt-quiz-hand-in")
    button.click()
    assert button.inner_text() == "hand in with 2 open"
    assert not page.evaluate("() => model.get('finished')")
    button.click()
    assert "Left open: it is" in page.inner_text("body")
    assert page.locator(".gnt-quiz-score").inner_text() == "0 of 2 right, 2 not answered"


def test_its_clock_ends_it(show: Callable[..., Any]) -> None:
    page = show(SINGLE, deadline=time.time() + 3600)
    assert page.locator(".gnt-quiz-time").inner_text() == "59 min left"
    page = show(SINGLE, deadline=time.time() - 1)
    assert page.evaluate("() => model.get('finished')")
    assert page.locator(".gnt-quiz-time:visible").count() == 0
    page = show(SINGLE)
    assert page.locator(".gnt-quiz-time:visible").count() == 0


def test_a_quiz_is_as_before(show: Callable[..., Any]) -> None:
    page = show(SINGLE, SEVERAL, paper=False)
    letters(page, 0).nth(0).click()
    letters(page, 0).nth(1).click(force=True)
    assert answers(page) == {SINGLE.key: "a"}, "the first choice counts"
    letters(page, 1).nth(0).click()
    assert SEVERAL.key not in answers(page)
    page.locator(".gnt-quiz-check").click()
    assert answers(page)[SEVERAL.key] == "a"
    assert page.locator(".gnt-quiz-hand-in:visible").count() == 0
    assert page.locator(".gnt-quiz-again:visible").count() == 1
