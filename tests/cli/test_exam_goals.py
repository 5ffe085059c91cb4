"""``gnt exam goals`` through its own main."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Gnt

import gn_tutorial as gnt_door
from gn_tutorial.course.exam.goals import load_goals
from gn_tutorial.course.progress import ProgressFile


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder."""
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_the_report_follows_the_learner(gnt: Gnt, data: Path) -> None:
    ran = gnt("exam", "goals")
    assert (ran.code, ran.err) == (0, "")
    assert "1. Rows of any length (0%)" in ran.out
    assert "gnt learn --exercise 00.1" in ran.out
    ProgressFile(data / "data").update(lambda known: known.with_pass("00.1"))
    rows = {one["objective"]: one for one in gnt("exam", "goals", "--json").json["objectives"]}
    number = len(next(one for one in load_goals() if one.id == "rows").of("exercises"))
    assert rows["rows"]["parts"]["exercises"] == {"done": 1.0, "of": number}
    assert rows["rows"]["share"] == pytest.approx(1 / number / 4, abs=1e-4)
    assert "gnt learn --exercise 00.1" not in gnt("exam", "goals").out
    assert "Rows of any length" in repr(gnt_door.exam_goals())


def test_a_picture(gnt: Gnt, data: Path) -> None:
    ran = gnt("exam", "goals", "--plot", data / "goals.png")
    assert ran.code == 0
    assert (data / "goals.png").read_bytes().startswith(b"\x89PNG")
    refused = gnt("exam", "goals", "--plot", data / "goals.jpg")
    assert (refused.code, refused.out) == (2, "")
    assert "the name of a picture must end in .png" in refused.err


def test_files_that_cannot_be_read(gnt: Gnt, data: Path) -> None:
    (data / "data").mkdir()
    (data / "data" / "progress.json").write_text("{")
    ran = gnt("exam", "goals")
    assert ran.code == 0
    assert "the progress file is damaged; it was kept as" in ran.err
    (data / "data" / "exam_attempts.json").write_text(json.dumps({"attempts": 3}))
    refused = gnt("exam", "goals")
    assert (refused.code, refused.out) == (2, "")
    assert "the file of exam attempts cannot be read" in refused.err
