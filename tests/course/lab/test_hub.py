"""A learner's server under JupyterHub, and what other learners of the machine can see of it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

import gn_tutorial
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.workspace import Workspace
from gn_tutorial.course.lab import hub

ROOT = Path(__file__).resolve().parents[3]
#: Writes down how it was called, as JupyterHub's own program would serve.
SERVER = """#!/bin/sh
{ printf '%s\\n' "$@"; echo "JUPYTER_PATH=$JUPYTER_PATH"; echo "JUPYTER_TOKEN=$JUPYTER_TOKEN"; umask; } > "$HOME/called"
"""
#: Two users of the machine who have no account and share no group.
ANNE, BERT = 61234, 61235


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def start(
    home: Path, *words: str, path: Path | None = None, module: str = "gn_tutorial.course.lab.hub"
) -> subprocess.CompletedProcess[str]:
    keep = {name: os.environ[name] for name in ("GNT_CACHE_DIR", "PYTHONPATH") if name in os.environ}
    environment = {
        "HOME": str(home),
        "PATH": f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin",
        "GNT_COURSE_DIR": str(home / "course"),
        "GNT_EXERCISES_DIR": str(home / "exercises"),
        "JUPYTERHUB_API_TOKEN": "secret",
    } | keep
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif((Path(sys.executable).parent / "jupyterhub-singleuser").exists(), reason="the real one is found")
def test_the_path_of_0_2_0_still_starts_it(home: Path) -> None:
    """Settings of a hub name the module; a new version of the course must not stop every learner's server."""
    old, new = start(home, module="gn_tutorial.lab.hub"), start(home)
    assert (old.returncode, old.stderr) == (new.returncode, new.stderr)
    assert "pip install jupyterhub" in old.stderr


@pytest.mark.skipif((Path(sys.executable).parent / "jupyterhub-singleuser").exists(), reason="the real one comes first")
def test_it_makes_copies_and_becomes_the_hubs_server(home: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "jupyterhub-singleuser").write_text(SERVER)
    (programs / "jupyterhub-singleuser").chmod(0o755)
    ran = start(home, "--port=4711", path=programs)
    assert (ran.returncode, ran.stderr) == (0, "")
    called = (home / "called").read_text().splitlines()
    assert f"--ServerApp.root_dir={home / 'course'}" in called
    assert "--ServerApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in called
    assert called.index("--port=4711") > 2
    assert any(line.startswith("JUPYTER_PATH=") and "gn_tutorial/course/lab/jupyter" in line for line in called)
    assert "JUPYTER_TOKEN=" in called, "the hub lets learners in, not a key of ours"
    assert called[-1].endswith("077")
    assert len(list((home / "course" / "notebooks").glob("*.ipynb"))) == len(list((ROOT / "notebooks").glob("*.ipynb")))


@pytest.mark.skipif(shutil.which("jupyterhub-singleuser") is not None, reason="it is installed")
def test_without_jupyterhub_it_says_what_installs_it(home: Path) -> None:
    ran = start(home)
    assert ran.returncode == 1
    assert ran.stderr.startswith("jupyterhub-singleuser is not installed: ")
    assert not (home / "course").exists()


def as_user(number: int, home: Path, do: Callable[[], None]) -> str:
    """Do something as that user, in a process of its own; "" or the traceback."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        said = ""
        try:
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)
            os.environ.update(
                HOME=str(home),
                GNT_COURSE_DIR=str(home / "course"),
                GNT_EXERCISES_DIR=str(home / "exercises"),
                GNT_DATA_DIR=str(home / "data"),
                GNT_CACHE_DIR=str(home / "cache"),
            )
            do()
        except BaseException:
            said = traceback.format_exc()
        os.write(writing, said.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


@pytest.fixture(scope="module")
def annes() -> Iterator[dict[str, Path]]:
    """The files of a learner who has worked, by what they are; her home can be entered by all, as on many systems."""
    if os.geteuid() != 0:
        pytest.skip("needs root, who can become two other users")
    # Both: an environment in a folder that only root enters lacked modules that nbformat imports late.
    if not all(_everybody_may_enter(Path(package.__file__ or "/").parent) for package in (gn_tutorial, nbformat)):
        pytest.skip("the course or its packages lie where other users cannot read them")
    with tempfile.TemporaryDirectory(prefix="gnt-homes-") as folder:
        os.chmod(folder, 0o755)
        # Read here: modules that Python imports late may lie where the other user cannot go.
        exercise = load_course().find("00.1")
        (Path(folder) / "made.so").write_bytes(b"library")
        Cache(Path(folder) / "warm").put("ab" * 32, ".so", Path(folder) / "made.so")
        home = Path(folder) / "anne"
        home.mkdir()
        os.chown(home, ANNE, ANNE)

        def work() -> None:
            hub.prepare()
            Workspace(home / "exercises").prepare(exercise)
            (home / "data").mkdir()
            (home / "data" / "progress.json").write_text(json.dumps({"version": 3}))
            made = home / "made.so"
            made.write_bytes(b"library")
            Cache(home / "cache").put("ab" * 32, ".so", made)

        assert as_user(ANNE, home, work) == ""
        yield {
            "notebook": home / "course" / "notebooks" / "00_start_here.ipynb",
            "exercise": next((home / "exercises").rglob("*.cpp")),
            "progress": home / "data" / "progress.json",
            "cache": next(path for path in (home / "cache").rglob("*") if path.is_file() and path.stat().st_size),
        }


def _everybody_may_enter(folder: Path) -> bool:
    return all(one.stat().st_mode & stat.S_IXOTH for one in (folder, *folder.parents))


@pytest.mark.parametrize("what", ["notebook", "exercise", "progress", "cache"])
def test_another_learner_cannot_read_or_change_it(annes: dict[str, Path], what: str) -> None:
    path = annes[what]

    def attack() -> None:
        for mode in ("rb", "r+b", "ab"):
            with pytest.raises(PermissionError):
                path.open(mode)
        for spoil in (path.unlink, lambda: os.replace(path, f"{path}.old"), lambda: (path.parent / "mine").touch()):
            with pytest.raises(PermissionError):
                spoil()

    before = path.read_bytes()
    assert as_user(BERT, Path("/nowhere"), attack) == ""
    assert path.read_bytes() == before
    assert path.stat().st_uid == ANNE
