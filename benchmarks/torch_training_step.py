"""What a step of the training on digits takes: with our GroupNorm on the twin, and with torch.nn.GroupNorm.

    python benchmarks/torch_training_step.py [--rounds 60] [--json]

A step is the forward pass, the backward pass and the optimizer of ``gn_tutorial.torch_ops.training``, on 64 images.
"norms" is the part of the two GroupNorm layers alone, forward and backward, on tensors of the same shapes. All ways
take turns in one process with one thread of PyTorch; each figure is a median of wall-clock times of this machine,
each ratio a median of the rounds' ratios. Ours run on the CPU twin: nothing here says what a kernel costs on an NPU.
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

from gn_tutorial import nn
from gn_tutorial.torch_ops import training

#: Groups, and the shape of x, of the two norms of the net.
NORMS = ((4, (training.BATCH, 16, 8, 8)), (8, (training.BATCH, 32, 4, 4)))
KINDS = {"ours": nn.GroupNorm, "built-in": torch.nn.GroupNorm}


def step_of(kind: type[torch.nn.Module]) -> Callable[[], object]:
    """One step of a training that goes on."""
    net = training.make_net(kind, 0)
    optimizer = training.make_optimizer(net)
    batches = training.endless_batches(training.load_digits()[0], 0)
    return lambda: training.train_step(net, optimizer, next(batches))


def norms_of(kind: type[torch.nn.Module]) -> Callable[[], object]:
    """Both norms, forward and backward, without the rest of the net."""
    made = torch.Generator().manual_seed(1)
    parts = []
    for groups, shape in NORMS:
        x = torch.randn(*shape, generator=made).requires_grad_()
        parts.append((kind(groups, shape[1]), x, torch.randn(*shape, generator=made)))

    def both() -> None:
        for layer, x, grad in parts:
            torch.autograd.grad(layer(x), (x, *layer.parameters()), grad)

    return both


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def measure(rounds: int) -> list[dict[str, object]]:
    """A row for a step and one for its norms; times in milliseconds."""
    rows = []
    for name, make in (("step", step_of), ("norms", norms_of)):
        functions = {kind: make(layer) for kind, layer in KINDS.items()}
        for function in list(functions.values()) * 5:  # warm: the first call compiles
            function()
        taken = [{kind: seconds(function) * 1e3 for kind, function in functions.items()} for _ in range(rounds)]
        medians = {kind: statistics.median(one[kind] for one in taken) for kind in functions}
        ratio = statistics.median(one["ours"] / one["built-in"] for one in taken)
        rows.append({"part": name, **medians, "ratio": ratio})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = measure(given.rounds)
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    table = Table("wall clock, this machine's CPU", "ours, on the twin, ms", "built-in, ms", "ratio")
    for row in rows:
        table.add_row(row["part"], *(f"{row[key]:.2f}" for key in ("ours", "built-in", "ratio")))
    Console(width=100).print(table)
    print("Ours ran on the CPU twin: this is no measure of an NPU.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
