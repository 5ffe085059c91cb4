"""What a call of the same kernel costs by each way into it: ctypes, pybind11, TORCH_LIBRARY, custom_op; GELU, forward.

    python benchmarks/torch_ways.py [--rounds 400] [--json]

All of them run the same kernel on the twin, on 48 numbers, without gradients, in turns in one process; figures are
medians of wall-clock times. EXEC_NPU_CMD needs CANN, so it has no figure here. The first run compiles two extensions.
Nothing here says what a kernel costs on an NPU.
"""

from __future__ import annotations

import argparse
import json
import sys

import torch
from rich.console import Console
from rich.table import Table

from gn_tutorial import torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.torch_ops import cpp_extension, latency, ways

SHAPE = (2, 3, 8)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    x = torch.randn(*SHAPE, generator=torch.Generator().manual_seed(1))
    module, registered, python = ways.pybind11_module(), cpp_extension.load(), torch.ops.gn_tutorial
    calls = {
        "ctypes": lambda: ways.gelu_by_ctypes(x),
        "pybind11": lambda: module.gelu(x),
        "TORCH_LIBRARY": lambda: registered.gelu(x, "tanh"),
        "custom_op, plans kept": lambda: python.gelu(x, "tanh"),
        "built-in": lambda: torch.nn.functional.gelu(x, approximate="tanh"),
    }
    found, _ = latency.measure(calls, lambda: None, rounds=given.rounds, warm_up=50)
    rows = {name: {part: getattr(one, part) * 1e3 for part in ("p50", "p90", "p99")} for name, one in found.items()}
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    table = Table("way", "us: p50, p90, p99", title=latency.place("cpu").label)
    for name, one in rows.items():
        table.add_row(name, ", ".join(f"{value:.1f}" for value in one.values()))
    Console(width=100).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
