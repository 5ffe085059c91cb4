"""The learner's copies in the learner's language: prose translated, code as it is, predictions still hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_course import SmallCourse, cells

from gn_tutorial.course.lab import notebook
from gn_tutorial.course.lab.folder import notebooks_root
from gn_tutorial.course.lab.in_kernel import of_another_version
from gn_tutorial.translation.choice import speaking

NAME = "00_start_here.ipynb"


def copy(language: str) -> notebook.Contents:
    with speaking(language):
        return notebook.learners_copy(notebook.read(notebooks_root() / NAME), NAME, "1.0")


def test_a_copy_has_the_same_code_and_the_prose_of_the_language() -> None:
    english, chinese = copy("en"), copy("zh")
    prose = 0
    for mine, theirs in zip(chinese["cells"], english["cells"], strict=True):
        assert mine["id"] == theirs["id"]
        if mine["cell_type"] == "code":
            assert mine["source"] == theirs["source"]
            # Answers to predictions are gone in both; "Predict" is an English word.
            assert bool(mine["outputs"]) == bool(theirs["outputs"])
        else:
            prose += notebook.text_of(mine) != notebook.text_of(theirs)
    assert prose > 20
    assert "从这里开始" in notebook.text_of(chinese["cells"][0])
    assert "](../docs/GLOSSARY.zh.md)" in notebook.text_of(chinese["cells"][0])


def test_a_copy_of_the_installed_course_is_of_this_version_in_its_language(tmp_path: Path) -> None:
    path = tmp_path / NAME
    for language, other in (("zh", "en"), ("en", "zh")):
        path.write_bytes(notebook.encode(copy(language)))
        with speaking(language):
            assert of_another_version(path) == []
        with speaking(other):
            assert "made from another version" in of_another_version(path)[0]


@pytest.fixture
def course(tmp_path: Path) -> SmallCourse:
    made = SmallCourse(tmp_path)
    english = notebook.read(notebooks_root() / NAME)
    prose = next(one for one in english["cells"] if one["id"] == "turn-tail")
    contents = cells("x = 1", "y = 2")
    contents["cells"].insert(0, prose)
    (made.course / NAME).write_bytes(notebook.encode(contents))
    return made


def test_another_language_updates_a_copy_that_nobody_touched(course: SmallCourse) -> None:
    with speaking("en"):
        course.copies().update()
    assert "Your turn" in course.sources(NAME)[0]
    with speaking("zh"):
        assert [one.kind for one in course.copies().update()] == ["updated"]
        assert course.copies().update() == []
    assert "轮到你了" in course.sources(NAME)[0]
    assert course.sources(NAME)[1:] == ["x = 1", "y = 2"]


def test_another_language_never_replaces_what_the_learner_wrote(course: SmallCourse) -> None:
    with speaking("en"):
        course.copies().update()
    course.type_in(NAME, 1, "x = 17")
    with speaking("zh"):
        (news,) = course.copies().update()
    assert (news.kind, news.beside) == ("kept", "00_start_here.new.ipynb")
    assert course.sources(NAME)[1] == "x = 17"
    assert "轮到你了" in course.sources(news.beside)[0]
