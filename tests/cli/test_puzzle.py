"""``gnt puzzle``: what it lists and shows, its verdict on a file, and a mistake in its use."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.course.puzzles.bank import find, load


@pytest.fixture(autouse=True)
def own_progress(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))


def test_it_lists_and_shows(gnt: Gnt) -> None:
    listed = gnt("puzzle")
    assert listed.code == 0
    assert all(name in listed.out for name in load())
    shown = gnt("puzzle", "04.count")
    assert shown.code == 0
    assert "// Put x + 0.5 into the first 100 lanes of y" in shown.out
    assert "not attempted yet" in shown.out
    assert "hint 1: " in gnt("puzzle", "04.count", "--hint").out


def test_its_exit_code_is_the_verdict_and_a_pass_is_listed(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.cpp"
    mine.write_text("Adds(y, x, 0.5f, 13);")
    wrong = gnt("puzzle", "04.count", mine)
    assert wrong.code == 1
    assert "13 lanes are written" in wrong.out
    monkeypatch.setattr("sys.stdin", io.StringIO(find("04.count").solution))
    assert gnt("puzzle", "04.count", "-").code == 0
    of_notebook = sum(name.startswith("04.") for name in load())
    assert f"1 of {of_notebook} passed" in gnt("learn", "list", "04").out


def test_a_mistake_in_its_use_is_an_error(gnt: Gnt, tmp_path: Path) -> None:
    assert "did you mean 04.count" in gnt("puzzle", "04.cont").err
    missing = gnt("puzzle", "04.count", tmp_path / "none.cpp")
    assert missing.code == 2
    assert "cannot read your lines" in missing.err
