"""What is printed below a cell: another version, the death of the kernel before, a name that a cell above makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_course import SmallCourse

from gn_tutorial.course.lab import in_kernel, log_messages
from gn_tutorial.course.lab.folder import CourseFolder

ONE = "01_one.ipynb"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    """A course of one notebook, and its copy."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    course = SmallCourse(tmp_path)
    sources = ("import numpy as np\nx = 1", "## 1. Use it", "def f():\n    inner = x", "f(y)", "y = 2", "%%")
    course.write(ONE, "# 01", *sources)
    monkeypatch.setattr(in_kernel, "notebooks_root", lambda: course.course)
    course.copies().update()
    return course


def test_a_copy_of_today_s_course_needs_no_word(made: SmallCourse) -> None:
    made.type_in(ONE, 1, "x = 100  # mine")
    assert in_kernel.of_another_version(made.folder / ONE) == []


def test_a_copy_of_another_version_says_what_to_do(made: SmallCourse) -> None:
    made.type_in(ONE, 1, "mine")
    made.write(ONE, "# 01", "newer")
    said = "\n".join(in_kernel.of_another_version(made.folder / ONE))
    assert said.startswith("gnt: this notebook was made from another version of the course than the one")
    assert "(1.0, and " in said
    assert "gnt lab --copies" in said
    made.copies().update()
    said = "\n".join(in_kernel.of_another_version(made.folder / ONE))
    assert "01_one.new.ipynb: go on there" in said
    assert "gnt lab 01 --reset" in said
    assert in_kernel.of_another_version(made.folder / "01_one.new.ipynb") == []
    (made.course / ONE).unlink()
    assert "has no notebook 01_one.ipynb any more" in in_kernel.of_another_version(made.folder / ONE)[0]


@pytest.mark.parametrize(
    "text", ["half", '{"cells": [], "metadata": {}}', '{"cells": [], "metadata": {"gn_tutorial": 1}}']
)
def test_any_other_notebook_needs_no_word(made: SmallCourse, text: str) -> None:
    (made.folder / "mine.ipynb").write_text(text)
    assert in_kernel.of_another_version(made.folder / "mine.ipynb") == []
    assert in_kernel.of_another_version(made.course / ONE) == [], "the course's own, opened as it is"
    assert in_kernel.of_another_version(made.folder / "absent.ipynb") == []


@pytest.mark.parametrize(
    ("name", "cell", "section"),
    [
        ("np", "cell-4", "01"),
        ("x", "cell-4", "01"),
        ("f", "cell-4", "1. Use it"),
        ("y", "cell-4", ""),  # a cell below makes it
        ("y", "cell-6", "1. Use it"),
        ("y", None, "1. Use it"),
        ("z", "cell-6", ""),  # a misspelt name
        ("x", "cell-1", ""),  # the cell itself makes it
    ],
)
def test_a_name_that_a_cell_above_makes(made: SmallCourse, name: str, cell: str | None, section: str) -> None:
    said = in_kernel.made_above(made.folder / ONE, name, cell)
    assert bool(said) == bool(section)
    if section:
        assert said[0].startswith(f"gnt: a cell above makes {name}, under '{section}'")
        assert "Run > Run All Above Selected Cell" in said[1]


def result(error: BaseException | None = None, cell: str = "cell-4") -> SimpleNamespace:
    return SimpleNamespace(error_in_exec=error, error_before_exec=None, info=SimpleNamespace(cell_id=cell))


def test_a_companion_speaks_of_the_version_once(made: SmallCourse, capsys: pytest.CaptureFixture[str]) -> None:
    made.type_in(ONE, 1, "mine")
    made.write(ONE, "# 01", "newer")
    companion = in_kernel.Companion(made.folder / ONE)
    companion.after(result())
    assert "another version" in capsys.readouterr().out
    companion.after(result(ValueError("another mistake")))
    assert capsys.readouterr().out == ""


def test_a_companion_passes_on_what_became_of_the_kernel_before(
    made: SmallCourse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = CourseFolder(tmp_path / "mine")
    log_messages.Death(mine.root / ONE, -9, final=False).note(mine.deaths)
    monkeypatch.setenv("GNT_COURSE_DIR", str(mine.root))
    in_kernel.Companion(made.folder / ONE).after(result())
    said = capsys.readouterr().out
    assert said.startswith("gnt: the Python of 01_one.ipynb died: the system ended it")
    in_kernel.Companion(made.folder / ONE).after(result())
    assert capsys.readouterr().out == ""


def ipython(notebook: Path | None, *cells: str, extension: bool = False) -> str:
    """What IPython prints for these cells, in a process that knows its notebook as a kernel does."""
    program = """
        import json, sys
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="nocolor")
        given = json.loads(sys.argv[1])
        if given["extension"]:
            shell.extension_manager.load_extension("gn_tutorial.course.lab.in_kernel")
        for number, source in enumerate(given["cells"]):
            shell.run_cell(source, cell_id="cell-9")
    """
    environ = {name: value for name, value in os.environ.items() if name != in_kernel.SESSION}
    environ |= {in_kernel.SESSION: str(notebook)} if notebook else {}
    given = json.dumps({"cells": cells, "extension": extension})
    command = [sys.executable, "-c", textwrap.dedent(program), given]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("extension", [False, True])
def test_in_ipython(made: SmallCourse, extension: bool) -> None:
    """By importing the package, or as the extension that gnt lab loads: one companion, whichever way it came."""
    first = "1 / 1" if extension else "import gn_tutorial as gnt"
    said = ipython(made.folder / ONE, first, "import gn_tutorial", "f(1)", "misspelt", extension=extension)
    assert "NameError: name 'f' is not defined" in said
    assert said.count("gnt: a cell above makes f, under '1. Use it'") == 1
    assert "makes misspelt" not in said


def test_outside_a_notebook_nothing_is_attached(made: SmallCourse) -> None:
    assert "gnt:" not in ipython(None, "import gn_tutorial as gnt", "f(1)")
    environ = os.environ | {in_kernel.SESSION: str(made.folder / ONE)}
    program = "import sys, gn_tutorial; print('IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", "a process that a kernel has started"
