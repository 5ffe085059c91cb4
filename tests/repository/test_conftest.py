"""A run of the suite ends: also when a test kills its worker, or hangs."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KILLED = "import os\n\n\ndef test_deadly():\n    os._exit(3)\n"
HANGS = "import time\n\n\ndef test_deadly():\n    time.sleep(3600)\n"


# Each of the two waits for the other, so they end only if two workers have them. The other file has more tests.
BY_THEMSELVES = """
import os, time
from pathlib import Path

import pytest


@pytest.mark.parametrize("exercise", "ab")
def test_exercise_is_whole(exercise):
    Path(exercise).touch()
    deadline = time.monotonic() + 60
    while not all(Path(one).exists() for one in "ab"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
"""
TOGETHER = """
import os
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", [f"a::b{number}" for number in range(8)])
def test_one_worker(number):
    assert all(Path(one).exists() for one in "ab")
    with open("FILE", "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def run(folder: Path, settings: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The files of a folder under this suite's conftest and settings, on two workers."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "pyproject.toml").write_text(settings.replace('testpaths = ["tests", "notebooks"]\n', ""), "utf-8")
    # The plugins that are not used cost seconds.
    plugins = [
        word for name in ("nbval", "anyio", "hypothesispytest", "cacheprovider") for word in ("-p", f"no:{name}")
    ]
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope", *plugins, *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("text", [KILLED, HANGS], ids=["killed", "hangs"])
def test_a_deadly_test_ends_the_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "test_first.py").write_text(text, encoding="utf-8")
    (tmp_path / "test_second.py").write_text("def test_fine():\n    pass\n", encoding="utf-8")
    # Of the suite's own settings only the length of a hang is another one.
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert settings.count("faulthandler_timeout = 900") == 1
    done = run(tmp_path, settings.replace("faulthandler_timeout = 900", "faulthandler_timeout = 2"))
    assert done.returncode == 1
    # The other worker's test may have ended a moment before, and not be told yet.
    (died,) = re.findall("died in one of: (.*) !", done.stdout)
    assert "test_first.py::test_deadly" in died.split()
    if text == HANGS:
        assert "test_first.py" in done.stderr  # the traceback
        assert "in test_deadly" in done.stderr


def test_exercises_go_first_to_whichever_worker_is_free_and_other_files_to_one(tmp_path: Path) -> None:
    files = {"course/exercises/test_a_file": "one", "compiler/test_toolchain": "zig", "compiler/test_same_bits": "zig"}
    for folder in ("course/exercises", "compiler"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
    (tmp_path / "tests" / "course" / "exercises" / "test_author_check.py").write_text(BY_THEMSELVES, encoding="utf-8")
    for file, workers in files.items():
        text = TOGETHER.replace("FILE", workers)
        (tmp_path / "tests" / f"{file}.py").write_text(text, encoding="utf-8")
    done = run(tmp_path, (ROOT / "pyproject.toml").read_text(encoding="utf-8"), "--all")
    assert "26 passed" in done.stdout, done.stdout
    assert [len(set((tmp_path / workers).read_text().split())) for workers in ("one", "zig")] == [1, 1]


MARKED = """
import pytest


def test_plain():
    pass


@pytest.mark.thorough
def test_at_length():
    pass


@pytest.mark.zig
def test_with_another_compiler():
    pass
"""


def test_what_repeats_at_length_runs_with_all_only(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_marked.py").write_text(MARKED, encoding="utf-8")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "1 passed" in run(tmp_path, settings).stdout
    assert "3 passed" in run(tmp_path, settings, "--all").stdout


def test_a_quick_run_takes_new_files_and_the_shortest_and_no_notebook() -> None:
    conftest = runpy.run_path(str(ROOT / "conftest.py"))
    limit = conftest["QUICK_SECONDS"]
    known = {"tests/short.py": 0.1 * limit, "tests/middle.py": 0.5 * limit, "tests/long.py": 0.6 * limit}
    files = [*known, "tests/new.py", "notebooks/00.ipynb"]
    assert conftest["quick_files"](files, known) == {"tests/new.py", "tests/short.py", "tests/middle.py"}


def test_files_that_are_named_exist() -> None:
    """A file that was renamed would be started late, and nobody would see why the run takes longer."""
    conftest = runpy.run_path(str(ROOT / "conftest.py"))
    named = [*conftest["NEED_TORCH"], *conftest["WITH_ZIG"], conftest["EACH_BY_ITSELF"].partition("::")[0]]
    assert [name for name in [*named, *conftest["durations"]()] if not (ROOT / name).is_file()] == []
    marked = {path.name for path in (ROOT / "tests").rglob("test_*.py") if "mark.zig" in path.read_text("utf-8")}
    assert marked <= {Path(name).name for name in conftest["WITH_ZIG"]} | {Path(__file__).name}
