"""What registration in PyTorch costs a call: ``torch.ops.gn_tutorial.group_norm`` above the direct binding.

    python benchmarks/torch_overhead.py [--rounds 400] [--json]

The direct binding is the same work without PyTorch's dispatcher: check, allocate, both calls of the host API, wait. A
bare ``custom_op`` has the same arguments and a body that returns three empty tensors; what it costs above a plain call
of that body is the price of ``torch.library`` itself. Target: the operator pays at most 1.5 times that price. All of it
takes turns in one process on a tensor of 48 numbers; each figure is a median of wall-clock times, and noisy where the
machine does other work. Nothing here says what a kernel costs on an NPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from gn_tutorial import torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.torch_ops.arguments import check_backward, check_forward
from gn_tutorial.torch_ops.launch import launch
from gn_tutorial.torch_ops.outputs import backward_outputs, forward_outputs

GROUPS, SHAPE = 2, (2, 4, 6)
TARGET = 1.5
OPS = torch.ops.gn_tutorial


def direct(x, weight, bias, groups, eps=1e-5):
    check_forward("group_norm", x, weight, bias, groups, eps)
    made = forward_outputs(x, groups)
    launch("GroupNorm", (x, weight, bias), (*x.shape[:2], x[0, 0].numel(), groups, eps), made)
    return made


def direct_backward(grad, x, mean, rstd, weight, groups):
    mask = [True] * 3
    check_backward("group_norm_backward", grad, x, mean, rstd, weight, groups, mask)
    made = backward_outputs(x, mask)
    numbers = (*x.shape[:2], x[0, 0].numel(), groups, tuple(mask))
    launch("GroupNormBackward", (grad, x, mean, rstd, weight), numbers, made)
    return made


def body(x, weight, bias, groups, eps=1e-5):
    return x.new_empty(0), x.new_empty(0), x.new_empty(0)


@torch.library.custom_op("gn_tutorial_bench::bare", mutates_args=(), device_types="cpu")
def bare(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    return body(x, weight, bias, groups, eps)


def bare_backward_body(grad, x, mean, rstd, weight, groups, mask):
    return x.new_empty(SHAPE), x.new_empty(SHAPE[1]), x.new_empty(SHAPE[1])


@torch.library.custom_op("gn_tutorial_bench::bare_backward", mutates_args=(), device_types="cpu")
def bare_backward(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, groups: int, mask: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    return bare_backward_body(grad, x, mean, rstd, weight, groups, mask)


def save(ctx, inputs, output):
    x, weight, _, ctx.groups, _ = inputs
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(x, weight, *output[1:])


def gradients(ctx, grad, *_):
    x, weight, mean, rstd = ctx.saved_tensors
    return *OPS_BENCH.bare_backward(grad, x, mean, rstd, weight, ctx.groups, list(ctx.needs_input_grad[:3])), None, None


bare.register_autograd(gradients, setup_context=save)
OPS_BENCH = torch.ops.gn_tutorial_bench


def seconds(function) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def calls() -> dict[str, tuple]:
    """Return kind of call -> its ways: the operator, the direct binding, the bare operator, its body."""
    made = torch.Generator().manual_seed(1)
    x, grad = (torch.randn(*SHAPE, generator=made) for _ in range(2))
    weight, bias = (torch.rand(SHAPE[1], generator=made) for _ in range(2))
    leaves = [one.clone().requires_grad_() for one in (x, weight, bias)]
    mean, rstd = OPS.group_norm(x, weight, bias, GROUPS)[1:]
    none = x.new_empty(0)

    def both_direct():
        direct(x, weight, bias, GROUPS)
        direct_backward(grad, x, mean, rstd, weight, GROUPS)

    def both_body():
        body(x, weight, bias, GROUPS)
        bare_backward_body(grad, x, mean, rstd, weight, GROUPS, [True] * 3)

    return {
        "forward": (
            lambda: OPS.group_norm(x, weight, bias, GROUPS),
            lambda: direct(x, weight, bias, GROUPS),
            lambda: OPS_BENCH.bare(x, weight, bias, GROUPS),
            lambda: body(x, weight, bias, GROUPS),
        ),
        "forward, recorded": (
            lambda: OPS.group_norm(*leaves, GROUPS),
            lambda: direct(x, weight, bias, GROUPS),
            lambda: OPS_BENCH.bare(*leaves, GROUPS),
            lambda: body(x, weight, bias, GROUPS),
        ),
        "forward and backward": (
            lambda: torch.autograd.grad(OPS.group_norm(*leaves, GROUPS)[0], leaves, grad),
            both_direct,
            lambda: torch.autograd.grad(OPS_BENCH.bare(*leaves, GROUPS)[0], leaves, none),
            both_body,
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name, functions in calls().items():
        for function in functions * 20:  # warm
            function()
        rounds = [[seconds(function) for function in functions] for _ in range(given.rounds)]
        # The median of differences within a round: other work of the machine slows both calls of a round.
        ours = statistics.median((one[0] - one[1]) * 1e6 for one in rounds)
        theirs = statistics.median((one[2] - one[3]) * 1e6 for one in rounds)
        op, binding = (statistics.median(one[at] * 1e6 for one in rounds) for at in (0, 1))
        rows.append({"way": name, "op": op, "direct": binding, "extra": ours, "bare": theirs, "ratio": ours / theirs})
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    table = Table(
        "call", "operator us", "direct us", "difference us", "bare custom_op us", "ratio", f"at most {TARGET:g}"
    )
    for row in rows:
        cells = (f"{row[key]:.1f}" for key in ("op", "direct", "extra", "bare"))
        table.add_row(row["way"], *cells, f"{row['ratio']:.2f}", "met" if row["ratio"] <= TARGET else "MISSED")
    Console(width=110).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
