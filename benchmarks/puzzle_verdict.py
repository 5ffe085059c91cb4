"""From running a puzzle's cell to the answer: warm, in a kernel that has checked another, and cold, in a new Python.

    python benchmarks/puzzle_verdict.py [--runs 5] [--json]

Cold is ``gnt puzzle ID FILE``; what earlier work left in the cache is there (the launcher, the twin's headers and
checkers), the lines themselves are new each time. Shown are the median of the wall time, and of the processor time of
the check and all that it starts, which hardly depends on what else runs. The targets are wall times of an idle machine
with two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gn_tutorial.course.puzzles.bank import Puzzle, load
from gn_tutorial.course.puzzles.check import check

WARM, COLD = 1.0, 2.0
#: Puzzles that together have each frame and each picture.
CHOSEN = ("04.count", "02.share", "05.order")


def _used() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _median(run: Callable[[int], None], runs: int) -> tuple[float, float]:
    """Return the median wall and processor seconds of ``run(number)``; a first run is not counted."""
    walls, processors = [], []
    for number in range(runs + 1):
        begin, used = time.perf_counter(), _used()
        run(number)
        walls.append(time.perf_counter() - begin)
        processors.append(_used() - used)
    return statistics.median(walls[1:]), statistics.median(processors[1:])


def _new(puzzle: Puzzle, number: int) -> str:
    """Return our solution as a text that no cache has seen."""
    return f"{puzzle.solution}\n// {time.time_ns()} {number}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    puzzles, found = load(), []
    with tempfile.TemporaryDirectory() as folder:
        mine, data = Path(folder) / "mine.cpp", Path(folder) / "data"

        def warm(puzzle: Puzzle, number: int) -> None:
            assert check(puzzle, _new(puzzle, number)).passed

        def cold(puzzle: Puzzle, number: int) -> None:
            mine.write_text(_new(puzzle, number), encoding="utf-8")
            command = [sys.executable, "-m", "gn_tutorial", "puzzle", puzzle.id, str(mine)]
            environment = os.environ | {"GNT_DATA_DIR": str(data)}
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

        for name in CHOSEN:
            for how, run, target in (("warm", warm, WARM), ("cold", cold, COLD)):
                wall, processor = _median(lambda number, run=run, name=name: run(puzzles[name], number), options.runs)
                found.append({"puzzle": name, "how": how, "seconds": wall, "processor": processor, "target": target})
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("puzzle", "", "wall [s]", "processor [s]", "target, wall [s]")
    for one in found:
        table.add_row(one["puzzle"], one["how"], *(f"{one[key]:.2f}" for key in ("seconds", "processor", "target")))
    Console().print(table)


if __name__ == "__main__":
    main()
