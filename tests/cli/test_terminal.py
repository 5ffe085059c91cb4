"""What reaches the two output streams."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from gn_tutorial.cli import terminal
from gn_tutorial.compare.tolerance import Tolerance


def test_json_is_strict_whatever_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.emit_json(
        {"a": [float("nan"), float("inf"), 1.5], "b": Path("x"), "c": (Tolerance(0.0, 1.0, "é"), None, True)}
    )
    assert json.loads(capsys.readouterr().out) == {
        "a": [None, None, 1.5],
        "b": "x",
        "c": [{"rtol": 0.0, "atol": 1.0, "reason": "é", "narrow": [], "of_largest": 0.0}, None, True],
    }


def test_cells_are_no_markup_and_are_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    terminal.print_table(("shape", "path"), [("[4096]", "/a" * 60)], title="[bold]demo")
    out = capsys.readouterr().out
    assert "[4096]" in out
    assert "/a" * 60 in out
    assert out.startswith("[bold]demo\n")


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_narrow_table_fits_and_wraps_before_it_cuts_a_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    names = [f"group_norm/{name}" for name in ("scalar", "double_buffered", "vectorised")]
    cells = [(name, "two words and more of them " * 3, f"/a/path/{'x' * 50}", 1.5) for name in names]
    terminal.print_table(("kernel", "what it is about", "file", "a long header"), cells, right=("a long header",))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    if columns >= 60:
        assert [line.split()[0] for line in lines if line.startswith("group_norm")] == names
    # Nothing is left out: every path is there once its pieces are put together.
    letters = "".join("".join(lines).split())
    assert letters.count("x") == 3 * 50


def test_a_column_of_names_is_kept_like_the_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    row = ("(2,8,30,31) G2 float32", "double_buffered", "a-word-that-is-much-too-long-here", "1.25")
    for names, whole in (((), False), (("kernel",), True)):
        terminal.print_table(("shape", "kernel", "limit", "ratio"), [row], names=names)
        assert ("double_buffered" in capsys.readouterr().out) == whole


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
