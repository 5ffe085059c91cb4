"""What warm calls of the door cost, in milliseconds: all that is read, compiled and imported once is done before.

    python benchmarks/warm_calls.py [--rounds 9] [--json]

The calls take turns, and each row is the median of the rounds: of wall time, and of processor time, children included,
which hardly depends on what else runs. "untouched" is ``gnt.check`` of an exercise that was not attempted, which reads
files and launches nothing; "passed" checks a right solution, launches of its kernel included. "import" is a new Python
that imports the package, less one that imports NumPy alone. Targets: 3 ms for ``gnt.kernel(name)``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gn_tutorial as gnt
from gn_tutorial.course.exercises.registry import load_course

KERNEL, UNTOUCHED, PASSED = "silu", "06.2", "03.1"


def calls(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the calls by their names in the table. folder: the learner's, which gets a right solution."""
    x = np.linspace(-4.0, 4.0, 2048, dtype=np.float32)
    kernel = gnt.kernel(KERNEL)
    exercise = load_course().find(PASSED)
    attempt = folder / exercise.file
    attempt.parent.mkdir(parents=True)
    attempt.write_text(exercise.solution.read_text(encoding="utf-8"), encoding="utf-8")
    return {
        f'gnt.kernel("{KERNEL}")': lambda: gnt.kernel(KERNEL),
        "k(x)": lambda: kernel(x),
        "k(x, isolated=False)": lambda: kernel(x, isolated=False),
        f'gnt.kernel("{KERNEL}")(x)': lambda: gnt.kernel(KERNEL)(x),
        f'gnt.check("{UNTOUCHED}"), untouched': lambda: gnt.check(UNTOUCHED),
        f'gnt.check("{PASSED}"), passed': lambda: gnt.check(PASSED),
    }


def cost(call: Callable[[], object], times: int) -> tuple[float, float]:
    """Return milliseconds of wall and of processor time of a call, on average over ``times`` calls."""
    begin, used = time.perf_counter(), processor_time()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times * 1e3, (processor_time() - used) / times * 1e3


def processor_time() -> float:
    """Return processor seconds of this process and of those that it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def imported(what: str) -> Callable[[], object]:
    """Return a call that starts a new Python which imports a package."""
    return lambda: subprocess.run([sys.executable, "-c", f"import {what}"], check=True)


def measured(rounds: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Return call -> the medians of wall and of processor time."""
    known = calls(folder)
    for call in known.values():
        call(), call()  # the second call is the first one that finds everything ready
    known |= {"import": imported("gn_tutorial"), "numpy": imported("numpy")}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in known}
    for _ in range(rounds):
        for name, call in known.items():
            found[name].append(cost(call, 10 if name.startswith(("gnt.kernel", "k(")) else 1))
    rows = {name: tuple(map(statistics.median, zip(*each, strict=True))) for name, each in found.items()}
    numpy = rows.pop("numpy")
    return rows | {"import": tuple(one - other for one, other in zip(rows["import"], numpy, strict=True))}


def main() -> None:
    """Measure, and print a line for each call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gnt-warm-calls-") as name:
        os.environ |= {"GNT_EXERCISES_DIR": name, "GNT_DATA_DIR": f"{name}/data"}
        rows = measured(options.rounds, Path(name))
    if options.json:
        print(json.dumps({name: {"wall_ms": wall, "processor_ms": used} for name, (wall, used) in rows.items()}))
        return
    print(f"{'':32}{'wall, ms':>10}{'processor, ms':>16}")
    for name, (wall, used) in rows.items():
        print(f"{name:32}{wall:10.2f}{used:16.2f}")


if __name__ == "__main__":
    main()
