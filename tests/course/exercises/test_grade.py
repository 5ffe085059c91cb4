"""check(): an exercise's file, its verdict and what a pass leaves. test_author_check.py has the wrong solutions."""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path

import pytest

from gn_tutorial.course.exercises import grade
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.verdict import CheckResult, Verdict
from gn_tutorial.course.exercises.workspace import Workspace
from gn_tutorial.course.progress import ProgressFile
from gn_tutorial.errors import ArgumentError

COURSE = load_course()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "mine")


def text_of(page: str) -> str:
    """Return the text that a reader of the HTML sees."""
    return unescape(re.sub(r"<[^>]+>", "", page.replace("<br>", "\n")))


@pytest.fixture
def progress(tmp_path: Path) -> ProgressFile:
    return ProgressFile(tmp_path / "data")


def test_an_unattempted_exercise_gets_its_file_and_a_link_to_it(
    workspace: Workspace, progress: ProgressFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = COURSE.find("03.2")
    (workspace.folder.parent / "notebooks").mkdir()
    monkeypatch.chdir(workspace.folder.parent / "notebooks")
    result = grade.check("03.2", workspace=workspace, progress=progress)
    assert workspace.path(exercise).read_bytes() == exercise.stub.read_bytes()
    assert repr(result) == f"03.2: not attempted yet\n  file:  mine/{exercise.file}"
    link = f'<a href="../mine/{exercise.file}" target="_blank">mine/{exercise.file}</a>'
    assert result._repr_html_() == (f"<p>03.2: not attempted yet; edit {link}, save it, and run this cell again</p>")
    assert repr(grade.check("03.2", workspace=workspace, progress=progress)) == repr(result)
    assert not progress.path.exists()


def test_a_pass_offers_the_next_exercise_and_our_solution(workspace: Workspace, progress: ProgressFile) -> None:
    first, second = COURSE.exercises[:2]
    workspace.prepare(first).write_bytes(first.solution.read_bytes())
    page = grade.check(first.id, workspace=workspace, progress=progress)._repr_html_()
    assert f"next: {second.id} {second.title}" in page
    assert "<summary>our solution</summary>" in page
    assert text_of(page).endswith(first.solution.read_text())


def test_a_failed_check_links_the_file_and_marks_the_place(workspace: Workspace, progress: ProgressFile) -> None:
    exercise = COURSE.find("03.1")
    text = exercise.solution.read_text()
    workspace.prepare(exercise).write_text(text.replace("SetGlobalBuffer(", "SetGlobalBufer(", 1))
    page = grade.check("03.1", workspace=workspace, progress=progress)._repr_html_()
    assert f'target="_blank">mine/{exercise.file}</a>' in page
    marks = re.findall(r'<span style="color:var\(--jp-error-color1,#D55E00\);font-weight:bold">([^<]*)</span>', page)
    assert marks
    assert all("^" in mark for mark in marks)
    assert "white-space:pre;" in page
    line = text[: text.index("SetGlobalBuffer(")].count("\n") + 1
    name = Path(exercise.file).name
    href = Path(os.path.relpath(workspace.path(exercise))).as_posix()
    assert f'<a href="{href}#line={line - 1}" target="_blank">{name}:{line}</a>' in page, "JupyterLab counts from 0"
    assert str(workspace.folder) not in text_of(page)


def test_every_place_of_a_finding_is_shown_and_python_has_its_line(
    workspace: Workspace, progress: ProgressFile
) -> None:
    exercise = COURSE.find("05.1")
    wrong = next(one for one in exercise.wrong if one.name == "EnQue before the copy")
    workspace.prepare(exercise).write_text(wrong.apply(exercise.solution.read_text()))
    page = text_of(grade.check("05.1", workspace=workspace, progress=progress)._repr_html_())
    assert re.search(r"\d+ \| +AscendC::Mul\(.*\n +\| +\^\^\^\n", page)
    assert re.search(r"\d+ \| +AscendC::DataCopyPad\(.*\n +\| +-+ the other one", page)
    exercise = COURSE.find("01.3")
    workspace.prepare(exercise).write_text(exercise.solution.read_text() + "\nx = (1,\n")
    result = grade.check("01.3", workspace=workspace, progress=progress)
    assert result.finding
    assert re.fullmatch(r" +\d+ \| x = \(1,\n +\| \^{7}", result.finding.detail)


def test_check_and_grade_agree_and_a_pass_is_remembered(workspace: Workspace, progress: ProgressFile) -> None:
    exercise = COURSE.find("02.3")
    path = workspace.prepare(exercise)
    path.write_text(path.read_text() + "\n// begun\n")
    failed = grade.check("02.3", workspace=workspace, progress=progress)
    assert failed.status == "failed"
    assert repr(failed) == repr(grade.grade(exercise, path))
    assert progress.read().passed == {}
    path.write_bytes(exercise.solution.read_bytes())
    assert grade.check("02.3", workspace=workspace, progress=progress).passed
    assert list(progress.read().passed) == ["02.3"]


def test_source_of_a_cell_is_checked_like_a_file(workspace: Workspace, progress: ProgressFile) -> None:
    text = COURSE.find("01.3").solution.read_text()
    assert grade.check("01.3", source=text, workspace=workspace, progress=progress).passed
    wrong = grade.check("01.3", source=text.replace("m2_a + m2_b", "m2_a"), workspace=workspace, progress=progress)
    assert wrong.status == "failed"
    assert "is right" in wrong.message


def test_unknown_exercise_is_a_message() -> None:
    with pytest.raises(ArgumentError, match=r"no exercise '03\.9'"):
        grade.check("03.9")


def test_an_empty_file_and_an_unreadable_one(workspace: Workspace, progress: ProgressFile) -> None:
    path = workspace.prepare(COURSE.find("01.1"))
    path.write_text(" \n")
    assert grade.check("01.1", workspace=workspace, progress=progress).message == "the file is empty"
    path.write_bytes(b"x = '\xff'\n")
    assert "Python cannot read the file" in grade.check("01.1", workspace=workspace, progress=progress).message


def test_failure_names_case_hint_and_section_as_text_and_html() -> None:
    finding = Verdict("a < b", "3 numbers", "k.cpp:3", "more <text>")
    result = CheckResult("03.2", "Title", "failed", finding=finding, lesson="notebook 03, section 'S'")
    for part in ("a < b", "3 numbers", "k.cpp:3", "more <text>", "gnt learn hint 03.2", "notebook 03, section 'S'"):
        assert part in repr(result)
    html = result._repr_html_()
    assert "a &lt; b" in html
    assert "more &lt;text&gt;" in html
    assert "gnt learn hint 03.2" in html


def test_data_differ_from_attempt_to_attempt_and_not_from_run_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    class Recorder:
        def check(self, path: Path, seed: int) -> int:
            seeds.append(seed)
            return 1

    monkeypatch.setattr(grade, "checker_of", lambda name: Recorder())
    for text in ("one", "one", "two"):
        assert grade.grade_text(COURSE.find("00.1"), text).passed
    assert seeds[0] == seeds[1] != seeds[2]
