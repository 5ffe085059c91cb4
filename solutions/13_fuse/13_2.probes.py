"""Probes of 13.2: what the attempt's pass does to graphs with a gated layer, or with something like it.

A probe takes the attempt's names, and returns a sentence about what is wrong, or None. Its text runs in the attempt's
process; no other module is imported there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Tracer
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.subgraph_rewriter import replace_pattern_with_filters
from torch.nn import functional


def both_orders(attempt: Any, seed: int) -> str | None:
    """Check that the pass finds the layer in either order, and that the graph computes the same afterwards."""
    for order, name, function in (("silu(gate) * up", "pattern", _plain), ("up * silu(gate)", "turned", _turned)):
        if wrong := _no_pattern(name, getattr(attempt, name)):
            return wrong
        for shape, dtype in (((3, 5), torch.float32), ((2, 3, 4), torch.float16)):
            graph, given = _graph(function, seed, (shape, dtype), (shape, dtype))
            before = graph(*given)
            count = attempt.fuse(graph)
            if count and not _fused(graph):
                if not _fused(_trace(attempt.replacement)):
                    return "replacement does not call swiglu: what stands in the graph afterwards is no fused operator"
                return f"fuse says that it called swiglu {count} times, and the graph has no node of it"
            if not count:
                what = f"{order}, two tensors of {dtype} with the shape {shape}, is not replaced: "
                return what + _why_left(name, order, getattr(attempt, name), function)
            if not torch.allclose(graph(*given).float(), before.float(), rtol=2e-3, atol=1e-4):
                return (
                    f"{order} computes something else once it is replaced: gate and up are exchanged. The "
                    "replacement's arguments are the pattern's, by their place, not by their names"
                )
    return None


def _no_pattern(name: str, pattern: Callable[..., Any]) -> str | None:
    """Return why this function cannot be a pattern; None if it can."""
    try:
        graph = _trace(pattern)
    except NameError as error:
        if "submodule" not in str(error):
            raise
        return f"{name} makes a module, which a pattern cannot hold: functional.silu is the function"
    if next(iter(reversed(graph.graph.nodes))).args[0] is None:
        return f"{name} returns nothing: what it returns is the expression that is looked for"
    return None


def _why_left(name: str, order: str, pattern: Callable[..., Any], function: Callable[..., Any]) -> str:
    """Return why the layer was left: the pattern does not find it, or may_fuse refuses it."""
    if replace_pattern_with_filters(_trace(function), pattern, _plain):
        return f"{name} finds it, but may_fuse says no to two tensors that swiglu takes"
    operators = [_named(node.target) for node in _trace(pattern).graph.nodes if node.op.startswith("call")]
    return (
        f"{name} does not find it. The matcher compares operators, not what they compute. Those of {name} are "
        f"{', '.join(operators)}; the layer has functional.silu and `*`, in this order of factors: {order}"
    )


def _named(target: Any) -> str:
    if isinstance(target, str):
        return f"the method {target}"
    module = getattr(target, "__module__", None) or "torch"
    return "`*`" if (module, target.__name__) == ("_operator", "mul") else f"{module}.{target.__name__}".lstrip("_")


def what_the_kernel_takes(attempt: Any, seed: int) -> str | None:
    """Check that the pass leaves pairs of tensors that the kernel would refuse."""
    kinds: tuple[tuple[str, Any, Any], ...] = (
        ("up has one row and is broadcast", ((3, 5), torch.float32), ((1, 5), torch.float32)),
        ("up has an axis less and is broadcast", ((3, 5), torch.float32), ((5,), torch.float32)),
        ("gate is a column and up a row, of as many elements", ((3, 1), torch.float32), ((1, 3), torch.float32)),
        ("gate is float32 and up float16", ((3, 5), torch.float32), ((3, 5), torch.float16)),
        ("both are float64, which the kernel does not have", ((3, 5), torch.float64), ((3, 5), torch.float64)),
    )
    for words, gate, up in kinds:
        for function in (_plain, _turned):
            graph, _ = _graph(function, seed, gate, up)
            attempt.fuse(graph)
            if _fused(graph):
                return f"{words}, and it is replaced all the same: swiglu refuses such tensors when the model runs"
    return None


def unknown(attempt: Any, seed: int) -> str | None:
    """Check that the pass leaves values whose shape and dtype are unknown."""
    del seed
    graph = _trace(_plain)
    try:
        attempt.fuse(graph)
    except (KeyError, AttributeError, TypeError) as error:
        return (
            f"a graph that was traced without shapes ends in {type(error).__name__}: the entry tensor_meta is not "
            "there. meta.get gives None for it"
        )
    if _fused(graph):
        return "nothing is known of gate and up here, and it is replaced: what cannot be proved is left"
    return None


def others(attempt: Any, seed: int) -> str | None:
    """Check that the pass leaves expressions that only look like the layer."""
    alike = ((3, 5), torch.float32)
    kinds: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("silu(gate) + up", lambda gate, up: functional.silu(gate) + up),
        ("gate * up, without SiLU", lambda gate, up: gate * up),
        ("silu(gate) * up, where silu(gate) is used a second time", _twice),
        ("sigmoid(gate) * up", lambda gate, up: torch.sigmoid(gate) * up),
    )
    for words, function in kinds:
        graph, given = _graph(function, seed, alike, alike)
        before = graph(*given)
        attempt.fuse(graph)
        if _fused(graph):
            return f"{words} is replaced, and must be left"
        if not torch.equal(graph(*given), before):
            return f"{words} computes something else afterwards"
    return None


def _plain(gate: Tensor, up: Tensor) -> Tensor:
    return functional.silu(gate) * up


def _turned(gate: Tensor, up: Tensor) -> Tensor:
    return up * functional.silu(gate)


def _twice(gate: Tensor, up: Tensor) -> Tensor:
    active = functional.silu(gate)
    return active * up + active


def _trace(function: Callable[..., Any]) -> GraphModule:
    return GraphModule(torch.nn.Module(), Tracer().trace(function))


def _graph(
    function: Callable[..., Any], seed: int, *kinds: tuple[tuple[int, ...], torch.dtype]
) -> tuple[GraphModule, list[Tensor]]:
    """Return the function's graph with shapes and dtypes, and inputs that the seed determines."""
    source = torch.Generator().manual_seed(seed)
    given = [(torch.randn(shape, generator=source) + 0.5).to(dtype) for shape, dtype in kinds]
    graph = _trace(function)
    ShapeProp(graph).propagate(*given)
    return graph, given


def _fused(graph: GraphModule) -> bool:
    return any(getattr(node.target, "__name__", "") == "swiglu" for node in graph.graph.nodes)
