"""13.2 A pattern, its replacement, and when it must not be applied.

`swiglu` computes silu(gate) * up in one launch. It takes two tensors of the same shape
and the same dtype, float32, float16 or bfloat16, and nothing else. `fuse` below looks
for the patterns in a graph and replaces them, by PyTorch's own matcher. Write the
patterns, the replacement and the filter.
"""

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.subgraph_rewriter import replace_pattern_with_filters
from torch.nn import functional

DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@torch.fx.wrap
def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """The fused operator: one node of a graph. It stands for the kernel."""
    if gate.shape != up.shape or gate.dtype != up.dtype or gate.dtype not in DTYPES:
        raise ValueError("swiglu takes tensors of one shape and one dtype")
    return (functional.silu(gate.float()) * up.float()).to(gate.dtype)


def pattern(gate: Tensor, up: Tensor) -> Tensor:
    """The pattern to find: silu(gate) times up, with functional.silu and `*`."""
    raise NotImplementedError  # YOUR TURN


def turned(gate: Tensor, up: Tensor) -> Tensor:
    """The same with the factors exchanged: the matcher knows no algebra."""
    raise NotImplementedError  # YOUR TURN


def replacement(gate: Tensor, up: Tensor) -> Tensor:
    """What replaces the pattern. It has the pattern's arguments, in the same order."""
    raise NotImplementedError  # YOUR TURN


def may_fuse(gate: Node, up: Node) -> bool:
    """Whether swiglu takes these two values. Of each, `meta["tensor_meta"]` has `shape`
    and `dtype`; a value of which tracing knows nothing has no such entry.
    """
    raise NotImplementedError  # YOUR TURN


def fuse(graph: GraphModule) -> int:
    """Replace both patterns where may_fuse agrees; return how many were replaced."""

    def agrees(match: object, *_: object) -> bool:
        # The matched values, in the order of the pattern's arguments.
        return may_fuse(*match.placeholder_nodes)

    done = [
        replace_pattern_with_filters(graph, one, replacement, match_filters=[agrees])
        for one in (pattern, turned)
    ]
    return sum(map(len, done))
