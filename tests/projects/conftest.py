"""What the tests of projects share: copies to edit, all in one place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def copy_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """A fresh copy of a project, in the same place for every test, so that unedited files are compiled once."""

    def make(project: Path) -> Path:
        folder = tmp_path_factory.getbasetemp() / "copies" / project.name
        shutil.rmtree(folder, ignore_errors=True)
        return Path(shutil.copytree(project, folder))

    return make
