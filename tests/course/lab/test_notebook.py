"""A notebook as data: what its cells are, which outputs answer a prediction, what is new in another version."""

from __future__ import annotations

import copy
import itertools
import json
import re
from pathlib import Path

import nbformat
import pytest
from small_course import cells

from gn_tutorial.course.lab import notebook
from gn_tutorial.errors import RegistryError

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SAID = re.compile(r"predict", re.IGNORECASE)
#: Prose that says "predict" in front of a cell and hides nothing: objectives, what a model predicts, exercises, whose
#: stored output is "not attempted yet".
ASK_NOTHING = {
    "01_numpy_group_norm": {"race-why"},
    "02_the_machine": {"title"},
    "03_scalar_kernel": {"cost"},
    "05_double_buffer": {"title", "exercise-predict"},
    "13_fuse": {"title"},
}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_a_copy_differs_in_the_answers_to_predictions_only(path: Path) -> None:
    course = notebook.read(path)
    before = copy.deepcopy(course)
    made = notebook.learners_copy(course, path.name, "1.2.3")
    assert course == before, "the course's own notebook was changed"
    answers = {cell["id"] for cell in notebook.answers(course)}
    assert answers
    assert made["metadata"].pop("gn_tutorial") == {
        "notebook": path.name,
        "made_from": notebook.digest(notebook.fingerprints(course)),
        "version": "1.2.3",
    }
    for mine, theirs in zip(made["cells"], course["cells"], strict=True):
        if mine["id"] in answers:
            assert (mine["outputs"], mine["execution_count"]) == ([], None)
            theirs = theirs | {"outputs": [], "execution_count": None}
        assert mine == theirs
    nbformat.validate(nbformat.from_dict(made))


def test_prose_that_says_predict_asks_or_is_known_not_to(path: Path) -> None:
    """A new notebook with another turn of phrase would give its answers away."""
    cells = notebook.read(path)["cells"]
    silent = set()
    for cell, following in itertools.pairwise(cells):
        if cell["cell_type"] == "markdown" and following["cell_type"] == "code":
            asks = notebook.asks_for_a_prediction(cell)
            if SAID.search(notebook.text_of(cell)) and not asks:
                silent.add(cell["id"])
            if re.search(r"\bPredict\b|predict:", notebook.text_of(cell)):
                assert asks, cell["id"]
    assert silent == ASK_NOTHING.get(path.stem, set())


def test_there_are_many_predictions_and_other_outputs_stay() -> None:
    contents = [notebook.read(path) for path in NOTEBOOKS]
    hidden = sum(len(list(notebook.answers(one))) for one in contents)
    code = sum(cell["cell_type"] == "code" for one in contents for cell in one["cells"])
    assert 60 < hidden < code / 2


def test_the_answers_are_between_the_prose_that_asks_and_the_next() -> None:
    made = cells("# What?", "a", "# Predict:", "b", "c", "# It was 3.", "d", "# exercise 02.4 lets you predict", "e")
    assert [cell["source"] for cell in notebook.answers(made)] == ["b", "c"]


def test_what_jupyter_changes_when_it_saves_is_no_change() -> None:
    course = cells("# A\nB", "x = 1\ny = 2")
    saved = copy.deepcopy(course)
    for cell in saved["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
        cell["metadata"] = {"scrolled": True}
    saved["cells"][1] |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": "7"}], "execution_count": 9}
    saved["metadata"] = {"kernelspec": {"name": "python3"}}
    assert notebook.fingerprints(saved) == notebook.fingerprints(course)
    saved["cells"][1]["source"][1] = "y = 3"
    assert notebook.digest(notebook.fingerprints(saved)) != notebook.digest(notebook.fingerprints(course))


def test_a_cell_that_moved_or_became_prose_is_a_change() -> None:
    marks = notebook.digest(notebook.fingerprints(cells("a", "b")))
    assert notebook.digest(notebook.fingerprints(cells("b", "a"))) != marks
    prose = cells("a", "b")
    prose["cells"][0]["cell_type"] = "markdown"
    assert notebook.digest(notebook.fingerprints(prose)) != marks


def test_news_are_named_by_their_sections() -> None:
    old = cells("# Title", "a", "## 1. First", "b", "## 2. Second", "c")
    new = cells("# Title", "a", "## 1. First", "b and more", "## 2. Second", "c", "d")
    assert notebook.news(notebook.fingerprints(old), old) == ()
    assert notebook.news(notebook.fingerprints(old), new) == ("1. First", "2. Second")
    assert notebook.news(notebook.fingerprints(old), cells("# Titel", "a")) == ("the beginning",)
    # What is gone has no heading in the new one; the section that it followed has.
    assert notebook.news(notebook.fingerprints(old), cells("# Title", "a", "## 1. First", "b", "## 2. Second")) == (
        "2. Second",
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": {}, "metadata": {}}', '{"cells": [{}], "metadata": {}}'])
def test_what_is_no_notebook_is_refused(tmp_path: Path, text: str) -> None:
    broken = tmp_path / "broken.ipynb"
    broken.write_text(text)
    with pytest.raises(RegistryError, match="cannot read the notebook"):
        notebook.read(broken)
    with pytest.raises(RegistryError, match="No such file"):
        notebook.read(tmp_path / "absent.ipynb")


def test_a_copy_is_laid_out_as_jupyter_does(path: Path) -> None:
    assert notebook.encode(json.loads(path.read_text(encoding="utf-8"))) == path.read_bytes()
