"""What reaches the two output streams."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from gn_tutorial.cli import terminal
from gn_tutorial.operators.spec import Tolerance


def test_json_is_strict_whatever_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.emit_json(
        {"a": [float("nan"), float("inf"), 1.5], "b": Path("x"), "c": (Tolerance(0.0, 1.0, "é"), None, True)}
    )
    assert json.loads(capsys.readouterr().out) == {
        "a": [None, None, 1.5],
        "b": "x",
        "c": [{"rtol": 0.0, "atol": 1.0, "reason": "é", "narrow": [], "of_largest": 0.0}, None, True],
    }


def test_cells_are_no_markup_and_are_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_table(("shape", "path"), [("[4096]", "/a" * 60)], title="[bold]demo")
    out = capsys.readouterr().out
    assert "[4096]" in out
    assert "/a" * 60 in out
    assert out.startswith("[bold]demo\n")


def test_long_work_is_announced_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_PATIENCE", 0.05)
    with terminal.working("compiling demo"):
        time.sleep(0.3)
    captured = capsys.readouterr()
    assert captured.err == "gnt: compiling demo ...\n"
    assert captured.out == ""


def test_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.working("a moment"):
        pass
    assert capsys.readouterr().err == ""
