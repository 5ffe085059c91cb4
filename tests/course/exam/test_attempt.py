"""An attempt at a task: its clock, what is kept, what counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exam_support import BEGIN, Clock

from gn_tutorial.course.exam.attempt import Attempt, AttemptFile, Attempts, default_folder
from gn_tutorial.errors import ArgumentError

ATTEMPT = Attempt("log_cosh", "/somewhere", "9.x", "ascend910b", 120.0, BEGIN, BEGIN)


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> AttemptFile:
    return AttemptFile(tmp_path, clock)


def test_the_clock_goes_on_while_nobody_looks(clock: Clock) -> None:
    assert ATTEMPT.left(BEGIN + 3600) == 3600
    assert not ATTEMPT.over(BEGIN + 7199)
    assert ATTEMPT.over(BEGIN + 7200)
    assert ATTEMPT.checked(BEGIN + 7000).left(BEGIN) == 200, "a clock that is put back gives nothing back"
    untimed = replace(ATTEMPT, minutes=None)
    assert (untimed.left(BEGIN + 1e6), untimed.over(BEGIN + 1e6)) == (None, False)


def test_the_first_submission_counts_and_a_late_one_does_not() -> None:
    once = ATTEMPT.submitted({"points": 40.0}, BEGIN + 600)
    twice = once.submitted({"points": 100.0}, BEGIN + 9000)
    assert [one["late"] for one in twice.submissions] == [False, True]
    assert (once.finished, twice.finished, twice.spent(BEGIN + 1e6)) == (BEGIN + 600, BEGIN + 600, 600)
    late = replace(ATTEMPT, started=BEGIN + 1).submitted({"points": 90.0}, BEGIN + 8000)
    known = Attempts((twice, late))
    assert known.best("log_cosh")["points"] == 40.0
    assert known.best("mish") is None


def test_everything_is_there_again(file: AttemptFile) -> None:
    assert file.read() == Attempts()
    file.keep(lambda known: known.with_(ATTEMPT))
    changed = file.update(ATTEMPT, lambda one: one.checked(BEGIN + 60))
    other = replace(ATTEMPT, task="mish", started=BEGIN + 5, minutes=None)
    file.keep(lambda known: known.with_(other))
    file.update(changed, lambda one: one.submitted({"points": 50.0, "accepted": False}, BEGIN + 70))
    read = file.read()
    assert [one.task for one in read.attempts] == ["log_cosh", "mish"]
    assert read.attempts[0].checks == 1
    assert read.attempts[0].submissions[0] == {"points": 50.0, "accepted": False, "at": BEGIN + 70, "late": False}
    elsewhere = file.path.parent
    assert read.chosen("", elsewhere).task == "mish"
    assert read.chosen("log_cosh", elsewhere).finished == BEGIN + 70
    with pytest.raises(ArgumentError, match="'rel_diff' was not begun"):
        read.chosen("rel_diff", elsewhere)


def test_who_stands_in_an_attempts_folder_means_that_one(tmp_path: Path) -> None:
    first, second, third = (
        replace(ATTEMPT, task=task, started=BEGIN + number, folder=str(tmp_path / f"{task}_{number}"))
        for number, task in enumerate(("log_cosh", "mish", "log_cosh"))
    )
    known = Attempts((first, second, third))
    assert known.chosen("", tmp_path) == third
    assert known.chosen("", Path(second.folder)) == second
    assert known.chosen("", Path(first.folder) / "op_host") == first
    assert known.chosen("log_cosh", Path(first.folder)) == first
    assert known.chosen("mish", Path(first.folder)) == second, "a name goes before the place"


@pytest.mark.parametrize("content", ["", "[]", '{"attempts": [{"task": "x"}]}', '{"attempts": 3}'])
def test_a_damaged_file_is_named_and_kept(file: AttemptFile, content: str) -> None:
    file.path.write_text(content)
    with pytest.raises(ArgumentError, match="the file of exam attempts cannot be read"):
        file.read()
    assert file.path.read_text() == content


def test_a_new_attempt_gets_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_EXAM_DIR", str(tmp_path))
    assert default_folder("mish") == tmp_path / "mish"
    (tmp_path / "mish").mkdir()
    assert default_folder("mish") == tmp_path / "mish_2"
