"""What a visitor meets first: README, its pictures and its syllabus, the version, the forms of the issue tracker."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import make_syllabus
import pytest
import yaml
from command_line import Gnt
from PIL import Image

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*_*.yml"))
DRAWN = re.findall(r"^`\./gnt (.+ --plot (\w+\.png))`$", README, re.MULTILINE)


def notebook(folder: Path, *lines: str) -> Path:
    path = folder / "03_scalar_kernel.ipynb"
    path.write_text(json.dumps({"cells": [{"source": "\n\n".join(["# 03 · Scalar kernel", *lines])}]}))
    return path


def test_the_syllabus_is_what_the_notebooks_say() -> None:
    assert make_syllabus.put(ROOT / "README.md", check=True), "./gnt lint notebooks --fix"


def test_a_lesson_says_its_minutes_and_what_it_needs(tmp_path: Path) -> None:
    needs = "**Prerequisites**: notebook 00;\nsums. No NPU."
    there = make_syllabus.writing("03")
    for time, more in (("", 0), (", and 45 more for the four exercises", 0), (", and two hours for a task", 120)):
        found = make_syllabus.lesson(notebook(tmp_path, f"**Time**: about 70 minutes{time}", needs))
        written = there.total() + more
        assert found == ("03_scalar_kernel.ipynb", "03", "Scalar kernel", 70, written, "notebook 00; sums")


def test_what_is_written_takes_the_minutes_of_its_files() -> None:
    there = make_syllabus.writing("03")
    files = [tomllib.loads(path.read_text()) for path in (ROOT / "solutions").glob("03_*/*.exercise.toml")]
    puzzles = list((ROOT / "exercises" / "puzzles").glob("03_*.toml"))
    assert there == (len(files), sum(one["minutes"] for one in files), len(puzzles))
    assert there.total() == there.minutes + make_syllabus.MINUTES * len(puzzles) > there.minutes


@pytest.mark.parametrize(
    ("counts", "before", "after"),
    [
        ((0, 0, 0), "", ""),
        ((1, 10, 0), "", ", and 10 more for the exercise"),
        ((4, 45, 6), ", and 45 more for the four exercises", ", and 75 more for exercises and puzzles"),
        ((0, 0, 1), ", and 45 more for the four exercises", ", and 5 more for the puzzle"),
        ((0, 0, 0), ", and 45 more for the four exercises", ""),
        ((0, 0, 2), ", and two hours for a task", ", 10 more for the two puzzles, and two hours for a task"),
        ((0, 0, 13), "", ", and 65 more for the 13 puzzles"),
    ],
)
def test_the_time_of_a_notebook_is_made_anew(counts: tuple[int, int, int], before: str, after: str) -> None:
    there = make_syllabus.Writing(*counts)
    for time in (before, after):  # a second run changes nothing
        line, _ = make_syllabus.time_line(f"# 03 · T\n\n**Time**: about 70 minutes{time}\n\nMore", there)
        assert line == f"**Time**: about 70 minutes{after}"


@pytest.mark.parametrize("path", make_syllabus.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_says_the_minutes_of_its_exercises_and_puzzles(path: Path) -> None:
    assert make_syllabus.put_time(path, check=True), "./gnt lint notebooks --fix"


def test_the_counts_of_the_page_are_those_of_the_files(tmp_path: Path) -> None:
    assert README.count(make_syllabus.counts()) == 1
    page = tmp_path / "README.md"
    page.write_text(README.replace(" exercises, ", "9 exercises, "))
    assert not make_syllabus.put(page, check=True)
    make_syllabus.put(page, check=False)
    assert page.read_text() == README
    notebooks = len(make_syllabus.notebooks())
    assert notebooks == 16
    assert "the course: sixteen notebooks" in README


@pytest.mark.parametrize("time", ["", "**Time**: 70 minutes", "**Time**: about 70 minutes, and some for exercises"])
def test_a_notebook_without_them_is_named(tmp_path: Path, time: str) -> None:
    with pytest.raises(ValueError, match=r"03_scalar_kernel\.ipynb: its first cell"):
        make_syllabus.lesson(notebook(tmp_path, time, "**Prerequisites**: notebook 00"))


def test_a_syllabus_that_differs_is_written_anew_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"before\n{make_syllabus.BEGIN}old\n{make_syllabus.END}behind\n")
    assert not make_syllabus.put(page, check=True)
    assert make_syllabus.put(page, check=False)
    made = page.read_text()
    assert made.startswith("before\n<!--")
    assert made.endswith(f"{make_syllabus.END}behind\n")
    assert make_syllabus.table(make_syllabus.lessons()) in README


def test_the_hours_of_the_routes_are_those_of_their_notebooks() -> None:
    course = {one.number: one for one in make_syllabus.lessons()}
    both = sum(course[f"{number:02}"].minutes + course[f"{number:02}"].exercises for number in range(7))
    two_days = both + course["10"].minutes + course["12"].minutes
    # Two of the seven sections of 09; the exercise of 14 is a task.
    exam = both + sum(course["08"][3:5]) + course["09"].minutes * 2 / 7 + course["14"].minutes
    for route, minutes in (("two days", two_days), ("an exam", exam)):
        assert f"| {route} ({minutes / 60:.0f} hours" in README, f"{route}: {minutes / 60:.0f} hours"


def test_little_is_read_before_the_first_command() -> None:
    before = README.partition("./gnt tour")[0].split()
    assert len(before) < 75


@pytest.mark.parametrize(("line", "name"), DRAWN)
def test_a_picture_is_what_its_command_draws_today(
    gnt: Gnt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, name: str
) -> None:
    """By its text, which has the numbers: another Matplotlib draws other pixels."""
    monkeypatch.chdir(ROOT)
    gnt(*shlex.split(line.replace(name, str(tmp_path / name))))
    texts = []
    for path in (tmp_path / name, ROOT / "docs" / "images" / name):
        with Image.open(path) as image:
            texts.append(image.info["Description"])
    assert texts[0] == texts[1], f"./gnt {line.replace(name, f'docs/images/{name}')}"


def test_every_picture_of_the_page_but_the_tour_s_has_its_command() -> None:
    shown = set(re.findall(r"^!\[.{40,}\]\(docs/images/(\w+\.png)\)$", README, re.MULTILINE))
    assert shown == {path.name for path in (ROOT / "docs" / "images").iterdir()} == {"tour.png", *(n for _, n in DRAWN)}


def test_one_version() -> None:
    version = PROJECT["version"]
    assert f"gn_tutorial-{version}-py3-none-any.whl" in (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert version == newest[1] == cited["version"]
    assert newest[2] == str(cited["date-released"])


def test_the_citation_has_what_the_format_asks_for() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cited)
    assert all(set(one) == {"name"} for one in cited["authors"])
    assert (cited["type"], cited["license"]) == ("software", PROJECT["license"])


def test_the_script_installs_extras_that_there_are() -> None:
    asked = re.findall(r"^    set_up (.+)$", (ROOT / "gnt").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"lab", "judge", "torch"} <= {word for line in asked for word in line.split()}
    assert {word for line in asked for word in line.split()} <= set(PROJECT["optional-dependencies"])


def test_the_conda_environment_takes_pytorch_from_the_index_of_cpu_builds() -> None:
    *_, pip = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    index, package = pip["pip"]
    assert index == "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert index.split()[1] in (ROOT / "gnt").read_text(encoding="utf-8"), "the index of ./gnt torch"
    extras = re.fullmatch(r"-e \.\[(.+)\]", package)
    assert extras
    assert set(extras[1].split(",")) == {"lab", "test", "torch"} <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_what_an_answer_needs(form: Path) -> None:
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(asked)
    fields = {one["id"]: one for one in asked["body"] if one["type"] != "markdown"}
    assert all(one["attributes"]["label"] for one in fields.values())
    assert "./gnt doctor" in fields["doctor"]["attributes"]["label"]
    needed = {name for name, one in fields.items() if one.get("validations", {}).get("required")}
    assert needed == set(fields) - ({"doctor"} if form.stem == "mistake_in_the_text" else set())


def test_there_are_three_forms() -> None:
    assert [form.stem for form in FORMS] == ["kernel_not_taken", "mistake_in_the_text", "wrong_finding"]
