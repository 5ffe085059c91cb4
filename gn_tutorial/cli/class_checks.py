"""``gnt doctor --class``: checks that this computer is ready for a class. Run it the day before, with a network.

Besides the doctor's rows, it checks JupyterLab, memory, and the learner's notebooks and exercises. It also compiles the
kernels of the first day, so that no class begins with a minute of waiting. A row with the status ``problem`` reports
something that would stop a learner.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from gn_tutorial.cli.machine_report import GIB, MISSING, OK, PROBLEM, Check, installed_version, run_checks
from gn_tutorial.errors import GntError

_LAB = ("jupyterlab", "ipykernel", "anywidget")
#: Bytes of memory for JupyterLab, two running notebooks (225 MB each) and a compiler (half a gigabyte) at once.
_LEAST_MEMORY = 2 * GIB
#: The kernels of notebooks 00 to 06. They are compiled observed, as the cells launch them.
_KERNELS = (
    "copy", "copy/queue", "add", "group_norm/scalar", "group_norm/tiled", "group_norm/double_buffered",
    "group_norm/vectorised",
)  # fmt: skip


def run_class_checks() -> Iterator[Check]:
    """Yield the doctor's rows, then the rows of a class, each as soon as it is ready. The last row compiles kernels."""
    yield from run_checks()
    checks: tuple[Callable[[], Check], ...] = (check_lab, check_memory, check_copies, check_exercises, check_kernels)
    for check in checks:
        yield check()


def not_ready(rows: list[Check]) -> list[Check]:
    """Return the rows with the status ``problem``, which would stop a learner."""
    return [row for row in rows if row.status == PROBLEM]


def check_lab() -> Check:
    """Check that JupyterLab and the packages for a notebook's cells are installed; ``./gnt lab`` installs them."""
    versions = {name: installed_version(name) for name in _LAB}
    for name, version in versions.items():
        if version is None:
            return Check("JupyterLab", PROBLEM, f"{name} is not installed", "./gnt lab --copies installs it")
    return Check("JupyterLab", OK, ", ".join(f"{name} {version}" for name, version in versions.items()))


def check_memory() -> Check:
    """Check that enough memory is free now. The status is ``missing`` if the system does not report its free memory."""
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
    """Check that the learner has a copy of every notebook."""
    from gn_tutorial.course.lab.folder import CourseFolder, default_folder, notebooks_root

    folder = CourseFolder(default_folder())
    wanted = {path.name for path in notebooks_root().glob("*.ipynb")}
    missing = wanted - {path.name for path in folder.notebooks.glob("*.ipynb")}
    if missing:
        return Check("notebooks", PROBLEM, f"{len(missing)} of {len(wanted)} have no copy", "./gnt lab --copies")
    return Check("notebooks", OK, f"{len(wanted)} copies in {folder.notebooks}")


def check_exercises() -> Check:
    """Check that the learner can write to the folder of exercises."""
    from gn_tutorial.course.exercises.workspace import default_folder

    folder = default_folder()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        advice = "set GNT_EXERCISES_DIR to a folder that can be written"
        return Check("exercises", PROBLEM, f"{folder} cannot be written", advice)
    return Check("exercises", OK, str(folder))


def check_kernels() -> Check:
    """Compile those kernels of the first day that are not in the cache yet. The row fails at the first error."""
    from gn_tutorial.operators.kernel import kernel

    began, compiled = time.monotonic(), 0
    for name in _KERNELS:
        try:
            compiled += not kernel(name).build().cached
        except (GntError, OSError) as error:
            return Check("kernels", PROBLEM, f"{name}: {error}", "see the rows above")
    how = f"{compiled} compiled in {time.monotonic() - began:.0f} s" if compiled else "all from the cache"
    return Check("kernels", OK, f"{len(_KERNELS)} of notebooks 00 to 06: {how}")
