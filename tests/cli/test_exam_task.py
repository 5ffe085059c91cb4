"""``gnt exam`` start, status, check, submit, report and solution through its own main."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import Gnt


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folders."""
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GNT_EXAM_DIR", str(tmp_path / "exam"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def age(data: Path, minutes: float) -> None:
    """As if the attempts had begun so much earlier."""
    path = data / "data" / "exam_attempts.json"
    kept = json.loads(path.read_text())
    for one in kept["attempts"]:
        one["started"] -= minutes * 60
        one["seen"] -= minutes * 60
    path.write_text(json.dumps(kept))


def test_begun_looked_at_handed_in_and_reported(gnt: Gnt, data: Path) -> None:
    begun = gnt("exam", "start", "log_cosh", "--layout", "8.x")
    folder = data / "exam" / "log_cosh"
    assert begun.code == 0
    assert "120 of 120 min are left, until " in begun.out
    assert (folder / "op_host" / "log_cosh_tiling.h").is_file()
    again = gnt("exam", "start", "log_cosh")
    assert "log_cosh was already started" in again.out
    age(data, 30)
    status = gnt("exam", "status", "--json").json
    assert status["minutes_left"] == pytest.approx(90, abs=0.5)
    assert status["gaps"]["op_host/log_cosh_tiling.h"] == 1
    refused = gnt("exam", "solution", "log_cosh", data / "ours")
    assert (refused.code, "your attempt at log_cosh is open" in refused.err) == (2, True)
    assert "log_cosh was not handed in" in gnt("exam", "report").err

    given = gnt("exam", "submit")
    assert given.code == 1
    assert "log_cosh: refused, 0 of 100 points" in given.out
    assert "the tiling struct has no field" in given.out
    assert "handed in after 30 min of 120" in given.out

    assert gnt("exam", "solution", "log_cosh", data / "ours", "--layout", "8.x").code == 0
    for part in ("op_host", "op_kernel"):
        shutil.copytree(data / "ours" / part, folder / part, dirs_exist_ok=True)
    better = gnt("exam", "submit", "log_cosh")
    assert better.code == 0
    assert "log_cosh: accepted, 100 of 100 points" in better.out
    assert "practice, the first submission counts" in better.out
    report = gnt("exam", "report")
    assert "all submissions: 0, 100; the first counts" in report.out
    assert gnt("exam", "list", "--json").json[0] == {
        "task": "log_cosh", "grade": "easy", "dtypes": "float16", "state": "handed in", "points": "0",
    }  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("task", "layout"), [("rel_diff", "8.x"), ("mish", "9.x")])
def test_the_given_test_is_run_as_it_stands(gnt: Gnt, data: Path, task: str, layout: str) -> None:
    gnt("exam", "solution", task, data / "ours", "--layout", layout)
    gnt("exam", "start", task, "--layout", layout)
    failed = gnt("exam", "check")
    assert (failed.code, "the given test fails" in failed.out) == (1, True)
    for part in ("op_host", "op_kernel"):
        shutil.copytree(data / "ours" / part, data / "exam" / task / part, dirs_exist_ok=True)
    checked = gnt("exam", "check")
    assert checked.code == 0, checked.out
    assert checked.out.count("| test pass: ") == 3
    assert "the given test passes; gnt exam submit asks for more" in checked.out
    assert gnt("exam", "status", "--json").json["checks"] == 2
    assert gnt("exam", "submit").code == 0
    assert (
        "the given test passes; it was handed in before, so another submission is practice" in gnt("exam", "check").out
    )


def test_what_comes_late_is_called_late(gnt: Gnt, data: Path) -> None:
    gnt("exam", "start", "log_cosh", "--minutes", 10)
    age(data, 15)
    assert "the time ended 5 min ago: work handed in now is late" in gnt("exam", "status").out
    kernel = data / "exam" / "log_cosh" / "op_kernel" / "log_cosh.cpp"
    kernel.write_text("AscendC::Cosh(y, x);\n" + kernel.read_text())
    late = gnt("exam", "submit")
    assert "Cosh is a high-level API, which this task forbids" in late.out
    assert "where: op_kernel/log_cosh.cpp:1" in late.out
    assert "late: an exam would not have accepted it" in late.out
    new = gnt("exam", "start", "log_cosh", "--new", "--untimed")
    assert "no limit of time" in new.out
    assert (data / "exam" / "log_cosh_2").is_dir()


def test_a_command_without_a_name_is_for_the_folder_it_is_typed_in(
    gnt: Gnt, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gnt("exam", "start", "log_cosh")
    gnt("exam", "start", "mish")
    assert gnt("exam", "status", "--json").json["task"] == "mish"
    monkeypatch.chdir(data / "exam" / "log_cosh" / "op_host")
    assert gnt("exam", "status", "--json").json["task"] == "log_cosh"
    assert gnt("exam", "status", "mish", "--json").json["task"] == "mish"


def test_mistakes_in_its_use_are_refused(gnt: Gnt, data: Path) -> None:
    for words, message in (
        (("start", "log_cos"), "did you mean log_cosh?"),
        (("start", "log_cosh", "--layout", "7"), "there is no layout '7'"),
        (("start", "log_cosh", "--soc", "z80"), "z80"),
        (("start", "log_cosh", "--untimed", "--minutes", 5), "exclude each other"),
        (("start", "log_cosh", "--minutes", 0.0), "is not a time for a task"),
        (("status",), "no task was begun"),
        (("submit", "mish"), "'mish' was not begun"),
        (("solution", "log_cosh", data / "x", "--which", "best"), "there is no solution 'best'"),
    ):
        ran = gnt("exam", *words)
        assert ran.code == 2, words
        assert message in ran.err
    gnt("exam", "start", "log_cosh")
    shutil.rmtree(data / "exam" / "log_cosh")
    gone = gnt("exam", "submit")
    assert (gone.code, "there is no folder" in gone.err) == (2, True)
