"""From saving a file to the verdict: a new process, a text that was never compiled, all else as earlier work left it.

    python benchmarks/edit_to_verdict.py [--runs 5] [--json]

A row is a command that a learner types after each save. What earlier saves leave in the cache is there: the launcher,
the twin's headers and checkers, the operator's tiling. The text itself is new, since its library is made in a cache
that has never seen it. Python's bytecode is among what earlier commands left, even where PYTHONDONTWRITEBYTECODE is
set: a learner's Python has it, and without it a command takes 0.2 s longer. Shown are the median of the wall time, and
of the processor time that the command and all it starts take: that hardly depends on what else runs. The targets are
wall times of an idle machine with two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gn_tutorial.course.exercises.registry import load_course

GNT = (sys.executable, "-m", "gn_tutorial")


@dataclass(frozen=True)
class Row:
    """A measured command. before: commands on other texts that run first. target: the seconds that it may take."""

    name: str
    command: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]
    target: float


# Twice: the second build of a kind makes the precompiled header that later ones use.
ROWS = (
    Row("exercise 03.2", ("learn", "check", "03.2"), (("learn", "check", "02.1"), ("learn", "check", "03.1")), 1.2),
    Row("exercise 05.1", ("learn", "check", "05.1"), (("learn", "check", "03.1"), ("learn", "check", "03.2")), 1.2),
    Row(
        "group_norm/scalar",
        ("run", "group_norm/scalar"),
        (("run", "group_norm/tiled"), ("run", "group_norm/resident")),
        1.0,
    ),
    Row(
        "group_norm/any", ("run", "group_norm/any"), (("run", "group_norm/tiled"), ("run", "group_norm/resident")), 3.0
    ),
    Row(
        "group_norm_backward/any",
        ("run", "group_norm_backward/any"),
        (("run", "group_norm_backward/scalar"), ("run", "group_norm_backward/atomic")),
        4.0,
    ),
)


def measure(row: Row, runs: int, folder: Path) -> tuple[float, float]:
    """Return seconds of wall time and of processor time, each the median of ``runs``."""
    exercises, warm = folder / "exercises", folder / "warm"
    environment = os.environ | {"GNT_CACHE_DIR": str(warm), "GNT_EXERCISES_DIR": str(exercises)}
    environment |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    _solve(exercises)
    for command in row.before:
        _run(command, environment)
    walls, processors = [], []
    for index in range(runs):
        cold = folder / f"cold{index}"
        shutil.copytree(warm, cold, symlinks=True)
        begin, used = time.perf_counter(), _processor_seconds()
        _run(row.command, environment | {"GNT_CACHE_DIR": str(cold)})
        walls.append(time.perf_counter() - begin)
        processors.append(_processor_seconds() - used)
        shutil.rmtree(cold)
    return statistics.median(walls), statistics.median(processors)


def _solve(exercises: Path) -> None:
    """Write right attempts, so that every case of a check runs."""
    for exercise in load_course().exercises:
        target = exercises / exercise.solution.parent.name / exercise.solution.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(exercise.solution, target)


def _run(command: tuple[str, ...], environment: dict[str, str]) -> None:
    done = subprocess.run([*GNT, *command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def _processor_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = []
    for row in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            wall, processor = measure(row, options.runs, Path(folder))
        found.append({"what": row.name, "seconds": wall, "processor_seconds": processor, "target": row.target})
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("from saving to the verdict", "wall [s]", "processor [s]", "target, wall [s]")
    for one in found:
        table.add_row(one["what"], *(f"{one[key]:.2f}" for key in ("seconds", "processor_seconds", "target")))
    Console().print(table)


if __name__ == "__main__":
    main()
