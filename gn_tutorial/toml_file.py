"""TOML files that the package brings or an author writes, and folders: those of the course, and a learner's."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from gn_tutorial.errors import RegistryError

PACKAGE = Path(__file__).resolve().parent


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The file's keys. Raises RegistryError that says that ``what`` cannot be read, where, and why."""
    try:
        if path.exists() and not path.is_file():  # at a pipe a reader waits, /dev/zero has no end
            raise OSError("it is no regular file")
        return parse_toml(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RegistryError(f"cannot read {what}: {error}", where=str(path)) from error


def parse_toml(data: bytes) -> dict[str, Any]:
    """The keys of a file's bytes, a byte-order mark or not. Raises ValueError that says why they are no TOML."""
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise
    except ValueError:  # Python reads no more
        raise ValueError("a number in it has more than 4300 digits") from None
    except RecursionError:  # thousands of brackets
        raise ValueError("its brackets are nested too deeply") from None


def course_file(name: str) -> str:
    """A path of the course, ``tests/programs/memory/overflow_bad.cpp``, from wherever this is called.

    Pages print such paths from the top of a clone. What is there from the current folder comes first, and any other
    name stays as it is.
    """
    inside = Path(name)
    if inside.suffix and inside.parts[0] in ("kernels", "tests") and not inside.exists():
        for top in (f"_{inside.parts[0]}", f"../{inside.parts[0]}"):
            found = PACKAGE.joinpath(top, *inside.parts[1:])
            if found.is_file():
                return str(found.resolve())
    return name


def learners_folder(variable: str, root: Path, beside: str, installed: str) -> Path:
    """A folder of the learner's: the one that an environment variable names, or one by where the course is.

    root: a course's folder. In a clone the learner's is ``beside`` it; for an installed package, whose folders begin
    with ``_``, it is ``installed`` in the home folder.
    """
    chosen = os.environ.get(variable)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path.home() / installed if root.name.startswith("_") else root.parent / beside


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
