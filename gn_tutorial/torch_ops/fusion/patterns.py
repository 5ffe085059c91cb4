"""The patterns that the pass finds in a graph, and their replacements.

Each pattern is a small graph of ``canonical`` functions, which PyTorch's own matcher (``torch.fx.subgraph_rewriter``)
finds. A fused function checks its tensors when it runs. If the kernel does not accept them, say, because they differ in
shape or dtype, the function calls the operators one by one. So a fused model accepts the same inputs as the original.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, Node

import gn_tutorial.torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.torch_ops.arguments import DTYPES, LEAST_AXES, MOST_AXES
from gn_tutorial.torch_ops.devices import NPU
from gn_tutorial.torch_ops.fusion import canonical

_OPS = torch.ops.gn_tutorial
_DEVICES = ("cpu", NPU)


def add_relu(x: Tensor, y: Tensor) -> Tensor:
    """Return relu(x + y), in one launch if x and y are ``alike``."""
    return _OPS.add_relu(x, y) if alike(x, y) else canonical.relu(canonical.add(x, y))


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """Return silu(gate) * up, in one launch if gate and up are ``alike``."""
    return _OPS.swiglu(gate, up) if alike(gate, up) else canonical.multiply(canonical.silu(gate), up)


def group_norm_silu(x: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    """Return silu(group_norm(x)), in one launch if the kernel accepts x, weight and bias."""
    given = [one for one in (weight, bias) if one is not None]
    if (
        taken(x)
        and LEAST_AXES <= x.ndim <= MOST_AXES
        and all(one.dtype == x.dtype and one.device == x.device for one in given)
    ):
        return _OPS.group_norm_silu(x, weight, bias, num_groups, eps)[0]
    return canonical.silu(canonical.group_norm(x, num_groups, weight, bias, eps))


def add_rms_norm(
    x: Tensor, y: Tensor, shape: list[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """Return x + y and its rms_norm, in one launch if x and y are ``alike`` and the weight fits.

    The weight fits if its shape is ``shape``, without 0, and its type and device are those of x. Under autocast it is
    never one launch, because PyTorch then computes the norm of float16 and bfloat16 in float32.
    """
    fits = weight is not None and alike(x, weight, shape=False) and tuple(weight.shape) == tuple(shape)
    if fits and alike(x, y) and 0 not in shape and not torch.is_autocast_enabled(x.device.type):
        normed, total, _ = _OPS.add_rms_norm(x, y, weight, eps)
        return total, normed
    total = canonical.add(x, y)
    return total, canonical.rms_norm(total, shape, weight, eps)


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor | None, approximate: str) -> Tensor:
    """Return gelu(linear(x)), in one launch if all tensors have one type and device that the kernel accepts.

    It is one launch only if x has an axis and the weight has two. The launch also stores linear(x), for the gradients,
    if gradients are enabled.
    """
    given = [weight, *([] if bias is None else [bias])]
    if x.ndim and weight.ndim == 2 and all(alike(x, one, shape=False) for one in given):
        return _OPS.linear_gelu(x, weight, bias, approximate, torch.is_grad_enabled())[0]
    return canonical.gelu(canonical.linear(x, weight, bias), approximate)


def taken(x: Tensor) -> bool:
    """Whether the kernels accept tensors of x's type and device."""
    return x.dtype in DTYPES and x.device.type in _DEVICES


def alike(x: Tensor, y: Tensor, *, shape: bool = True) -> bool:
    """Whether x and y fit a kernel without broadcasting or conversion. shape: whether their shapes must be equal."""
    return taken(x) and x.dtype == y.dtype and x.device == y.device and (x.shape == y.shape or not shape)


@dataclass(frozen=True)
class Pattern:
    """A graph to find, and the function that replaces it.

    name: the fusion's name. graph: the calls to find. fused: the replacement; it takes the graph's arguments, in order.
    tensors: the arguments that must be tensors of one dtype and shape. inner: the values that disappear. results: how
    many values ``fused`` returns, in the order of the graph's results; the last one is that of the graph's last call.
    unasked: why a match is left unless the caller requests the fusion; "" if a match is always replaced.
    """

    name: str
    graph: Graph
    fused: Callable[..., Any]
    tensors: tuple[str, ...]
    inner: tuple[str, ...]
    results: int = 1
    unasked: str = ""

    def leaking(self) -> Graph:
        """Return the graph with its inner values as further results, so that it matches where other calls use these."""
        graph = Graph()
        made: dict[Node, Node] = {}
        result = graph.graph_copy(self.graph, made)
        graph.output((*[copy for node, copy in made.items() if node.name in self.inner], result))
        return graph


def _pattern(
    name: str,
    fused: Callable[..., Any],
    arguments: str,
    build: Callable[..., Node | tuple[Node, ...]],
    alike: str,
    unasked: str = "",
) -> Pattern:
    """Return a pattern. arguments: names of the graph's arguments, separated by spaces. alike: ``Pattern.tensors``.

    build: takes ``call(function, *given)``, which adds a call, and the arguments' nodes; returns the result's nodes.
    """
    graph = Graph()
    nodes = [graph.placeholder(one) for one in arguments.split()]
    result = build(lambda function, *given: graph.call_function(function, given), *nodes)
    graph.output(result)
    results = result if isinstance(result, tuple) else (result,)
    inner = [node.name for node in graph.nodes if node.op == "call_function" and node not in results]
    return Pattern(name, graph, fused, tuple(alike.split()), tuple(inner), len(results), unasked)


def _sum_and_norm(call: Callable[..., Node], x: Node, y: Node, *rest: Node) -> tuple[Node, Node]:
    """Build x + y and its norm. Both are results, because later layers of a transformer use the sum."""
    total = call(canonical.add, x, y)
    return total, call(canonical.rms_norm, total, *rest)


_PRODUCT = "its product is for the cube unit, and the fused kernel is on the vector unit; linear=True takes it there"


def _patterns() -> tuple[Pattern, ...]:
    c = canonical
    return (
        _pattern(
            "group_norm_silu", group_norm_silu, "x num_groups weight bias eps",
            lambda call, *all: call(c.silu, call(c.group_norm, *all)), "",
        ),
        _pattern(
            "swiglu", swiglu, "gate up", lambda call, gate, up: call(c.multiply, call(c.silu, gate), up), "gate up"
        ),
        _pattern(
            "swiglu", lambda up, gate: swiglu(gate, up), "up gate",
            lambda call, up, gate: call(c.multiply, up, call(c.silu, gate)), "gate up",
        ),
        _pattern("add_rms_norm", add_rms_norm, "x y shape weight eps", _sum_and_norm, "x y"),
        _pattern(
            "linear_gelu", linear_gelu, "x weight bias approximate",
            lambda call, *all: call(c.gelu, call(c.linear, *all[:3]), all[3]), "x", _PRODUCT,
        ),
        _pattern("add_relu", add_relu, "x y", lambda call, x, y: call(c.relu, call(c.add, x, y)), "x y"),
    )  # fmt: skip


#: The patterns in order of preference. If two match at one place, the first is used.
PATTERNS = _patterns()
