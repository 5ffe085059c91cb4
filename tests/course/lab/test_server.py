"""``gnt lab`` in a clone, with a real JupyterLab: what it serves, what it says, how it ends; and git stays clean."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from lab_support import EXECUTE, GNT, ROOT, RunningLab, clean_environment, running_lab, wait_for

from gn_tutorial.course.lab import notebook
from gn_tutorial.course.lab.folder import CourseFolder
from gn_tutorial.course.lab.server import Request

PARTS = "gn_tutorial kernels exercises solutions notebooks docs tests/programs .gitignore gnt pyproject.toml".split()


def git(clone: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course as it is here, in a git repository of its own."""
    clone = tmp_path_factory.mktemp("lab") / "a clone"
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (clone / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, clone / part)
    git(clone, "init", "--quiet")
    (clone / ".git" / "info" / "exclude").write_text("__pycache__/\n")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "the course")
    return clone


@pytest.fixture(scope="module")
def environ(clone: Path) -> dict[str, str]:
    home = clone.parent / "home"
    home.mkdir()
    return clean_environment(home, PYTHONPATH=str(clone), PYTHONDONTWRITEBYTECODE="1")


@pytest.fixture(scope="module")
def lab(clone: Path, environ: dict[str, str]) -> Iterator[RunningLab]:
    """One server for the tests of this file, that nothing but the last one stops."""
    with running_lab(environ, "03", cwd=clone.parent) as lab:
        yield lab


def gnt(environ: dict[str, str], *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GNT, *words], env=environ, cwd=cwd, capture_output=True, text=True, timeout=180)


def test_it_says_where_the_copies_are_and_the_address(lab: RunningLab, clone: Path) -> None:
    assert re.fullmatch(rf"Copied \d\d notebooks to {clone}/my_course/notebooks: .*", lab.said[0])
    assert any(line.startswith("You are root") for line in lab.said) == (os.geteuid() == 0)
    assert "JupyterLab runs. Its address, with the key to it:" in lab.said
    assert lab.opened == "notebooks/03_scalar_kernel.ipynb"
    assert (clone / "my_course" / ".gnt" / "lab.log").is_file()


def test_it_serves_copies_exercises_and_pages(lab: RunningLab) -> None:
    assert lab.names() == {"notebooks", "my_exercises", "docs", "kernels", "tests"}
    assert lab.names("notebooks") == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    for page in ("docs/timing-model.md", "docs/diagnostics/ub-overflow.md", "tests/programs/memory/overflow_bad.cpp"):
        assert lab.ask(f"api/contents/{page}")["content"]
    cells = lab.ask("api/contents/notebooks/00_start_here.ipynb")["content"]["cells"]
    answered = {cell["id"]: bool(cell["outputs"]) for cell in cells if cell["cell_type"] == "code"}
    assert not answered["run-copy"], "'before you run the cell, predict'"
    assert answered["read-kernel"]
    assert all(cell["metadata"]["trusted"] for cell in cells if cell["cell_type"] == "code")


def test_pages_open_laid_out_and_nothing_is_asked_first(lab: RunningLab) -> None:
    def setting(plugin: str) -> dict[str, object]:
        return lab.ask(f"lab/api/settings/{plugin}")["schema"]["properties"]

    viewers = setting("@jupyterlab/docmanager-extension:plugin")["defaultViewers"]
    assert viewers["default"] == {"markdown": "Markdown Preview"}
    assert setting("@jupyterlab/apputils-extension:notification")["fetchNews"]["default"] == "false"


def test_the_address_needs_its_key(lab: RunningLab) -> None:
    lab.token, key = "wrong", lab.token
    try:
        with pytest.raises(OSError, match="403"):
            lab.names()
    finally:
        lab.token = key


def test_a_kernel_that_dies_is_said_here_and_noted_for_the_next(lab: RunningLab, clone: Path) -> None:
    psutil = pytest.importorskip("psutil")
    asked = {"path": lab.opened, "name": Path(lab.opened).name, "type": "notebook", "kernel": {"name": "python3"}}
    session = lab.ask("api/sessions", asked)
    above = psutil.Process(lab.process.pid)

    def kernel() -> list[psutil.Process]:
        return [one for one in above.children(recursive=True) if session["kernel"]["id"] in " ".join(one.cmdline())]

    (found,) = wait_for(kernel)
    # Ours, so that its first cell is already watched; in the folder of the copies, by the way that links go.
    assert "gn_tutorial.course.lab.in_kernel" in found.cmdline()
    assert found.exe() == psutil.Process().exe()
    assert found.cwd() == str(clone / "my_course" / "notebooks")
    assert found.environ()["GNT_EXERCISES_DIR"] == str(clone / "my_course" / "my_exercises")
    found.kill()
    assert "the Python of 03_scalar_kernel.ipynb died: the system ended it" in lab.heard("died")
    lab.heard("Nothing that you wrote is lost.")
    notes = CourseFolder(clone / "my_course").deaths
    assert "died" in next(notes.iterdir()).read_text()
    # Jupyter starts a new one. A server that is stopped before the new one listens waits for it, until we kill both.
    wait_for(lambda: [one for one in kernel() if one.pid != found.pid and one.net_connections()])


@pytest.mark.thorough
def test_a_second_gnt_lab_shows_the_first(lab: RunningLab, clone: Path, environ: dict[str, str]) -> None:
    again = gnt(environ, "lab", "04", "--no-browser", cwd=clone)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[0] == "JupyterLab already runs on this folder. Its address:"
    assert f"{lab.base}lab/tree/notebooks/04_tiling.ipynb?token={lab.token}" in again.stdout


@pytest.mark.thorough
def test_a_busy_port_is_refused_with_who_has_it(lab: RunningLab, clone: Path, environ: dict[str, str]) -> None:
    port = lab.base.rstrip("/").rpartition(":")[2]
    other = gnt(environ, "lab", "--port", port, "--no-browser", "--folder", str(clone.parent / "other"), cwd=clone)
    assert other.returncode == 2
    assert f"port {port} is taken by another JupyterLab, for {clone}/my_course" in other.stderr
    assert re.search(r"hint: +gnt lab --port \d+", other.stderr)


@pytest.mark.thorough
def test_git_is_clean_after_a_run_and_its_answers_are_there(
    lab: RunningLab, clone: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    """With the variables that kernels of the server have. Run All, saved in place."""
    del lab
    course = CourseFolder(clone / "my_course")
    copy = course.notebooks / "01_numpy_group_norm.ipynb"
    hidden = {cell["id"] for cell in notebook.answers(notebook.read(copy))}
    assert hidden
    inside = Request(course, copy.name, 0).environment(environ, "")
    subprocess.run(
        [sys.executable, "-c", EXECUTE, copy, copy.parent], env=inside, cwd=tmp_path, check=True, timeout=600
    )
    assert all(cell.outputs for cell in nbformat.read(copy, as_version=4).cells if cell.id in hidden)
    assert (clone / "my_exercises" / "01_numpy_group_norm" / "01_1_group_norm.py").is_file(), "made by check()"
    assert git(clone, "status", "--porcelain") == ""
    assert gnt(environ, "lab", "--copies", cwd=clone).stdout == "", "a run is no work"


@pytest.mark.thorough
def test_an_update_says_what_is_new_and_keeps_what_was_written(
    lab: RunningLab, clone: Path, environ: dict[str, str]
) -> None:
    del lab
    mine, course = clone / "my_course" / "notebooks", clone / "notebooks"
    for name in ("04_tiling.ipynb", "05_double_buffer.ipynb"):
        newer = (
            (course / name).read_text(encoding="utf-8").replace('"source": [\n    "', '"source": [\n    "# new\\n', 1)
        )
        (course / name).write_text(newer, encoding="utf-8")
    written = nbformat.read(mine / "05_double_buffer.ipynb", as_version=4)
    written.cells[1].source = "# mine"
    nbformat.write(written, mine / "05_double_buffer.ipynb")
    said = gnt(environ, "lab", "--copies", cwd=clone).stdout
    git(clone, "checkout", "--quiet", "notebooks")
    assert "  04_tiling.ipynb, new in " in said
    assert "File > Reload Notebook from Disk" in said, "JupyterLab is running"
    assert "  05_double_buffer.ipynb: 05_double_buffer.new.ipynb, new in " in said
    assert nbformat.read(mine / "05_double_buffer.ipynb", as_version=4).cells[1].source == "# mine"
    reset = gnt(environ, "lab", "05", "--reset", "--copies", cwd=clone)
    assert "05_double_buffer.ipynb is the course's again; yours is 05_double_buffer.mine.ipynb now." in reset.stdout


def test_sigint_stops_it_and_its_server(lab: RunningLab) -> None:
    port = int(lab.base.rstrip("/").rpartition(":")[2])
    code, said = lab.stop(signal.SIGINT)
    assert (code, said.splitlines()[-1]) == (0, "JupyterLab is stopped. gnt lab starts it again.")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.thorough
def test_ctrl_c_in_a_terminal_means_it_the_second_time(clone: Path, environ: dict[str, str]) -> None:
    """One by accident would take every kernel along."""
    ours, theirs = os.openpty()
    with running_lab(environ, "--folder", str(clone.parent / "twice"), cwd=clone, stdin=theirs) as lab:
        lab.process.send_signal(signal.SIGINT)
        assert "Ctrl-C once more" in lab.heard("still runs")
        assert lab.names()
        code, said = lab.stop(signal.SIGINT)
    os.close(ours)
    os.close(theirs)
    assert (code, said.splitlines()[-1]) == (0, "JupyterLab is stopped. gnt lab starts it again.")


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_is_closed_takes_the_server_along(
    clone: Path, environ: dict[str, str], number: signal.Signals
) -> None:
    psutil = pytest.importorskip("psutil")
    with running_lab(environ, "--folder", str(clone.parent / "closed"), cwd=clone) as lab:
        below = psutil.Process(lab.process.pid).children(recursive=True)
        assert below
        assert lab.stop(number)[0] == 128 + number
        assert psutil.wait_procs(below, timeout=60)[1] == []


@pytest.mark.thorough
def test_a_server_that_does_not_start_shows_its_last_words(clone: Path, environ: dict[str, str]) -> None:
    keys = ("--ServerApp.keyfile=/absent", "--ServerApp.certfile=/absent")
    wrong = gnt(environ, "lab", "--no-browser", "--folder", str(clone.parent / "wrong"), *keys, cwd=clone)
    assert wrong.returncode == 1
    assert "JupyterLab did not start" in wrong.stderr
    assert "/absent" in wrong.stderr
    assert "lab.log" in wrong.stderr
    assert "Traceback (most recent call last)" not in wrong.stderr.partition("its last lines")[0]
