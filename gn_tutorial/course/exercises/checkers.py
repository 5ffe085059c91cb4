"""Loads the checker of an exercise: the constant ``CHECK`` in ``solutions/NN_topic/NN_K.check.py``.

The file is loaded when its exercise is checked, and again when a Python file of its folder has changed. Checks of one
folder may share a helper file there, which they import as ``from .helper import name``.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import traceback
import zlib
from pathlib import Path
from types import ModuleType
from typing import Protocol

from gn_tutorial.course.exercises.registry import Exercise
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.errors import RegistryError

_HOW = "CONTRIBUTING.md, 'An exercise', says what the file holds"


class Checker(Protocol):
    """Checks a learner's file on data drawn from ``seed``; returns the first thing wrong, or the number of cases."""

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Check one attempt."""
        ...


def checker_of(exercise: Exercise) -> Checker:
    """Return the checker of one exercise. The check files of other exercises are not loaded.

    Raises RegistryError if the check file is missing, cannot be loaded, or has no checker named ``CHECK``.
    """
    path = exercise.check_file
    if not path.is_file():
        raise RegistryError(f"exercise {exercise.id} has no check file", where=str(path), hint=_HOW)
    return _load(path, _state(path.parent))


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of each Python file of a folder, also of helpers, because a check runs their code."""
    with os.scandir(folder) as entries:
        found = [(one.name, one.stat()) for one in entries if one.name.endswith(".py")]
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in found))


@functools.lru_cache(maxsize=128)
def _load(path: Path, state: tuple[tuple[str, int, int], ...]) -> Checker:
    package = _package(path.parent, state)
    spec = importlib.util.spec_from_file_location(f"{package}.check_{path.name[:4]}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up the names of annotations
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name]
        raise RegistryError(
            f"the check cannot be loaded: {type(error).__name__}: {error}", where=_place(error, path), hint=_HOW
        ) from error
    return _checker(module, path)


@functools.lru_cache(maxsize=32)
def _package(folder: Path, state: tuple[tuple[str, int, int], ...]) -> str:
    """Make a package for the folder, from which checks import their helpers; return the package's name."""
    del state  # only a key of the cache: after a change the body runs again, and forgets the former modules
    name = f"gn_tutorial_checks_{zlib.crc32(os.fsencode(folder)):08x}"
    for known in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[known]
    sys.path_importer_cache.pop(str(folder), None)  # this cache may list the folder without a new helper
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    return name


def _place(error: Exception, path: Path) -> str:
    """Return ``file:line`` at fault: the syntax error's, or else the last line that ran in a file of the folder.

    Return only the path of the check file if no line of the folder ran.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if Path(frame.filename).parent == path.parent]
    return f"{inside[-1].filename}:{inside[-1].lineno}" if inside else str(path)


def _checker(module: ModuleType, path: Path) -> Checker:
    if not hasattr(module, "CHECK"):
        raise RegistryError("the check file has no constant CHECK", where=str(path), hint=_HOW)
    found = module.CHECK
    if not callable(getattr(found, "check", None)) or isinstance(found, type):
        what = f"the class {found.__name__}" if isinstance(found, type) else f"of the type {type(found).__name__}"
        raise RegistryError(
            f"CHECK is {what}; it must be a checker, such as KernelChecker(...)", where=str(path), hint=_HOW
        )
    return found
