"""``gnt doctor --class`` on this machine, and on one that lacks something."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.cli import class_checks
from gn_tutorial.cli.machine_report import OK, PROBLEM, check_kernel
from gn_tutorial.course.lab import folder


@pytest.fixture
def learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner who made nothing yet."""
    monkeypatch.setenv("GNT_COURSE_DIR", str(tmp_path / "course"))
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(tmp_path / "exercises"))
    return tmp_path


def test_it_is_ready_or_says_what_is_missing(learner: Path, gnt: Gnt, monkeypatch: pytest.MonkeyPatch) -> None:
    # The rows of the doctor have tests of their own; here they would cost an import of torch each time.
    monkeypatch.setattr(class_checks, "run_checks", lambda: iter([check_kernel()]))
    before = gnt("doctor", "--class")
    assert before.code == 1
    assert "not ready: notebooks." in before.out
    assert "./gnt lab --copies" in before.out
    assert gnt("lab", "--copies").code == 0
    after = gnt("doctor", "--class")
    assert after.code == 0
    assert "ready for the class" in after.out
    assert "7 of notebooks 00 to 06: all from the cache" in after.out


@pytest.mark.thorough
def test_json_has_the_rows_of_both(learner: Path, gnt: Gnt) -> None:
    rows = {row["name"]: row for row in json.loads(gnt("doctor", "--class", "--json").out)}
    assert rows["Python"]["status"] == rows["build and run"]["status"] == rows["JupyterLab"]["status"] == OK
    assert rows["notebooks"]["status"] == PROBLEM


def test_a_notebook_that_has_no_copy_yet_is_counted(learner: Path, gnt: Gnt) -> None:
    gnt("lab", "--copies")
    (folder.CourseFolder(folder.default_folder()).notebooks / "03_scalar_kernel.ipynb").unlink()
    assert class_checks.check_copies().found.startswith("1 of ")


def test_jupyterlab_that_is_not_installed_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "ipykernel":
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(metadata, "version", version)
    row = class_checks.check_lab()
    assert (row.status, row.found) == (PROBLEM, "ipykernel is not installed")


def test_little_memory_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_checks, "_LEAST_MEMORY", 1 << 60)
    assert class_checks.check_memory().status == PROBLEM


def test_a_file_in_place_of_the_exercises_folder_is_a_problem(learner: Path) -> None:
    (learner / "exercises").write_text("")
    row = class_checks.check_exercises()
    assert row.status == PROBLEM
    assert "GNT_EXERCISES_DIR" in row.advice
