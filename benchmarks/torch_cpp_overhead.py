"""What a call of the operator costs from C++ (torch.ops.gn_tutorial_cpp) and from Python (torch.ops.gn_tutorial).

    python benchmarks/torch_cpp_overhead.py [--rounds 400] [--json]

Both run the same kernel on the same host API, on a tensor of 48 numbers. The column "built-in" is
torch.nn.functional.group_norm. All of it takes turns in one process; each figure is a median of wall-clock times, and
noisy where the machine does other work. Targets, for a forward pass: at most 40 us from Python and 15 us from C++.
The first run compiles the extension. Nothing here says what a kernel costs on an NPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from gn_tutorial import torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.torch_ops import cpp_extension

GROUPS, SHAPE = 2, (2, 4, 6)
#: The most microseconds for a forward pass that autograd does not record.
TARGETS = {"C++": 15.0, "Python": 40.0}


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def calls() -> dict[str, dict[str, Callable[[], object]]]:
    """Return kind of call -> way -> the call."""
    made = torch.Generator().manual_seed(1)
    x, grad = (torch.randn(*SHAPE, generator=made) for _ in range(2))
    weight, bias = (torch.rand(SHAPE[1], generator=made) for _ in range(2))
    leaves = [one.clone().requires_grad_() for one in (x, weight, bias)]
    ways = {
        "C++": lambda x, w, b: cpp_extension.load().group_norm(x, w, b, GROUPS)[0],
        "Python": lambda x, w, b: torch.ops.gn_tutorial.group_norm(x, w, b, GROUPS)[0],
        "built-in": lambda x, w, b: torch.nn.functional.group_norm(x, GROUPS, w, b),
    }
    return {
        "forward": {name: (lambda op=op: op(x, weight, bias)) for name, op in ways.items()},
        "forward, recorded": {name: (lambda op=op: op(*leaves)) for name, op in ways.items()},
        "forward and backward": {
            name: (lambda op=op: torch.autograd.grad(op(*leaves), leaves, grad)) for name, op in ways.items()
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name, functions in calls().items():
        for function in list(functions.values()) * 20:  # warm
            function()
        rounds = [{way: seconds(function) for way, function in functions.items()} for _ in range(given.rounds)]
        figures = {way: statistics.median(one[way] * 1e6 for one in rounds) for way in functions}
        saved = statistics.median((one["Python"] - one["C++"]) * 1e6 for one in rounds)
        rows.append({"call": name, **figures, "saved": saved})
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    table = Table("call", "C++ us", "Python us", "built-in us", "C++ saves us")
    for row in rows:
        table.add_row(row["call"], *(f"{row[key]:.1f}" for key in ("C++", "Python", "built-in", "saved")))
    Console(width=100).print(table)
    for way, most in TARGETS.items():
        print(f"forward from {way}, at most {most:g} us: {'met' if rows[0][way] <= most else 'MISSED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
