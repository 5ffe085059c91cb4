"""What isolation costs: a launch in a process of its own against one in this process, over the number of elements.

    python benchmarks/isolated_cost.py [--elements 1e6 1e7] [--kernel group_norm/resident ...] [--rounds 9] [--json]

Both are calls from Python, bare and observed, in turns. Compared is processor time, that of the launched process
included, the median of all rounds: it hardly depends on what else runs. The target is 1.3 from 10^6 elements on. A
process alone takes as long to start and end as a bare kernel for 10^6 elements: the last line says how long here, for
a launcher that is given nothing to do. docs/benchmark.md says where the rest goes.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Column, Table

import gn_tutorial as gnt
from gn_tutorial.compiler.build import build_launcher

KERNELS = ("group_norm/vectorised", "group_norm/resident")
CHANNELS, GROUPS = 64, 8


def inputs(elements: int) -> dict[str, np.ndarray]:
    """Return x with about so many elements, for 16 images, and the other inputs."""
    rng = np.random.default_rng(1)
    return {
        "x": rng.normal(size=(16, CHANNELS, elements // (16 * CHANNELS))).astype(np.float32),
        "gamma": rng.normal(size=CHANNELS).astype(np.float32),
        "beta": rng.normal(size=CHANNELS).astype(np.float32),
    }


def processor_time(function: Callable[[], object]) -> float:
    """Return processor seconds of one call, in this process and in those that it waited for."""

    def now() -> float:
        used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in used)

    calls, begin = 0, now()
    while now() - begin < 0.1:  # a call alone is as long as the clock's ticks on some systems
        function()
        calls += 1
    return (now() - begin) / calls


def isolation(name: str, arrays: dict[str, np.ndarray], rounds: int) -> list[dict[str, Any]]:
    """Return milliseconds of processor time of one launch, in process and isolated."""
    kernel, rows = gnt.kernel(name), []
    for observed in (False, True):

        def call(isolated: bool, observed: bool = observed) -> object:
            return kernel(**arrays, num_groups=GROUPS, isolated=isolated, observed=observed)

        call(False), call(True)
        found = [[processor_time(lambda way=way: call(way)) for way in (False, True)] for _ in range(rounds)]
        inside, isolated = (statistics.median(column) * 1e3 for column in zip(*found, strict=True))
        mode = "observed" if observed else "bare"
        rows.append({"kernel": name, "mode": mode, "in_process": inside, "isolated": isolated})
    return rows


def process_alone(rounds: int) -> float:
    """Return milliseconds of processor time of a launcher without a job: it starts, finds no job file, and ends."""
    launcher = build_launcher().library

    def start() -> None:
        ended = subprocess.run([launcher], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
        assert ended.returncode != 0

    start()
    return statistics.median(processor_time(start) for _ in range(rounds)) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--kernel", nargs="+", default=list(KERNELS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    rows = []
    for elements in options.elements:
        arrays = inputs(int(elements))
        for name in options.kernel:
            rows += [{"elements": arrays["x"].size} | row for row in isolation(name, arrays, options.rounds)]
    alone = process_alone(options.rounds)
    if options.json:
        print(json.dumps({"rows": rows, "process_alone_ms": alone}, indent=2))
    else:
        show(rows)
        print(f"a process that does nothing: {alone:.2f} ms")


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table, with the ratio."""
    names = ("kernel", "elements", "mode", "in process", "isolated", "ratio")
    table = Table(*(Column(name, no_wrap=True) for name in names), title="processor time of a launch, ms")
    for row in rows:
        times = (f"{row[key]:.2f}" for key in ("in_process", "isolated"))
        ratio = f"{row['isolated'] / row['in_process']:.2f}"
        table.add_row(row["kernel"], f"{row['elements']:,}", row["mode"], *times, ratio)
    Console().print(table)


if __name__ == "__main__":
    main()
