"""Large launches: isolated against in process, and bare against PyTorch's GroupNorm on the CPU.

    python benchmarks/large_launches.py [--elements 1e6 1e7] [--kernel group_norm/resident ...] [--rounds 9] [--json]

One process, all of one size in turns. Isolated launches are compared by processor time, that of the launched process
included: it hardly depends on what else runs. With PyTorch wall time is compared, the least of all rounds, so that the
machine has to be idle; with as many threads, and once as calls from Python (arrays made, arguments checked) and once
as the time that the launch itself takes (its result's ``seconds``: outputs are there and poisoned), which is what a
kernel of PyTorch's takes with its output's memory at hand. Its output is new memory here, and beyond 32 MiB fresh from
the system, which takes longer than the rest.

The targets, from 10^6 elements on: isolated at most 1.3 times in process, bare at most 2 times PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Column, Table

import gn_tutorial as gnt

KERNELS = ("group_norm/vectorised", "group_norm/resident")
CHANNELS, GROUPS = 64, 8


def inputs(elements: int) -> dict[str, np.ndarray]:
    """x of about so many elements, of 16 images, and what goes with it."""
    rng = np.random.default_rng(1)
    return {
        "x": rng.normal(size=(16, CHANNELS, elements // (16 * CHANNELS))).astype(np.float32),
        "gamma": rng.normal(size=CHANNELS).astype(np.float32),
        "beta": rng.normal(size=CHANNELS).astype(np.float32),
    }


def processor_time(function: Callable[[], object]) -> float:
    """Seconds of this process and of those that it waited for."""

    def now() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    # Counted in ticks of 10 ms: many calls together.
    calls, begin = 0, now()
    while now() - begin < 0.2:
        function()
        calls += 1
    return (now() - begin) / calls


def isolation(name: str, arrays: dict[str, np.ndarray], rounds: int) -> list[dict[str, Any]]:
    """Milliseconds of processor time of one launch, in process and isolated."""
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


def against_torch(names: list[str], arrays: dict[str, np.ndarray], threads: int, rounds: int) -> list[dict[str, Any]]:
    """Milliseconds of wall time: PyTorch, a call from Python, and the launch in it."""
    import torch

    torch.set_num_threads(threads)
    x, gamma, beta = (torch.from_numpy(arrays[name]) for name in ("x", "gamma", "beta"))
    kernels = [gnt.kernel(name) for name in names]
    how = {"isolated": False, "observed": False, "options": gnt.TwinOptions(threads=threads)}
    times: dict[str, list[float]] = {name: [] for name in ("torch", *names, *(f"{name} launch" for name in names))}

    def round_of_all() -> None:
        begin = time.perf_counter()
        torch.nn.functional.group_norm(x, GROUPS, gamma, beta)
        times["torch"].append(time.perf_counter() - begin)
        for name, kernel in zip(names, kernels, strict=True):
            begin = time.perf_counter()
            result = kernel(**arrays, num_groups=GROUPS, **how)
            times[name].append(time.perf_counter() - begin)
            times[f"{name} launch"].append(result.seconds)

    for _ in range(5 * rounds):
        round_of_all()
    least = {name: min(found[1:]) * 1e3 for name, found in times.items()}
    return [
        {
            "kernel": name,
            "threads": threads,
            "torch": least["torch"],
            "call": least[name],
            "launch": least[f"{name} launch"],
        }
        for name in names
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--kernel", nargs="+", default=list(KERNELS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    apart, torch = [], []
    for elements in options.elements:
        arrays = inputs(int(elements))
        size = {"elements": arrays["x"].size}
        for name in options.kernel:
            apart += [size | row for row in isolation(name, arrays, options.rounds)]
        for threads in sorted({1, cores}):
            torch += [size | row for row in against_torch(options.kernel, arrays, threads, options.rounds)]
    if options.json:
        print(json.dumps({"isolation": apart, "torch": torch}, indent=2))
        return
    show("processor time of a launch [ms]", ("kernel", "elements", "mode"), "in_process", "isolated", apart)
    show("wall time [ms]", ("kernel", "elements", "threads", "call"), "torch", "launch", torch)


def show(title: str, first: tuple[str, ...], base: str, other: str, rows: list[dict[str, Any]]) -> None:
    """A table: columns as they are, two times, and what the second is of the first."""
    table = Table(*(Column(name, no_wrap=True) for name in (*first, base, other, "ratio")), title=title)
    for row in rows:
        ratio = f"{row[other] / row[base]:.2f}"
        table.add_row(*(_cell(row[name]) for name in (*first, base, other)), ratio)
    Console().print(table)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
