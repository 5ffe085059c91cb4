"""How long a call of an operator takes, ours and the built-in: forward and backward, p50, p90 and p99.

    python benchmarks/torch_latency.py [--device cpu|npu] [--rounds 100] [--warm-up 10] [--threads 1] [--json]

Every call is warmed up, then timed between two synchronisations; ours and the built-in take turns, and a ratio is the
median of the rounds' ratios. On the CPU ours is the twin: those times say nothing of an NPU. Target there: a backward
pass takes at most 4 times as long as the built-in one, from (4, 128, 32, 32) on, where both have one processor
(``taskset -c 0``: the twin divides large launches among all that it may use).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from gn_tutorial import torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.errors import GntError
from gn_tutorial.torch_ops import latency

#: Shape of x and groups: a call that is all cost of calling; then layers of convolutional nets.
SHAPES = (
    ((2, 4, 6), 2),
    ((64, 32, 4, 4), 8),
    ((8, 256, 16, 16), 32),
    ((4, 128, 32, 32), 32),
    ((2, 320, 64, 64), 32),
)
MOST, FROM = 4.0, (4, 128, 32, 32)
OPS, ATEN = torch.ops.gn_tutorial, torch.ops.aten
Calls = dict[str, Callable[[], object]]


def calls(shape: tuple[int, ...], groups: int, device: torch.device, dtype: torch.dtype) -> dict[str, Calls]:
    """Return direction -> whose operator -> the call. Backward passes are called directly, without autograd."""
    made = torch.Generator().manual_seed(1)
    x, grad = (torch.randn(*shape, generator=made).to(device, dtype) for _ in range(2))
    weight, bias = (torch.rand(shape[1], generator=made).to(device, dtype) for _ in range(2))
    _, mean, rstd = OPS.group_norm(x, weight, bias, groups)
    n, channels, rest = shape[0], shape[1], x[0, 0].numel()
    mask = [True] * 3
    saved = [one.to(dtype) for one in (mean, rstd)]  # ATen takes half statistics for half data
    return {
        "forward": {
            "ours": lambda: OPS.group_norm(x, weight, bias, groups),
            "built-in": lambda: torch.nn.functional.group_norm(x, groups, weight, bias),
        },
        "backward": {
            "ours": lambda: OPS.group_norm_backward(grad, x, mean, rstd, weight, groups, mask),
            "built-in": lambda: ATEN.native_group_norm_backward(
                grad, x, *saved, weight, n, channels, rest, groups, mask
            ),
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, npu or npu:1")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16", "bfloat16"))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch on the CPU")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    try:
        where = latency.place(given.device)
    except GntError as error:
        print(error, file=sys.stderr)
        return 1
    rows = []
    for shape, groups in SHAPES:
        for direction, both in calls(shape, groups, where.device, getattr(torch, given.dtype)).items():
            found, times = latency.measure(both, where.synchronise, rounds=given.rounds, warm_up=given.warm_up)
            ratio = latency.median_ratio(times, "ours", "built-in")
            ms = {who: one._asdict() for who, one in found.items()}
            rows.append({"shape": shape, "groups": groups, "direction": direction, **ms, "ratio": ratio})
    if given.json:
        print(json.dumps({"measured on": where.label, "dtype": given.dtype, "rows": rows}, indent=2))
        return 0
    table = Table(
        "shape / groups", "call", "ours ms: p50, p90, p99", "built-in ms: p50, p90, p99", "ratio", title=where.label
    )
    for row in rows:
        cells = (", ".join(f"{row[who][key]:.3f}" for key in ("p50", "p90", "p99")) for who in ("ours", "built-in"))
        table.add_row(f"{row['shape']} / {row['groups']}", row["direction"], *cells, f"{row['ratio']:.2f}")
    Console(width=120).print(table)
    if where.device.type == "cpu":
        large = [one for one in rows if one["direction"] == "backward" and one["shape"] in (FROM, SHAPES[-1][0])]
        met = all(one["ratio"] <= MOST for one in large)
        print(f"backward from {FROM} on, at most {MOST:g} times the built-in: {'met' if met else 'MISSED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
