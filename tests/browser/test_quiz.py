"""A quiz is answered by clicks, noted, and still answered when the page is loaded anew."""

import pytest
from browser_support import LAPTOP, NARROW, Desk, Notebook

from gn_tutorial.course.quizzes.quiz import quiz

NAME = "01"


def shown_quiz(desk: Desk) -> Notebook:
    notebook = desk.open("notebooks/01_numpy_group_norm.ipynb")
    notebook.run(notebook.cell("import gn_tutorial as gnt"), notebook.cell(f'gnt.quiz("{NAME}")'))
    notebook.panel.locator(".gnt-quiz").wait_for()
    return notebook


@pytest.mark.thorough
def test_answers_are_scored_noted_and_remembered(desk: Desk) -> None:
    questions = quiz(NAME).questions
    single = [at for at, one in enumerate(questions) if len(one.right) == 1]
    good, bad = single[:2]
    wrong = next(option for option in questions[bad].options if not option.right)
    notebook = shown_quiz(desk)
    asked = notebook.panel.locator(".gnt-quiz-question")
    score = notebook.panel.locator(".gnt-quiz-score")
    assert asked.count() == len(questions)
    assert score.inner_text() == f"0 of {len(questions)} right, {len(questions)} not answered"

    # One by the mouse, one by its letter's key.
    asked.nth(good).get_by_role("button", name=f"{questions[good].right.upper()}.").click()
    asked.nth(bad).get_by_role("button").first.focus()
    desk.page.keyboard.press(wrong.letter)
    says = f"1 of {len(questions)} right, {len(questions) - 2} not answered"
    notebook.panel.get_by_text(says).wait_for()
    assert "Right." in asked.nth(good).inner_text()
    assert f"Not right: it is {questions[bad].right.upper()}." in asked.nth(bad).inner_text()
    # The first choice counts.
    asked.nth(bad).get_by_role("button", name=f"{questions[bad].right.upper()}.").click(force=True)
    assert score.inner_text() == says

    complaints = []
    for screen in (LAPTOP, NARROW):
        desk.screen(screen)
        complaints += [line for _ in desk.themes() for line in notebook.looks()["complaints"]]
    assert complaints == []
    noted = {questions[good].key: questions[good].right, questions[bad].key: wrong.letter}
    notebook.wait_until_idle()
    assert desk.lab.progress()["quizzes"] == {NAME: noted}

    assert desk.take_errors() == []
    desk.close_all()
    desk.visit()
    notebook = shown_quiz(desk)
    assert notebook.panel.locator(".gnt-quiz-score").inner_text() == says


@pytest.mark.thorough
def test_a_theory_paper_is_written_and_handed_in(desk: Desk) -> None:
    cells = ["import gn_tutorial as gnt", "gnt.exam_theory(count=3, topics=['host'], seed=1, new=True)"]
    notebook = desk.open(desk.lab.write_notebook("paper.ipynb", [(cell, []) for cell in cells]))
    notebook.run(0, 1)
    asked = notebook.panel.locator(".gnt-quiz-question")
    asked.first.wait_for()
    assert asked.count() == 3
    asked.nth(0).get_by_role("button").first.click()
    notebook.panel.get_by_text("1 of 3 answered").wait_for()
    assert notebook.panel.locator(".gnt-quiz-time").inner_text() == "4 min left"
    complaints = []
    for screen in (LAPTOP, NARROW):
        desk.screen(screen)
        complaints += [line for _ in desk.themes() for line in notebook.looks()["complaints"]]
    assert complaints == []
    for _ in range(2):
        notebook.panel.locator(".gnt-quiz-hand-in").click()
    notebook.panel.get_by_text("2 left open: they count as not right").wait_for()
    notebook.wait_until_idle()
    (noted,) = desk.lab.progress()["theory"]
    assert (noted["asked"], noted["seed"], noted["limit"]) == (3, 1, 4.5)
