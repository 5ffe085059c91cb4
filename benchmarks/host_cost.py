"""What a kernel costs on the host in bare mode: beside torch, on one thread and on all, and against the elements.

    python benchmarks/host_cost.py [group_norm/vectorised] [--json] [--most 100000000]

Torch (the optional extra: ./gnt torch) and the twin take turns in one process. Each figure on one thread is the
processor time of a call from Python, the least of its runs: other work on the machine lengthens that least. On all
processors it is the wall time, which needs an idle machine. A call of the twin is a prepared one, which poisons the
outputs first. Targets: at most 3 times torch on one thread, 2 times on all, and a cost per element that stays within a
factor of two from 1e5 elements on; below, the launch itself shows. Without torch only the last table is made.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import GntError
from gn_tutorial.operators import call_plan, random_inputs
from gn_tutorial.operators.arguments import launch_arg
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.runtime.in_process import Prepared
from gn_tutorial.runtime.job_file import usable_cpus
from gn_tutorial.runtime.launch_types import LaunchRequest

# Shapes and groups of the comparison, float32.
BESIDE_TORCH = (((8, 32, 64, 64), 8), ((4, 64, 128, 128), 16))
TARGET, TARGET_OF_ALL, LINEAR = 3.0, 2.0, 2.0
RUNS = 25
CHANNELS, GROUPS, SPATIAL = 32, 8, 1024  # of the series, in which N grows, so that the work per element stays the same


def prepare(name: str, shape: tuple[int, ...], groups: int, threads: int = 1) -> tuple[Prepared, dict[str, np.ndarray]]:
    """Return a prepared bare launch, and its inputs."""
    op, spec = find_kernel(name)
    arrays = random_inputs.inputs(op, shape, seed=1)
    plan = call_plan.plan(op, spec, list(arrays.values()), {"num_groups": groups})
    found = gnt.kernel(name)
    entry = found.entry()
    args = [launch_arg(param, plan.values[param.name]) for param in entry.params]
    request = LaunchRequest(entry=entry.name, args=args, blocks=plan.blocks, options=TwinOptions(threads=threads))
    return Prepared(found.build(observed=False).library, request), arrays


def timed(function, clock=time.process_time) -> float:
    begin = clock()
    function()
    return clock() - begin


def beside_torch(name: str, threads: int) -> list[dict[str, object]]:
    """Return seconds of torch and the twin, in turns, on so many threads. Raises ImportError without torch."""
    import torch

    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    rows = []
    for shape, groups in BESIDE_TORCH:
        call, arrays = prepare(name, shape, groups, threads)
        x, gamma, beta = (torch.from_numpy(arrays[key]) for key in ("x", "gamma", "beta"))

        def reference(x=x, gamma=gamma, beta=beta, groups=groups):
            with torch.inference_mode():
                return torch.nn.functional.group_norm(x, groups, gamma, beta)

        np.testing.assert_allclose(call().arrays["y"], reference().numpy(), rtol=1e-4, atol=1e-4)
        rounds = [(timed(call, clock), timed(reference, clock)) for _ in range(RUNS)]
        ours, theirs = (min(column) for column in zip(*rounds, strict=True))
        row = {"shape": shape, "num_groups": groups, "threads": threads, "seconds": ours, "torch": theirs}
        rows.append(row | {"ratio": ours / theirs, "target": TARGET if threads == 1 else TARGET_OF_ALL})
    return rows


def series(name: str, most: int) -> list[dict[str, float]]:
    """Return nanoseconds per element, from 1e4 elements to ``most``."""
    rows = []
    for exponent in range(4, 9):
        elements = 10**exponent
        if elements > most:
            break
        batch = max(elements // (CHANNELS * SPATIAL), 1)
        spatial = SPATIAL if elements >= CHANNELS * SPATIAL else elements // CHANNELS
        call, arrays = prepare(name, (batch, CHANNELS, spatial), GROUPS)
        size = arrays["x"].size
        call()
        seconds = min(timed(call) for _ in range(3 if size > 10**7 else RUNS))
        rows.append({"elements": size, "seconds": seconds, "ns_per_element": seconds / size * 1e9})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="?", default="group_norm/vectorised", help="a registered kernel of group_norm")
    parser.add_argument("--most", type=int, default=10**8, help="elements of the longest run (1e8 take 1.6 GB)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    try:
        if find_kernel(given.kernel)[0].name != "group_norm":
            parser.error(f"{given.kernel} is no kernel of group_norm")
        compared = [row for threads in sorted({1, usable_cpus()}) for row in beside_torch(given.kernel, threads)]
    except GntError as error:
        parser.error(str(error))
    except ImportError:
        print("torch is missing, so nothing is compared with it: ./gnt torch installs it", file=sys.stderr)
        compared = []
    cost = series(given.kernel, given.most)
    if given.json:
        print(json.dumps({"kernel": given.kernel, "beside_torch": compared, "series": cost}, indent=2))
        return 0
    console = Console(width=100)
    table = Table("shape, float32", "threads", "twin ms", "torch ms", "ratio", "at most", "")
    for row in compared:
        cells = f"{row['shape']} G{row['num_groups']}", f"{row['threads']}", f"{row['seconds'] * 1e3:.2f}"
        met = "met" if row["ratio"] <= row["target"] else "MISSED"
        table.add_row(*cells, f"{row['torch'] * 1e3:.2f}", f"{row['ratio']:.2f}", f"{row['target']:g}", met)
    if compared:
        console.print(f"{given.kernel}, bare, beside torch.nn.functional.group_norm")
        console.print(table)
    table = Table("elements", "ms", "ns per element", "of the least", f"within {LINEAR:g}")
    least = min(row["ns_per_element"] for row in cost)
    for row in cost:
        share = row["ns_per_element"] / least
        verdict = "" if row["elements"] < 90_000 else "yes" if share <= LINEAR else "NO"
        cells = f"{row['elements']:,}", f"{row['seconds'] * 1e3:.3f}", f"{row['ns_per_element']:.3f}", f"{share:.2f}"
        table.add_row(*cells, verdict)
    console.print(f"{given.kernel}, bare: cost against the number of elements")
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
