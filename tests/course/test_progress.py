"""The learner's progress: kept whole, shared by two programs, and a damaged file costs nobody their work."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.course.progress import Progress, ProgressFile, default_progress
from gn_tutorial.errors import ArgumentError


def test_pass_and_hints_are_remembered(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path / "data")
    assert file.read() == Progress()
    file.update(lambda known: known.with_pass("00.1"))
    file.update(lambda known: known.with_hint("03.2", 2))
    file.update(lambda known: known.with_hint("03.2", 1))
    again = ProgressFile(tmp_path / "data").read()
    assert list(again.passed) == ["00.1"]
    assert again.hints == {"03.2": 2}


def test_answers_to_quizzes_are_remembered_beside_the_rest(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path)
    file.update(lambda known: known.with_hint("03.2", 2).with_answers("03", {"one": "a", "two": "b"}))
    file.update(lambda known: known.with_answers("03", {"two": "c"}).with_answers("04", {"one": "d"}))
    again = ProgressFile(tmp_path).read()
    assert again.quizzes == {"03": {"one": "a", "two": "c"}, "04": {"one": "d"}}
    assert again.hints == {"03.2": 2}
    assert again.without_answers("03").quizzes == {"04": {"one": "d"}}


def test_the_date_of_the_first_pass_stays() -> None:
    assert Progress({"00.1": "2020-01-01"}).with_pass("00.1").passed == {"00.1": "2020-01-01"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"passed": 3}',
        b"\xff\xfe",
        b'{"passed": {}, "hints": {"a": "b"}}',
        b'{"passed": {}, "hints": {}, "quizzes": {"03": 1}}',
    ],
)
def test_a_damaged_file_is_kept_and_said(tmp_path: Path, content: bytes) -> None:
    said: list[str] = []
    file = ProgressFile(tmp_path, said.append)
    for number in (1, 2):
        file.path.write_bytes(content)
        assert file.read() == Progress()
        assert (tmp_path / f"progress.damaged{number}.json").read_bytes() == content
        assert "damaged" in said[-1]
        assert f"progress.damaged{number}.json" in said[-1]
    assert file.update(lambda known: known.with_pass("00.1")).passed.keys() == {"00.1"}


def test_two_programs_lose_nothing(tmp_path: Path) -> None:
    def work(name: str) -> None:
        for number in range(10):
            ProgressFile(tmp_path).update(lambda known, number=number: known.with_pass(f"{name}.{number}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("00", "01")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ProgressFile(tmp_path).read().passed) == 20
    assert len(json.loads((tmp_path / "progress.json").read_text())["passed"]) == 20


def test_a_folder_that_cannot_be_used_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="GNT_DATA_DIR"):
        ProgressFile(tmp_path / "file" / "data").update(lambda known: known.with_pass("00.1"))


def test_the_folder_is_the_users_or_as_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path))
    assert default_progress().path == tmp_path / "progress.json"
    monkeypatch.delenv("GNT_DATA_DIR")
    assert default_progress().path.parent.name == "gn_tutorial"


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_progress_of_twelve_notebooks_moves_to_the_present_numbers(tmp_path: Path) -> None:
    """Notebook 06 became two. A learner keeps what was passed, under the number that the exercise has now."""
    old = {
        "version": 1,
        "passed": {"06.3": "2026-01-02", "07.1": "2026-01-03", "11.4": "2026-01-04"},
        "hints": {"09.2": 2},
    }
    file = ProgressFile(tmp_path)
    file.path.write_text(json.dumps(old))
    assert file.read().passed == {"06.3": "2026-01-02", "08.1": "2026-01-03", "12.6": "2026-01-04"}
    assert file.read().hints == {"10.2": 2}
    after = file.update(lambda known: known.with_pass("08.2"))
    assert list(after.passed)[-1] == "12.6"
    assert file.read() == after, "a second reading moves nothing again"


def test_progress_moves_with_exercises_that_took_the_order_of_their_notebook(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path)
    file.path.write_text(
        json.dumps({"version": 2, "passed": {"01.2": "2026-01-02", "08.1": "2026-01-03"}, "hints": {}})
    )
    assert file.read().passed == {"01.3": "2026-01-02", "08.1": "2026-01-03"}
    after = file.update(lambda known: known.with_hint("01.2", 1))
    assert file.read() == after, "a second reading moves nothing again"
    assert (after.passed["01.3"], after.hints) == ("2026-01-02", {"01.2": 1})
