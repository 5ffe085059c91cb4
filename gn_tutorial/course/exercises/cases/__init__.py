"""What each exercise is checked with: a module an idea or a notebook, a constant an exercise."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol

from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.errors import RegistryError


class Checker(Protocol):
    """Checks a learner's file on data that follow from ``seed``: the first thing wrong, or the number of cases."""

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Check one attempt."""
        ...


def checker_of(name: str) -> Checker:
    """The checker that an exercise names as ``"start.COPY_TAIL"``: a constant of a module in this folder.

    Raises RegistryError if there is no such module or constant.
    """
    module, _, constant = name.partition(".")
    if module.isidentifier() and constant and find_spec(f"{__name__}.{module}"):
        found = getattr(import_module(f"{__name__}.{module}"), constant, None)
        if found is not None:
            return found
    raise RegistryError(f"there is no checker '{name}' in gn_tutorial/course/exercises/cases")


def all_checkers() -> dict[str, Checker]:
    """Every checker of the folder, by a name that ``checker_of`` takes."""
    found = {}
    for module in iter_modules(__path__):
        for constant, value in vars(import_module(f"{__name__}.{module.name}")).items():
            if constant.isupper() and callable(getattr(value, "check", None)):
                found[f"{module.name}.{constant}"] = value
    return found
