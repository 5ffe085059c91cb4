"""The folder that is judged: what was given, anew, and the candidate's sources in the places of those with gaps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.course.exam.handout import handout
from gn_tutorial.course.exam.submission_files import HandedIn
from gn_tutorial.course.exam.task import Task


@contextlib.contextmanager
def judged_folder(task: Task, attempt: HandedIn, layout: str, soc: str) -> Iterator[Path]:
    """The folder, for one judge at a time.

    It lies in the cache, always at the same place: what an attempt did not change since it was last judged, the host
    files or the kernel, is not compiled again. Raises CacheError.
    """
    cache, name = default_cache(), f"exam/{task.name}_{layout}"
    root, files = (cache.root / "sources" / name).absolute(), _files(task, attempt, layout, soc)
    with cache.lock(f"x{root.name}"):  # no key of a build begins like that
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
