"""The report on a class: counts by objective, the table, the last of a learner's files, files that do not count."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from gn_tutorial import __version__
from gn_tutorial.course.classroom.class_report import HEADERS, ClassReport, class_report
from gn_tutorial.course.classroom.progress_export import Export, write_export
from gn_tutorial.course.exam.attempt import Attempt, Attempts
from gn_tutorial.course.exam.goals import load_goals
from gn_tutorial.course.exam.objective_progress import Learned, standings
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.progress import Progress
from gn_tutorial.errors import ArgumentError

DAY = "2026-11-27T00:00:00+00:00"


def whole() -> Progress:
    """Of a learner who did everything but the tasks."""
    items = [item for goal in load_goals() for item in goal.items]
    quizzes: dict[str, dict[str, str]] = {}
    theory: dict[str, str] = {}
    for item in items:
        if item.question is not None:
            place = quizzes.setdefault(item.group, {}) if item.kind == "quizzes" else theory
            place[item.question.key] = item.question.right
    passed = {one.id: "2026-01-02" for one in load_course()}
    return Progress(passed, {}, quizzes, ({"date": DAY, "seed": 1, "answers": theory},))


def exported(name: str, progress: Progress, attempts: Attempts | None = None, date: str = DAY) -> Export:
    return Export(name, date, __version__, Learned(progress, attempts or Attempts()))


@pytest.fixture
def report(tmp_path: Path) -> ClassReport:
    task = Attempt("mish", "", "9.x", "ascend910b", None, 1.0, 1.0)
    said = {"points": 61.5, "accepted": False, "late": False, "at": 2.0}
    some = Progress({one.id: "2026-01-02" for one in load_course() if one.notebook < "04"})
    for learner in (
        exported("=ada", whole()),
        exported("bob", some, Attempts((replace(task, submissions=(said,)),))),
        exported("eve", Progress()),
    ):
        write_export(learner, tmp_path / "class" / f"{learner.name[-3:]}.json")
    return class_report(tmp_path / "class")


def test_every_objective_counts_every_learner_once(report: ClassReport) -> None:
    assert [one.goal.id for one in report.goals()] == [one.id for one in load_goals()]
    for one in report.goals():
        assert one.reached + one.half + one.begun + one.untouched == 3
        assert one.untouched >= 1, "eve did nothing"
        assert one.mean == pytest.approx(sum(one.shares) / 3)
        alone = next(each for each in standings(load_goals(), report.learners[1].export.known) if each.goal == one.goal)
        assert one.shares[1] == alone.share
    no_task = [one for one in report.goals() if not one.goal.of("tasks")]
    assert no_task
    assert {one.reached for one in no_task} == {1}
    assert {len(row) for row in report.rows()} == {len(HEADERS)}


def test_the_table_has_a_line_for_each_learner(report: ClassReport) -> None:
    rows = list(csv.DictReader(io.StringIO(report.csv())))
    assert [row["learner"] for row in rows] == ["'=ada", "bob", "eve"]
    assert [row["points of mish"] for row in rows] == ["", "61.5", ""]
    assert rows[0]["exercises"] == str(len(load_course().exercises))
    assert float(rows[0]["group-norm"]) == 1.0
    assert float(rows[2]["mean"]) == 0.0


def test_the_last_file_of_a_learner_counts(tmp_path: Path) -> None:
    write_export(exported("ada", whole(), date="2026-11-26T00:00:00+00:00"), tmp_path / "old.json")
    write_export(exported("ada", Progress(), date="2026-11-28T00:00:00+00:00"), tmp_path / "ada" / "new.json")
    write_export(exported("ada", whole(), date="2026-11-27T00:00:00+00:00"), tmp_path / "z.json")
    found = class_report(tmp_path)
    assert [one.share for one in found.learners] == [0.0]
    assert {one.path for one in found.aside} == {"old.json", "z.json"}
    assert all(one.why.startswith("ada/new.json is of 'ada' too, and newer") for one in found.aside)


def test_foreign_and_broken_files_are_named_and_do_not_count(tmp_path: Path) -> None:
    write_export(exported("ada", whole()), tmp_path / "ada.json")
    (tmp_path / "notebook.json").write_text('{"nbformat": 4}')
    (tmp_path / "cut.json").write_text((tmp_path / "ada.json").read_text()[:-40])
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = class_report(tmp_path)
    assert [one.name for one in found.learners] == ["ada"]
    assert {one.path: one.why.partition(":")[0] for one in found.aside} == {
        "notebook.json": "it is no export",
        "cut.json": "it is damaged",
    }


def test_another_version_is_told(tmp_path: Path) -> None:
    write_export(replace(exported("ada", whole()), course="0.0.1"), tmp_path / "ada.json")
    assert "another version of the course" in class_report(tmp_path).notes[0]


def test_a_folder_without_any(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ArgumentError, match="no file of exported progress") as caught:
        class_report(tmp_path)
    assert "x.json: it is no export" in str(caught.value)
    with pytest.raises(ArgumentError, match="there is no folder"):
        class_report(tmp_path / "gone")
