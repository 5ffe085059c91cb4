"""The whole course from a wheel: built, installed elsewhere, and worked through as a learner without a clone does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest
from lab_support import EXECUTE, ROOT, clean_environment, running_lab

from gn_tutorial.course.lab import notebook
from gn_tutorial.course.lab.folder import CourseFolder
from gn_tutorial.course.lab.server import Request

pytestmark = pytest.mark.thorough
#: Run where they were copied to: the twin, a profile and pictures; NumPy alone and exercises of both kinds.
RUN = ("01_numpy_group_norm.ipynb", "02_the_machine.ipynb")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the course as it is here."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if "No matching distribution found for hatchling" in built.stderr:
        pytest.skip("the package index has no hatchling, which builds the wheel")
    assert built.returncode == 0, built.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel; what it depends on comes from the environment of the tests."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("purelib", vars={"base": str(home)})]
    # A line with a path: the .pth files there are not read, so an editable install of the course stays out.
    (Path(places[1]) / "dependencies.pth").write_text(f"{places[0]}\n")
    for part in ("share", "etc"):
        (home / part).mkdir(exist_ok=True)
        (home / part / "jupyter").symlink_to(Path(sys.prefix) / part / "jupyter")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True, timeout=600)
    return python


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = clean_environment(tmp_path_factory.mktemp("home"))
    made.pop("PYTHONPATH", None)
    return made


def gnt(python: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(python.with_name("gnt")), *words]
    return subprocess.run(command, env=environ, cwd=environ["HOME"], capture_output=True, text=True, timeout=300)


def test_it_has_every_file_of_the_course_and_no_more(wheel: Path) -> None:
    held = {name.removeprefix("gn_tutorial/") for name in zipfile.ZipFile(wheel).namelist()}
    for folder in ("notebooks", "docs", "tests/programs", "kernels", "exercises", "solutions"):
        ours = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        wanted = {f"_{path.relative_to(ROOT).as_posix()}" for path in ours}
        # What makes pages belongs to the clone.
        # Checkpoints of Jupyter, caches of ruff, settings of formatters.
        wanted = {name for name in wanted if "/." not in name and Path(name).name != "ruff.toml"}
        assert wanted
        assert {name for name in held if name.startswith(f"_{folder}/")} == wanted
    assert "course/lab/jupyter/kernels/python3/kernel.json" in held


def test_the_import_comes_from_it(python: Path, environ: dict[str, str]) -> None:
    program = "import gn_tutorial; print(gn_tutorial.__file__)"
    command = [str(python), "-c", program]
    said = subprocess.run(command, env=environ, cwd=environ["HOME"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(str(python.parents[1]))


def test_pages_and_the_programs_that_they_print(python: Path, environ: dict[str, str]) -> None:
    page = gnt(python, environ, "explain", "ub-overflow").stdout
    assert page == (ROOT / "docs" / "diagnostics" / "ub-overflow.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^Run it: `gnt (.*)`$", page, re.MULTILINE)
    ran = gnt(python, environ, *line.split())
    assert ran.returncode == 6
    assert "InitBuffer asks for 1 x 33 bytes" in ran.stderr


def test_jupyterlab_on_copies_in_the_home_folder(python: Path, environ: dict[str, str]) -> None:
    home = Path(environ["HOME"])
    with running_lab(environ, gnt=(str(python.with_name("gnt")),), cwd=home) as lab:
        assert lab.opened == "notebooks/00_start_here.ipynb"
        assert f"to {home}/gn_course/notebooks" in lab.said[0]
        assert lab.names("notebooks") == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
        assert "timing-model.md" in lab.names("docs")
        assert "group_norm" in lab.names("kernels")
        assert lab.names("my_exercises") == set()
    assert (home / "gn_course" / "my_exercises").resolve() == (home / "gn_exercises").resolve()


@pytest.mark.parametrize("name", RUN)
def test_notebooks_run_where_they_were_copied_to(
    python: Path, environ: dict[str, str], name: str, tmp_path: Path
) -> None:
    assert gnt(python, environ, "lab", "--copies").returncode == 0
    course = CourseFolder(Path(environ["HOME"]) / "gn_course")
    copy = course.notebooks / name
    hidden = [cell["id"] for cell in notebook.answers(notebook.read(copy))]
    inside = Request(course, name, 0).environment(environ, "")
    inside["PATH"] = f"{python.parent}{os.pathsep}{environ['PATH']}"
    inside["JUPYTER_PATH"] = str(next(python.parents[1].glob("lib/*/site-packages/gn_tutorial/course/lab/jupyter")))
    done = subprocess.run([str(python), "-c", EXECUTE, copy, copy.parent], env=inside, cwd=tmp_path, timeout=900)
    assert done.returncode == 0
    theirs = {cell["id"]: cell for cell in notebook.read(ROOT / "notebooks" / name)["cells"]}
    for cell in nbformat.read(copy, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        kinds = {output.output_type for output in cell.outputs}
        assert kinds == {output["output_type"] for output in theirs[cell.id]["outputs"]}, cell.id
        # An exercise's file is made by its check, and linked where JupyterLab can open it.
        for link in re.findall(r'href="(\.\./my_exercises/[^"]+)"', str(cell.outputs)):
            assert (course.notebooks / link).is_file()
    assert hidden
    assert gnt(python, environ, "lab", "--copies").stdout == ""
