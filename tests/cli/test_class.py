"""``gnt judge``, ``gnt progress export`` and ``gnt class report`` as they are typed."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import pytest
from command_line import Gnt
from PIL import Image

from gn_tutorial.cli.judge_progress import Watcher
from gn_tutorial.course.classroom import scheduler
from gn_tutorial.course.classroom.judge_class import HowFar
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.progress import default_progress


@pytest.fixture
def camp(tmp_path: Path) -> Path:
    """A class of two, who predicted; one of them wrongly."""
    exercise = load_course().find("02.2")
    solution = exercise.solution.read_text()
    for learner, text in (("ada", solution), ("bob", exercise.wrong[0].apply(solution))):
        path = tmp_path / "camp" / learner / exercise.file
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path / "camp"


def test_judge_says_what_came_of_it_and_where_it_is(gnt: Gnt, camp: Path) -> None:
    ran = gnt("judge", camp, "--workers", 1)
    assert ran.code == 0, ran.err
    assert "2 learners, 2 submissions: 1 right, 1 wrong" in ran.out
    assert "gnt: 2 texts; 2 to judge" in ran.err
    assert f"results: {camp}-judged/results.html" in ran.out
    with Path(f"{camp}-judged/results.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["right", "wrong"]
    again = gnt("judge", camp, "--json")
    assert "2 of them before; 0 to judge" in again.err
    assert [one["passed"] for one in again.json["learners"]] == [["02.2"], []]


def test_without_the_extra_it_says_how_to_get_it(gnt: Gnt, camp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(scheduler, "find_spec", lambda name: None if name == "distributed" else there(name))
    ran = gnt("judge", camp)
    assert ran.code == 2
    assert "pip install 'gn_tutorial[judge]'" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{camp}/gone"], "there is no folder"),
        (["{camp}/ada"], "is the folder of one learner, not of a class"),
        (["{camp}", "--scheduler", "tcp://127.0.0.1:9", "--workers", "2"], "exclude each other"),
        (["{camp}", "--seconds", "0"], "seconds"),
        (["{camp}", "--results", "{camp}/ada/x"], "the results would lie in the folder of the class"),
        (["{camp}", "--results", "{camp}/../file/x"], "the results cannot be written"),
    ],
)
def test_a_mistake_in_the_use_is_told(gnt: Gnt, camp: Path, words: list[str], said: str) -> None:
    (camp.parent / "file").touch()
    ran = gnt("judge", *(word.format(camp=camp) for word in words))
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_how_far_it_is_is_told_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr("gn_tutorial.cli.judge_progress.time.monotonic", lambda: float(next(clock)))
    with Watcher() as watcher:
        watcher.tell(HowFar(5, 0, 25))
        for done in range(1, 5):
            watcher.tell(HowFar(5, done, 25, last=object()))  # type: ignore[arg-type]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "gnt: 25 texts, 5 of them before; 20 to judge"
    assert 0 < len(lines) - 1 < 4, "not for each"
    assert " of 20 judged, about " in lines[1]


def test_progress_goes_from_a_learner_to_the_report(gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path / "class")
    default_progress().update(lambda known: known.with_pass("01.1"))
    for name in ("ada", "bob"):
        ran = gnt("progress", "export", "--name", name)
        assert ran.code == 0, ran.err
        assert f"progress-{name}.json: progress of {name}; exercises passed: 1, puzzles: 0" in ran.out
    Path("progress-eve.json").write_text("{")
    ran = gnt("class", "report", ".", "--csv", "class.csv", "--plot", "class.png")
    assert ran.code == 0, ran.err
    assert "2 learners, " in ran.out
    assert "not counted: 1\n  progress-eve.json: it is damaged" in ran.out
    assert len(Path("class.csv").read_text().splitlines()) == 3
    with Image.open("class.png") as image:
        assert "GroupNorm as a formula: 0 reached" in image.info["Description"]
    data = gnt("class", "report", ".", "--json").json
    assert [one["name"] for one in data["learners"]] == ["ada", "bob"]
    assert data["objectives"][0]["objective"] == "group-norm"


def test_a_report_on_nothing_is_an_error_without_traceback(gnt: Gnt, tmp_path: Path) -> None:
    for words, said in (
        ((tmp_path,), "no file of exported progress"),
        ((tmp_path / "gone",), "there is no folder"),
        ((tmp_path, "--plot", "x.jpg"), "the name of a picture must end in .png"),
    ):
        ran = gnt("class", "report", *words)
        assert (ran.code, said in ran.err) == (2, True), ran.err
