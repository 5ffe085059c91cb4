"""Plans for teachers: they add up, name what is there, and give slides with the notebooks' outputs."""

from __future__ import annotations

import copy
from pathlib import Path

import make_slides
import make_teaching
import pytest
from thoroughness import some

from gn_tutorial.course.exercises.registry import load_course

CONTENTS = make_teaching.load()
PARTS, PLANS = CONTENTS["parts"], {plan["name"]: plan for plan in CONTENTS["plans"]}
ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_plans_make() -> None:
    assert make_teaching.PAGE.read_text() == make_teaching.page(CONTENTS), "./gnt lint notebooks --fix"


def test_plans_last_as_long_as_they_say() -> None:
    minutes = {name: sum(row[1] for row in plan["rows"]) for name, plan in PLANS.items()}
    assert minutes == {"Two hours": 120, "One day": 480, "The second day": 480}
    used = {row[0] for plan in PLANS.values() for row in plan["rows"]} - make_teaching.PAUSES.keys()
    assert used == PARTS.keys()


def test_exercises_and_puzzles_are_there() -> None:
    exercises = {one.id for one in load_course()}
    puzzles = {path.stem for path in (ROOT / "exercises" / "puzzles").glob("*.toml")}
    for part in PARTS.values():
        for name in part.get("do", ()):
            kind, _, puzzle = name.partition(" ")
            assert name in exercises or (kind == "puzzle" and f"{part['notebook']}_{puzzle}" in puzzles), name


def test_exercises_fit_into_their_part() -> None:
    minutes = {one.id: one.minutes for one in load_course()}
    for plan in PLANS.values():
        for name, given in plan["rows"]:
            needed = sum(minutes.get(one, 3) for one in PARTS.get(name, {}).get("do", ()))
            assert needed <= given, f"{plan['name']}: {name} has {given} minutes, its exercises take {needed}"


@pytest.mark.parametrize("name", some(list(PLANS), 2))
def test_slides_are_the_cells_of_the_notebooks(name: str, tmp_path: Path) -> None:
    pytest.importorskip("nbconvert")
    make_slides.main([name, "--out", str(tmp_path)])
    text = (tmp_path / "index.html").read_text()
    assert text.count("data:image/png;base64,") >= 3
    assert "gnt.plot.vector_core(" not in text, "the code of a picture is left out"


def test_a_cell_that_is_not_there_is_named() -> None:
    parts = copy.deepcopy(PARTS)
    parts["welcome"]["show"] = ["nobody"]
    with pytest.raises(ValueError, match=r"shows the cell 'nobody', and 00_start_here\.ipynb has none"):
        make_slides.slides(PLANS["Two hours"], parts)
