"""TOML files that the package brings or an author writes, and the folders that hold those of the course."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gn_tutorial.errors import RegistryError

PACKAGE = Path(__file__).resolve().parent


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The file's keys. Raises RegistryError that says that ``what`` cannot be read, where, and why."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RegistryError(f"cannot read {what}: {error}", where=str(path)) from error


def course_folder(name: str, mark: str) -> Path:
    """The course's folder of that name (``kernels``, ``exercises``): in an installed package, or beside it.

    mark: a pattern that some file of it matches. The package's own copy is looked for first, because another
    distribution may own a ``kernels`` folder next to it in ``site-packages``. Raises RegistryError if neither is there.
    """
    places = (PACKAGE / f"_{name}", PACKAGE.parent / name)
    for folder in places:
        if any(folder.glob(mark)):
            return folder
    raise RegistryError(
        f"the folder {name} is missing",
        where=" and ".join(map(str, places)),
        hint="install the package again, or clone the repository again",
    )
