"""Right solutions of the capstone pass; named wrong ones are refused, each with a message of its own."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gn_tutorial.course.capstone.grade import DISTINCTION, PASS
from gn_tutorial.course.capstone.grading import grade
from gn_tutorial.course.exercises.registry import Edit, WrongSolution

SOLUTIONS = Path(__file__).parents[3] / "solutions" / "capstone"
OPERATORS = ("my_softmax", "my_layer_norm", "my_rms_norm")
FEWEST_WRONG = 3
_BETWEEN = "\n=== the next file ===\n"


def wrong_of(operator: str) -> list[dict[str, Any]]:
    return tomllib.loads((SOLUTIONS / operator / "wrong.toml").read_text("utf-8"))["wrong"]


def mistaken(operator: str, wrong: dict[str, Any], folder: Path) -> Path:
    """The solution with one mistake, in a folder of its own."""
    made = Path(shutil.copytree(SOLUTIONS / operator, folder / operator))
    files = [made / f"{operator}.cpp", made / f"{operator}_tiling.h", made / "op.toml"]
    edits = tuple(Edit(**edit) for edit in wrong["edit"])
    text = WrongSolution(wrong["name"], wrong["message"], edits).apply(
        _BETWEEN.join(f.read_text("utf-8") for f in files)
    )
    for file, content in zip(files, text.split(_BETWEEN), strict=True):
        file.write_text(content, encoding="utf-8")
    return made


def all_wrong(slow: bool) -> list[Any]:
    return [
        pytest.param(operator, wrong, id=f"{operator}-{wrong['name'].replace(' ', '_')}")
        for operator in OPERATORS
        for wrong in wrong_of(operator)
        if bool(wrong.get("slow")) == slow
    ]


def refused(operator: str, wrong: dict[str, Any], folder: Path) -> None:
    made = grade(mistaken(operator, wrong, folder))
    assert not made.passed
    assert wrong["message"] in (str(made.losses[0]) if made.losses else made.verdict())
    assert repr(made).startswith(made.verdict())


@pytest.mark.parametrize("operator", OPERATORS)
def test_there_are_enough_and_no_two_have_one_message(operator: str) -> None:
    messages = [wrong["message"] for wrong in wrong_of(operator)]
    assert len(set(messages)) == len(messages) >= FEWEST_WRONG


@pytest.mark.parametrize(("operator", "wrong"), [all_wrong(slow=False)[0], all_wrong(slow=False)[-1]])
def test_two_wrong_solutions_are_refused(operator: str, wrong: dict[str, Any], tmp_path: Path) -> None:
    refused(operator, wrong, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(("operator", "wrong"), [*all_wrong(slow=False)[1:-1], *all_wrong(slow=True)])
def test_every_wrong_solution_is_refused(operator: str, wrong: dict[str, Any], tmp_path: Path) -> None:
    refused(operator, wrong, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("operator", "least"), [("my_softmax", DISTINCTION), ("my_layer_norm", PASS), ("my_rms_norm", DISTINCTION)]
)
def test_the_solutions_pass(operator: str, least: float) -> None:
    made = grade(SOLUTIONS / operator)
    assert not made.losses, made.advice()
    assert made.share is not None
    assert made.share >= least


def test_the_three_share_one_header() -> None:
    assert len({(SOLUTIONS / operator / "rows.h").read_text("utf-8") for operator in OPERATORS}) == 1
