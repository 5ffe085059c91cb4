"""The clone and the machine that the tests of ./gnt's set-up start from.

Of the time of a set-up six parts of seven go into the Python environment itself, the same for every clone: it is made
once, and `python3 -m venv` copies it, except where a test says REAL.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bootstrap_support import BACKEND, PYPROJECT, REAL, ROOT, TINY, TOOLS, fake_python


@pytest.fixture(scope="module", autouse=True)
def environments_are_copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The first python3 on the path, which copies an environment where the real one makes the same."""
    folder = tmp_path_factory.mktemp("python")
    made = folder / "made"
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    # -p: compiled modules hold the times of their sources. The folder is there: ./gnt has left its mark in it.
    fake_python(folder, f"""[ "$1 $2" != "-m venv" ] || exec cp -pR '{made}/.' "$3" """)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{REAL['PATH']}")
        yield


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose path has spaces, an apostrophe and brackets."""
    folder = tmp_path / "it's a [new] clone"
    folder.mkdir()
    shutil.copy(ROOT / "gnt", folder)
    for name, text in {"backend.py": BACKEND, "tiny.py": TINY, "pyproject.toml": PYPROJECT}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the commands ./gnt may use, and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def torch_clone(clone: Path) -> Path:
    """The clone, with a package that asks for torch==9.9 in its extra."""
    (clone / "pyproject.toml").write_text(
        PYPROJECT + '[project.optional-dependencies]\ntorch = ["other", "torch==9.9"]\n'
    )
    return clone
