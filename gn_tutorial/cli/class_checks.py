"""``gnt doctor --class``: whether this computer is ready for a class, the day before, while there is a network.

What a class needs beside the doctor's rows: JupyterLab, one's copies, memory, and the kernels of the first day
compiled, so that no class begins with a minute of waiting. A row says ``problem`` where the class would stop.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from gn_tutorial.cli.machine_report import GIB, MISSING, OK, PROBLEM, Check, installed_version, run_checks
from gn_tutorial.errors import GntError

_LAB = ("jupyterlab", "ipykernel", "anywidget")
#: JupyterLab, two notebooks' kernels and a compiler at once: 225 MB a notebook, half a gigabyte the compiler.
_LEAST_MEMORY = 2 * GIB
#: The steps of notebooks 00 to 06, observed, as their cells launch them.
_KERNELS = (
    "copy", "copy/queue", "add", "group_norm/scalar", "group_norm/tiled", "group_norm/double_buffered",
    "group_norm/vectorised",
)  # fmt: skip


def run_class_checks() -> Iterator[Check]:
    """The doctor's rows, then those of a class, each when it is ready; the last one compiles what no cache has."""
    yield from run_checks()
    checks: tuple[Callable[[], Check], ...] = (check_lab, check_memory, check_copies, check_exercises, check_kernels)
    for check in checks:
        yield check()


def not_ready(rows: list[Check]) -> list[Check]:
    """The rows that would stop a learner."""
    return [row for row in rows if row.status == PROBLEM]


def check_lab() -> Check:
    """JupyterLab and what a notebook's cells need; ``./gnt lab`` installs them."""
    versions = {name: installed_version(name) for name in _LAB}
    for name, version in versions.items():
        if version is None:
            return Check("JupyterLab", PROBLEM, f"{name} is not installed", "./gnt lab --copies installs it")
    return Check("JupyterLab", OK, ", ".join(f"{name} {version}" for name, version in versions.items()))


def check_memory() -> Check:
    """Memory that is free now; where the system does not say, the class goes on without the answer."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return Check("memory", MISSING, "this system does not say", "nothing to do with 4 GiB or more")
    found = f"{free / GIB:.1f} GiB free"
    if free < _LEAST_MEMORY:
        return Check("memory", PROBLEM, found, "close other programs: a class needs 2 GiB")
    return Check("memory", OK, found)


def check_copies() -> Check:
    """The learner's copies of the notebooks."""
    from gn_tutorial.course.lab.folder import CourseFolder, default_folder, notebooks_root

    folder = CourseFolder(default_folder())
    wanted = {path.name for path in notebooks_root().glob("*.ipynb")}
    missing = wanted - {path.name for path in folder.notebooks.glob("*.ipynb")}
    if missing:
        return Check("notebooks", PROBLEM, f"{len(missing)} of {len(wanted)} have no copy", "./gnt lab --copies")
    return Check("notebooks", OK, f"{len(wanted)} copies in {folder.notebooks}")


def check_exercises() -> Check:
    """The folder of the learner's exercises: whether one can write there."""
    from gn_tutorial.course.exercises.workspace import default_folder

    folder = default_folder()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        advice = "set GNT_EXERCISES_DIR to a folder that can be written"
        return Check("exercises", PROBLEM, f"{folder} cannot be written", advice)
    return Check("exercises", OK, str(folder))


def check_kernels() -> Check:
    """The kernels of the first day, compiled where they are not yet in the cache."""
    from gn_tutorial.operators.kernel import kernel

    began, compiled = time.monotonic(), 0
    for name in _KERNELS:
        try:
            compiled += not kernel(name).build().cached
        except (GntError, OSError) as error:
            return Check("kernels", PROBLEM, f"{name}: {error}", "see the rows above")
    how = f"{compiled} compiled in {time.monotonic() - began:.0f} s" if compiled else "all from the cache"
    return Check("kernels", OK, f"{len(_KERNELS)} of notebooks 00 to 06: {how}")
