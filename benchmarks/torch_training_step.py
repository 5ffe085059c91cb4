"""What a step of the training on digits takes: with our GroupNorm, and with torch.nn.GroupNorm; p50, p90 and p99.

    python benchmarks/torch_training_step.py [--device cpu|npu] [--rounds 60] [--warm-up 5] [--json]

A step is the forward pass, the backward pass and the optimizer of ``gn_tutorial.torch_ops.training``, on 64 images.
"norms" is the part of the two GroupNorm layers alone, forward and backward, on tensors of the same shapes. All ways
take turns in one process with one thread of PyTorch, each call between two synchronisations; each ratio is a median of
the rounds' ratios. On the CPU ours run on the twin: that says nothing of what a kernel costs on an NPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from gn_tutorial import nn
from gn_tutorial.errors import GntError
from gn_tutorial.torch_ops import latency, training

#: The groups and the shape of x for each of the net's two norms.
NORMS = ((4, (training.BATCH, 16, 8, 8)), (8, (training.BATCH, 32, 4, 4)))
KINDS = {"ours": nn.GroupNorm, "built-in": torch.nn.GroupNorm}


def step_of(kind: type[torch.nn.Module], device: torch.device) -> Callable[[], object]:
    """Return a function that makes one step of a training, which it continues from call to call."""
    net = training.make_net(kind, 0).to(device)
    optimizer = training.make_optimizer(net)
    digits = training.Digits(*(one.to(device) for one in training.load_digits()[0]))
    batches = training.endless_batches(digits, 0)
    return lambda: training.train_step(net, optimizer, next(batches))


def norms_of(kind: type[torch.nn.Module], device: torch.device) -> Callable[[], object]:
    """Return a function that runs both norms, forward and backward, without the rest of the net."""
    made = torch.Generator().manual_seed(1)
    parts = []
    for groups, shape in NORMS:
        x, grad = (torch.randn(*shape, generator=made).to(device) for _ in range(2))
        parts.append((kind(groups, shape[1]).to(device), x.requires_grad_(), grad))

    def both() -> None:
        for layer, x, grad in parts:
            torch.autograd.grad(layer(x), (x, *layer.parameters()), grad)

    return both


def measure(where: latency.MeasuredOn, rounds: int, warm_up: int) -> list[dict[str, object]]:
    """Return a row for a step and one for its norms; times are in milliseconds."""
    rows = []
    for name, make in (("step", step_of), ("norms", norms_of)):
        functions = {kind: make(layer, where.device) for kind, layer in KINDS.items()}
        found, times = latency.measure(functions, where.synchronise, rounds=rounds, warm_up=warm_up)
        ms = {kind: one._asdict() for kind, one in found.items()}
        rows.append({"part": name, **ms, "ratio": latency.median_ratio(times, "ours", "built-in")})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, npu or npu:1")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--warm-up", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    try:
        where = latency.place(given.device)
        rows = measure(where, given.rounds, given.warm_up)
    except GntError as error:
        print(error, file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps({"measured on": where.label, "rows": rows}, indent=2))
        return 0
    table = Table("part", "ours ms: p50, p90, p99", "built-in ms: p50, p90, p99", "ratio", title=where.label)
    for row in rows:
        cells = (", ".join(f"{row[who][key]:.2f}" for key in ("p50", "p90", "p99")) for who in KINDS)
        table.add_row(row["part"], *cells, f"{row['ratio']:.2f}")
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
