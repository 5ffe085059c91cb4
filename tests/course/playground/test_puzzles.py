"""Puzzles in the page: solved, not solved, refused in the notebook's words."""

from __future__ import annotations

import base64
from pathlib import PurePosixPath
from typing import Any

import pytest
from playground_support import Page

from gn_tutorial.course.mistakes import WrongAnswer
from gn_tutorial.course.playground.compiling import Compilation
from gn_tutorial.course.playground.outcome import Modelled, outcome
from gn_tutorial.course.playground.puzzle import judged, mistake_of, of_start
from gn_tutorial.course.playground.starts import puzzle_starts
from gn_tutorial.course.puzzles.bank import Puzzle, load

PUZZLES, STARTS = load(), {start["id"].removeprefix("puzzle/"): start for start in puzzle_starts()}
WRONG = [
    WrongAnswer("a sum", "", "Subtract.", when="'Add(' in text"),
    WrongAnswer("a loop", "", "Right, but slow.", when="ops['Adds'] > 1", right=True),
    WrongAnswer("half of it", "", "The other half.", finding="gm-*"),
]
FINE = {"ended": "", "findings": [], "numbers": [{"right": True, "text": "y: all 8 right"}]}
OFF = {**FINE, "numbers": [{"right": False, "text": "y: 1 of 8 wrong"}]}
FOUND = {**FINE, "findings": [{"id": "gm-not-written", "severity": "warning", "what": "4 of the 8 ..."}]}


def said(text: str, shown: dict[str, Any]) -> tuple[bool, str]:
    found = judged(of_start(WRONG, "before {\n", "}\n"), text, shown, None)
    assert found["begun"]
    return found["right"], found["said"]


def test_lines_are_right_or_told_their_mistake() -> None:
    assert said("before {\n  Sub(y, x);\n}\n", FINE) == (True, "")
    assert said("before {\n  Sub(y, x);\n}\n", OFF) == (False, "")
    assert said("before {\n  Add (y, x);\n}", OFF) == (False, "Subtract.")
    assert said("before {\n  Add(y, x);\n}", FOUND) == (False, "The other half.")
    assert said("before {\n  Sub(y, x);\n}", {**FINE, "ended": "The kernel did not end well"})[0] is False


def test_lines_that_are_not_there_and_lines_around_them() -> None:
    start = of_start(WRONG, "before {\n", "}\n")
    assert judged(start, "before {\n  // Subtract.\n}\n", OFF, None)["begun"] is False
    assert "lines around" in said("before() {\n  Sub(y, x);\n}\n", FINE)[1]
    assert mistake_of(start, "before {\n  Add(y);\n}\n", "no matching function") == "Subtract."
    assert mistake_of(start, "before {\n  Sub(y);\n}\n", "no matching function") == ""


def test_a_mistake_that_only_arrays_show_is_the_notebooks() -> None:
    start = of_start([WrongAnswer("cut", "", "Round.", when="(y < y_want).all()", right=True)], "", "")
    assert start["wrong"] == []
    found = judged(start, "Sub(y, x);", FINE, None)
    assert found["right"]
    assert "notebook" in found["said"]


def test_the_text_of_every_puzzle_is_begun_and_not_right() -> None:
    for name, start in STARTS.items():
        assert judged(start["puzzle"], start["text"], OFF, None) == {"right": False, "begun": False, "said": ""}, name


def run(page: Page, puzzle: Puzzle, lines: str) -> dict[str, Any]:
    """What the page would show of these lines."""
    start = STARTS[puzzle.id]
    inside = "".join(f"  {line}\n" for line in lines.strip("\n").splitlines())
    text = start["puzzle"]["before"] + inside + start["puzzle"]["after"]
    source = Compilation(PurePosixPath(start["path"]), text)
    if failed := page.compile(puzzle.id, source):
        return {"said": mistake_of(start["puzzle"], text, source.failure(failed).errors[0].message)}
    (case,) = start["cases"]
    answer = page.launch_job(puzzle.id, case["launches"][0])
    arrays, slots = ({name: base64.b64decode(data) for name, data in answer["arrays"].items()}, b"")
    if answer["trace"]:
        slots = base64.b64decode(answer["trace"]["slots"])
    expected = {name: {**of, "values": base64.b64decode(of["values"])} for name, of in case["expected"].items()}
    modelled: Modelled | None
    shown, modelled = outcome(case["launches"][0], answer, arrays, slots, expected, "910B2")
    page.ask(do="forget", name=puzzle.id)
    return judged(start["puzzle"], text, shown, modelled)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PUZZLES)
def test_the_solution_is_right_and_what_the_notebook_refuses_is_not(page: Page, name: str) -> None:
    puzzle = PUZZLES[name]
    assert run(page, puzzle, puzzle.solution)["right"]
    asked = {one["say"] for one in STARTS[name]["puzzle"]["wrong"]}
    for one in puzzle.wrong:
        if one.right and one.say in asked:
            assert run(page, puzzle, one.lines)["said"] == one.say
        elif not one.right:
            assert not run(page, puzzle, one.lines).get("right")
