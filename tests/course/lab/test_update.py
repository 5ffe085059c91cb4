"""Copies follow the course, and the learner's text is never lost."""

from __future__ import annotations

import json
from pathlib import Path

import filelock
import nbformat
import pytest
from nbformat.sign import NotebookNotary
from small_course import SmallCourse

from gn_tutorial.cli.lab_session import told
from gn_tutorial.course.lab import notebook, update
from gn_tutorial.course.lab.update import News
from gn_tutorial.errors import ArgumentError

ONE, TWO = "01_one.ipynb", "02_two.ipynb"


@pytest.fixture(autouse=True)
def signatures_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))


@pytest.fixture
def made(tmp_path: Path) -> SmallCourse:
    """Two notebooks, copied."""
    course = SmallCourse(tmp_path)
    course.write(ONE, "# 01", "a = 1", "## 1. First", "b = 2", "## 2. Second", "c = 3")
    course.write(TWO, "# 02", "x")
    assert course.copies().update() == [News("copied", ONE), News("copied", TWO)]
    return course


def change(course: SmallCourse) -> None:
    """A newer notebook 01: section 2 has another cell."""
    course.write(ONE, "# 01", "a = 1", "## 1. First", "b = 2", "## 2. Second", "c = 4")


def test_the_second_time_nothing_happens(made: SmallCourse) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in made.folder.glob("*.ipynb")}
    assert made.copies().update() == []
    assert {path.name: path.stat().st_mtime_ns for path in made.folder.glob("*.ipynb")} == before


def test_widgets_of_ended_kernels_go_and_nothing_else_does(made: SmallCourse) -> None:
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "4f", "version_major": 2, "version_minor": 0}}
    shown = {"output_type": "display_data", "metadata": {}}
    kept = {"text/html": "<b>kept</b>", "text/plain": "kept"}
    contents = notebook.read(made.folder / ONE)
    contents["cells"][1] |= {
        "outputs": [shown | {"data": view | {"text/plain": "Quiz()"}}, shown | {"data": kept | view}],
        "execution_count": None,
    }
    (made.folder / ONE).write_bytes(notebook.encode(contents))
    (made.folder / TWO).write_text("no notebook")
    made.copies().drop_widgets()
    after = notebook.read(made.folder / ONE)
    assert after["cells"][1]["outputs"] == [shown | {"data": kept}]
    assert notebook.fingerprints(after) == notebook.fingerprints(contents)
    assert NotebookNotary().check_signature(nbformat.from_dict(after)), "its colours would go"
    assert (made.folder / TWO).read_text() == "no notebook"
    assert made.copies().update() == []
    written = (made.folder / ONE).stat().st_mtime_ns
    made.copies().drop_widgets()
    assert (made.folder / ONE).stat().st_mtime_ns == written


def test_a_copy_that_is_not_there_is_made_again(made: SmallCourse) -> None:
    (made.folder / TWO).unlink()
    assert made.copies().update() == [News("copied", TWO)]


@pytest.mark.parametrize("ran", [False, True])
def test_an_untouched_copy_is_replaced_whether_it_was_run_or_not(made: SmallCourse, ran: bool) -> None:
    if ran:
        made.run(ONE)
        assert made.copies().update() == [], "a run is no work, and no reason to write the file"
    change(made)
    assert made.copies().update() == [News("updated", ONE, ("2. Second",))]
    assert made.sources(ONE)[5] == "c = 4"
    assert made.files() == [ONE, TWO]
    assert made.copies().update() == []


def test_a_touched_copy_stays_and_the_new_one_is_offered_once(made: SmallCourse) -> None:
    made.type_in(ONE, 1, "a = 100  # mine")
    assert made.copies().update() == [], "the course has not changed"
    mine = (made.folder / ONE).read_bytes()
    change(made)
    assert made.copies().update() == [News("kept", ONE, ("2. Second",), "01_one.new.ipynb")]
    assert (made.folder / ONE).read_bytes() == mine
    assert made.sources("01_one.new.ipynb")[5] == "c = 4"
    assert made.copies().update() == []


def test_the_offered_one_follows_until_it_is_touched_too(made: SmallCourse) -> None:
    made.type_in(ONE, 1, "mine")
    change(made)
    made.copies().update()
    made.write(ONE, "# 01", "newer")
    assert [one.beside for one in made.copies().update()] == ["01_one.new.ipynb"]
    assert made.sources("01_one.new.ipynb") == ["# 01", "newer"]
    made.type_in("01_one.new.ipynb", 1, "mine again")
    made.write(ONE, "# 01", "newest")
    assert [one.beside for one in made.copies().update()] == ["01_one.new2.ipynb"]
    assert made.sources(ONE)[1] == "mine"
    assert made.sources("01_one.new.ipynb")[1] == "mine again"
    assert made.sources("01_one.new2.ipynb")[1] == "newest"


def test_reset_puts_the_new_one_here_and_keeps_what_was_written(made: SmallCourse) -> None:
    made.type_in(ONE, 1, "mine")
    change(made)
    made.copies().update()
    assert made.copies().anew(ONE) == News("set aside", ONE, beside="01_one.mine.ipynb")
    assert made.sources("01_one.mine.ipynb")[1] == "mine"
    assert made.sources(ONE)[5] == "c = 4"
    assert made.copies().update() == []
    made.type_in(ONE, 1, "mine, the second time")
    assert made.copies().anew(ONE).beside == "01_one.mine2.ipynb"
    assert made.sources("01_one.mine.ipynb")[1] == "mine"
    assert made.copies().anew(ONE) == News("copied", ONE), "nothing was written in it, so nothing is kept"


def test_a_copy_that_already_has_the_new_text_is_taken_for_it(made: SmallCourse) -> None:
    change(made)
    made.type_in(ONE, 5, "c = 4")
    assert made.copies().update() == []
    made.write(ONE, "# 01", "the next version")
    assert [one.kind for one in made.copies().update()] == ["updated"]


def test_new_stored_outputs_reach_a_copy_that_was_never_saved_and_no_other(made: SmallCourse) -> None:
    for name in (ONE, TWO):
        contents = notebook.read(made.course / name)
        contents["cells"][1]["outputs"][0]["text"] = "run anew"
        (made.course / name).write_bytes(notebook.encode(contents))
    made.run(TWO)
    assert made.copies().update() == []
    assert "run anew" in (made.folder / ONE).read_text()
    assert "run anew" not in (made.folder / TWO).read_text()


def test_a_notebook_that_the_course_no_longer_has(made: SmallCourse) -> None:
    made.type_in(ONE, 1, "mine")
    (made.course / ONE).unlink()
    (made.course / TWO).unlink()
    made.write("03_three.ipynb", "# 03", "x")
    assert made.copies().update() == [News("copied", "03_three.ipynb"), News("left", ONE), News("gone", TWO)]
    assert made.files() == [ONE, "03_three.ipynb"]
    assert made.copies().update() == []


@pytest.mark.parametrize("damage", ["", "{", '{"format": 99}', '{"format": 1, "copies": {"01_one.ipynb": {}}}'])
def test_without_a_manifest_everything_else_is_the_learner_s(made: SmallCourse, damage: str) -> None:
    made.type_in(ONE, 1, "mine")
    change(made)
    (made.folder / ".gnt" / "manifest.json").write_text(damage)
    assert made.copies().update() == [News("kept", ONE, (), "01_one.new.ipynb")]
    assert made.sources(ONE)[1] == "mine"
    assert made.copies().update() == []


def test_a_file_that_is_no_notebook_any_more_is_kept(made: SmallCourse) -> None:
    (made.folder / ONE).write_text("half a file")
    change(made)
    assert [one.beside for one in made.copies().update()] == ["01_one.new.ipynb"]
    assert (made.folder / ONE).read_text() == "half a file"
    assert made.copies().anew(ONE).beside == "01_one.mine.ipynb"
    assert (made.folder / "01_one.mine.ipynb").read_text() == "half a file"


def test_a_learner_s_own_file_of_that_name_is_not_written_over(made: SmallCourse) -> None:
    (made.folder / "01_one.new.ipynb").write_text("notes")
    made.type_in(ONE, 1, "mine")
    change(made)
    assert [one.beside for one in made.copies().update()] == ["01_one.new2.ipynb"]
    assert (made.folder / "01_one.new.ipynb").read_text() == "notes"


def test_stored_outputs_are_trusted_and_what_was_added_is_not(made: SmallCourse) -> None:
    """JupyterLab shows the outputs of an unsigned notebook without colours and drawings."""
    contents = nbformat.read(made.folder / ONE, as_version=4)
    assert NotebookNotary().check_signature(contents)
    contents.cells[1].outputs[0].text = "something else"
    assert not NotebookNotary().check_signature(contents)


def test_copies_without_nbformat_are_unsigned_copies(made: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nbformat", None)
    (made.folder / ONE).unlink()
    assert made.copies().update() == [News("copied", ONE)]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    course = SmallCourse(tmp_path)
    course.write(ONE, "# 01")
    course.folder.write_text("a file where the folder should be")
    with pytest.raises(ArgumentError) as caught:
        course.copies().update()
    assert str(course.folder) in str(caught.value)
    assert "GNT_COURSE_DIR" in caught.value.hint


def test_a_second_gnt_lab_waits_and_then_says_so(made: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "_LOCK_SECONDS", 0.1)
    with (
        filelock.FileLock(made.folder / ".gnt" / "manifest.lock"),
        pytest.raises(ArgumentError, match="another gnt lab"),
    ):
        made.copies().update()


def test_a_failure_in_the_middle_leaves_what_was_written(made: SmallCourse) -> None:
    """The manifest is written last: a copy that it lacks counts as the learner's, unless it equals today's course."""
    change(made)
    manifest = made.folder / ".gnt" / "manifest.json"
    before = manifest.read_bytes()
    made.copies().update()
    manifest.write_bytes(before)  # as if the power had gone between the copy and the manifest
    assert made.copies().update() == []
    made.type_in(ONE, 1, "mine")
    assert made.copies().update() == []
    assert made.sources(ONE)[1] == "mine"


def test_the_manifest_keeps_the_cells_in_their_order(made: SmallCourse) -> None:
    kept = json.loads((made.folder / ".gnt" / "manifest.json").read_text())["copies"][ONE]["cells"]
    assert list(kept) == [f"cell-{number}" for number in range(6)]


def test_what_is_said(tmp_path: Path) -> None:
    news = [
        News("copied", "13_new.ipynb"),
        News("updated", "04_tiling.ipynb", ("1. A", "2. B", "3. C", "4. D", "5. E")),
        News("kept", "03_scalar.ipynb", ("Quiz",), "03_scalar.new.ipynb"),
        News("gone", "07_old.ipynb"),
        News("left", "08_old.ipynb"),
    ]
    assert list(told(news, tmp_path)) == [
        f"Copied 13_new.ipynb to {tmp_path}: run and change them as you like.",
        "The course has changed. These copies, in which you wrote nothing, are now the new versions:",
        "  04_tiling.ipynb, new in '1. A', '2. B', '3. C' and 2 more",
        "The course has changed. You wrote in these copies, so they stay, and the new ones are beside them:",
        "  03_scalar.ipynb: 03_scalar.new.ipynb, new in 'Quiz'",
        "  (gnt lab 03 --reset replaces yours with the new one, and keeps yours beside it.)",
        "No longer in the course, and removed: 07_old.ipynb.",
        "No longer in the course; your copies stay: 08_old.ipynb.",
    ]
    assert list(told([], tmp_path)) == []
