"""The desk of notebooks: real commands, nothing of the learner's, and the same words on every computer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import ArgumentError

Desk = gnt.lessons.Desk


def test_a_command_runs_and_the_learners_own_files_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GNT_DATA_DIR", "GNT_EXAM_DIR", "GNT_EXERCISES_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a kernel of a notebook does
    desk = Desk()
    desk.run("gnt exam start log_cosh --layout 8.x")
    said = capsys.readouterr().out
    assert said.startswith("$ gnt exam start log_cosh --layout 8.x\n")
    assert "log_cosh (8.x, ascend910b): my_exam/log_cosh\n" in said, "without the desk's own path"
    assert "begun at hh:mm; ... of 120 min are left, until hh:mm" in said
    assert "\x1b" not in said
    assert (desk.folder / "my_exam/log_cosh/op_host/log_cosh.cpp").is_file()
    assert not list(tmp_path.iterdir())

    desk.run("gnt exam list", only="^task|log_cosh")
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["...", "task", "...", "log_cosh", "..."]


def test_an_exit_code_that_was_not_expected_raises_with_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    with pytest.raises(ArgumentError, match=r"(?s)ended with 2, not 0:.*did you mean log_cosh"):
        desk.run("gnt exam start log_cosch")
    desk.run("gnt exam start log_cosch", code=2)
    assert "did you mean log_cosh" in capsys.readouterr().out
    with pytest.raises(ArgumentError, match="no command of gnt"):
        desk.run("ls")


def test_the_editor_replaces_one_line_or_all_up_to_an_end() -> None:
    desk = Desk()
    desk.write("a/b.cpp", "one\ntwo {\n  three\n}\nfour\n")
    desk.replace("a/b.cpp", "two", "\nnew {\n}\n", end="}")
    desk.replace("a/b.cpp", "fou", "five")
    assert (desk.folder / "a/b.cpp").read_text() == "one\nnew {\n}\nfive\n"
    for start, end, message in (("six", "", "no line with 'six'"), ("five", "}", "no line '}' after line 4")):
        with pytest.raises(ArgumentError, match=message):
            desk.replace("a/b.cpp", start, "", end=end)


def test_what_is_made_as_its_learner_is_kept_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("GNT_EXAM_DIR", raising=False)
    desk = Desk()
    with desk.learner():
        paper = gnt.exam_theory(count=3, untimed=True, seed=1)
    assert paper.file.path.is_relative_to(desk.folder)
    assert paper.file.path.is_file()
    assert not list(tmp_path.iterdir())
    assert os.environ["GNT_DATA_DIR"] == str(tmp_path)
    assert "GNT_EXAM_DIR" not in os.environ
