"""The folder that JupyterLab opens: where it is, what is in it, and that git does not see it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import nbformat
import pytest

from gn_tutorial.course.lab import folder
from gn_tutorial.course.lab.folder import CourseFolder
from gn_tutorial.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def exercises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(tmp_path / "elsewhere" / "exercises"))
    return tmp_path / "elsewhere" / "exercises"


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GNT_COURSE_DIR", raising=False)
    assert folder.default_folder() == ROOT / "my_course"
    monkeypatch.setattr(folder, "notebooks_root", lambda: tmp_path / "site-packages" / "gn_tutorial" / "_notebooks")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folder.default_folder() == tmp_path / "home" / "gn_course"
    monkeypatch.setenv("GNT_COURSE_DIR", "~/learning")
    assert folder.default_folder() == tmp_path / "home" / "learning"


def test_every_link_of_a_notebook_leads_somewhere(tmp_path: Path, exercises: Path) -> None:
    mine = CourseFolder(tmp_path / "mine")
    assert mine.prepare() == []
    mine.notebooks.mkdir()
    linked = 0
    for path in NOTEBOOKS:
        (mine.notebooks / path.name).touch()
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=nbformat.NO_CONVERT).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for target in re.findall(r"\]\(((?:\.\./|\w)[^)#:]+)\)", prose):
            linked += 1
            assert (mine.notebooks / target).exists(), f"{path.name}: {target}"
    assert linked > 15
    # check() links the learner's files; the pages of docs link one another, kernels, and programs of the tests.
    exercise = exercises / "01_numpy_group_norm" / "01_1_group_norm.py"
    exercise.parent.mkdir(parents=True)
    exercise.write_text("mine")
    assert (mine.notebooks / "../my_exercises/01_numpy_group_norm/01_1_group_norm.py").read_text() == "mine"
    pages = [*(mine.root / "docs").glob("*.md"), *(mine.root / "docs" / "diagnostics").glob("*.md")]
    named = [(page, one) for page in pages for one in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())]
    inside = [(page, one) for page, one in named if "://" not in one]
    assert len(inside) > 300
    # By the way that a browser goes: ".." is the folder above in the address, not the one above a link's target.
    assert [one for page, one in inside if not Path(re.sub(r"[^/]+/\.\./", "", f"{page.parent}/{one}")).exists()] == []


@pytest.mark.usefixtures("exercises")
def test_git_does_not_see_it_wherever_it_is(tmp_path: Path) -> None:
    project = tmp_path / "project"
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    mine = CourseFolder(project / "a folder" / "mine")
    mine.prepare()
    mine.notebooks.mkdir()
    (mine.notebooks / "01.ipynb").write_text("{}")
    seen = ["git", "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(seen, cwd=project, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.usefixtures("exercises")
def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "thesis.tex").write_text("chapter 1")
    for place in (project, project / "thesis.tex"):
        with pytest.raises(ArgumentError, match="a new or an empty one") as caught:
            CourseFolder(place).prepare()
        assert "--folder" in caught.value.hint
    assert [path.name for path in project.iterdir()] == ["thesis.tex"]
    with pytest.raises(ArgumentError, match="cannot be written"):
        CourseFolder(project / "thesis.tex" / "mine").prepare()


def test_links_follow_a_clone_that_was_moved_and_a_real_folder_stays(tmp_path: Path, exercises: Path) -> None:
    mine = CourseFolder(tmp_path / "mine")
    mine.prepare()
    (mine.root / "docs").unlink()
    (mine.root / "docs").symlink_to(tmp_path / "an older clone" / "docs")
    (mine.root / "kernels").unlink()
    (mine.root / "kernels").mkdir()
    assert mine.prepare() == ["kernels"]
    assert (mine.root / "docs").resolve() == ROOT / "docs"
    assert not (mine.root / "kernels").is_symlink()
    assert mine.exercises.resolve() == exercises


def test_inside_jupyterlab_the_exercises_are_the_same(
    tmp_path: Path, exercises: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There GNT_EXERCISES_DIR is the link itself: no link to itself may come of it."""
    mine = CourseFolder(tmp_path / "mine")
    mine.prepare()
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(mine.exercises))
    assert mine.prepare() == []
    assert mine.exercises.resolve() == exercises
    mine.exercises.unlink()
    assert mine.prepare() == []
    assert mine.exercises.is_dir()


@pytest.mark.usefixtures("exercises")
def test_a_file_system_without_links_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path, target_is_directory: bool = False) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    assert CourseFolder(tmp_path / "mine").prepare() == ["my_exercises", "docs", "kernels", "tests/programs"]
