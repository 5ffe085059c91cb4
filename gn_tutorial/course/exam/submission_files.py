"""Reads a submission's files, the sources in op_host and op_kernel, and puts them into a new folder of the task."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.course.exam.handout import handout
from gn_tutorial.course.exam.task import Task
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.errors import ArgumentError

_FOLDERS = ("op_host", "op_kernel")
_SUFFIXES = (".cpp", ".h", ".hpp")
_LARGEST = 1 << 20
GAP = "YOUR TURN"


@dataclass(frozen=True)
class HandedIn:
    """The sources of an attempt. files: path inside the folder -> text."""

    files: Mapping[str, str]

    def text(self) -> bytes:
        """Return all names and texts as bytes. The judge makes the seed of the hidden calls from them."""
        return "\0".join(f"{name}\0{text}" for name, text in sorted(self.files.items())).encode()

    def kernel(self) -> dict[str, str]:
        """Return the files of op_kernel."""
        return {name: text for name, text in self.files.items() if name.startswith("op_kernel/")}

    def gaps(self) -> dict[str, int]:
        """Return path -> how many marks YOUR TURN the file still has, for the files that have any."""
        return {name: text.count(GAP) for name, text in self.files.items() if GAP in text}


def handed_in(folder: Path) -> HandedIn:
    """Return the sources in the folder's op_host and op_kernel.

    Raises ArgumentError if there is no folder or no source, or if a source cannot be read, is no regular file or is
    larger than 1 MiB.
    """
    if not folder.is_dir():
        raise ArgumentError(
            f"there is no folder {folder}", hint="move it back, or start again: gnt exam start TASK --new"
        )
    found = {}
    for top in _FOLDERS:
        for path in sorted((folder / top).rglob("*")):
            if path.suffix not in _SUFFIXES or any(part.startswith(".") for part in path.relative_to(folder).parts):
                continue
            try:
                if not path.is_file() or path.stat().st_size > _LARGEST:
                    raise OSError(0, "it is no regular file, or larger than 1 MiB")
                found[path.relative_to(folder).as_posix()] = source_text(path)
            except OSError as error:
                raise ArgumentError(f"cannot read a source: {error.strerror}", where=str(path)) from error
    if not found:
        raise ArgumentError(f"{folder} has no sources in op_host and op_kernel", hint="gnt exam start TASK --new")
    return HandedIn(found)


@contextlib.contextmanager
def judged_folder(task: Task, attempt: HandedIn, layout: str, soc: str) -> Iterator[Path]:
    """Write the folder that is judged and yield its path. No other judge can write it during the context.

    The folder lies in the cache, always at the same path, so that host files or a kernel that did not change since the
    last time are not compiled again. Raises CacheError.
    """
    cache, name = default_cache(), f"exam/{task.name}_{layout}"
    root, files = (cache.root / "sources" / name).absolute(), _files(task, attempt, layout, soc)
    with cache.lock(f"x{root.name}"):  # no key of a build begins with x
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.relative_to(root).as_posix() not in files:
                path.unlink()
        for inside, text in files.items():
            cache.keep_source(f"{name}/{inside}", text)
        yield root.resolve()


def _files(task: Task, attempt: HandedIn, layout: str, soc: str) -> dict[str, str]:
    given = {
        name: text
        for name, text in handout(task, layout, soc).items()
        if not (name.startswith(("op_host/", "op_kernel/")) and name.endswith((".cpp", ".h")))
    }
    return given | dict(attempt.files)
