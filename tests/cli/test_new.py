"""`gnt new` and `gnt grade`, as typed; what they say of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.course.capstone.starter import new_operator


def test_new_says_what_is_missing_and_what_comes_next(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = gnt("new", "my_softmax", "--operator", "softmax")
    assert made.code == 0
    assert "my_softmax/my_softmax.cpp: YOUR TURN" in made.out
    assert "gnt grade my_softmax" in made.out
    ran = gnt("run", "my_softmax", "--shape", "3,70")
    assert ran.code == 1
    assert "NOT within tolerance" in ran.out


def test_new_refuses_an_operator_that_it_does_not_know(gnt: Gnt, tmp_path: Path) -> None:
    refused = gnt("new", str(tmp_path / "mine"), "--operator", "gelu")
    assert refused.code == 2
    assert "there is no capstone 'gelu'" in refused.err


def test_grade_shows_each_shape_and_the_next_step(gnt: Gnt, tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine", "softmax")
    shown = gnt("grade", str(made))
    assert shown.code == 1
    assert "(5,300) float16" in shown.out
    assert "mine: not right yet: 0 of 21 cases pass, with --strict too" in shown.out
    read = gnt("grade", str(made), "--json").json
    assert (read["mark"], read["share"], len(read["rows"])) == ("not right", None, 21)


def test_grade_refuses_what_is_no_operator(gnt: Gnt, tmp_path: Path) -> None:
    refused = gnt("grade", str(tmp_path))
    assert refused.code == 2
    assert "no operator is registered as" in refused.err


@pytest.mark.parametrize(
    ("command", "code"), [(["show"], 0), (["bench", "--shape", "37,300", "--check"], 1), (["profile"], 1)]
)
def test_commands_take_the_folder(gnt: Gnt, tmp_path: Path, command: list[str], code: int) -> None:
    made = new_operator(tmp_path / "mine", "softmax")
    shown = gnt(command[0], str(made), *command[1:])
    assert shown.code == code, shown.err
    assert "mine" in shown.out
