"""The pass over a graph. It finds patterns with PyTorch's matcher, and replaces them unless a result would change."""

from __future__ import annotations

import itertools
import operator
from typing import Any

from torch import Tensor
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from gn_tutorial.torch_ops.arguments import DTYPES
from gn_tutorial.torch_ops.fusion.canonical import canonicalise, mutates
from gn_tutorial.torch_ops.fusion.patterns import PATTERNS, Pattern
from gn_tutorial.torch_ops.fusion.report import Found, FusionReport, Left, place_of


def rewrite(graph: GraphModule, *, linear: bool = False) -> FusionReport:
    """Replace the patterns in ``graph``, in place, by equivalent calls, and return the report.

    A match stays if a result would change, if the kernel would refuse its tensors, or if the fusion was not requested.
    The report then gives the reason.
    linear: also fuse a Linear and the GELU behind it. Its matrix product then runs on the vector unit.
    """
    report = FusionReport()
    report.left += [Left("any", place_of(node), why) for node, why in canonicalise(graph)]
    for pattern in PATTERNS:
        _replace(graph, pattern, report, asked=linear)
        _tell_leaks(graph, pattern, report)
    graph.graph.lint()
    graph.recompile()
    return report


def _replace(graph: GraphModule, pattern: Pattern, report: FusionReport, *, asked: bool) -> None:
    def allowed(match: InternalMatch, _: Graph, its: Graph) -> bool:
        calls = _calls(match, its)
        values = {node.name: match.nodes_map[node] for node in its.nodes if node.op == "placeholder"}
        if any(not isinstance(values[name], Node) for name in pattern.tensors):
            return False  # x + 1 is not a sum of two tensors
        why = _unlike(pattern, values) or _too_late(pattern, values) or _written_between(graph, calls)
        why = why or ("" if asked else pattern.unasked)
        if why:
            report.left.append(Left(pattern.name, place_of(calls[-1]), why))
            return False
        report.found.append(Found(pattern.name, place_of(calls[-1]), tuple(node.name for node in calls)))
        return True

    replacement = Graph()
    arguments = [replacement.placeholder(node.name) for node in pattern.graph.nodes if node.op == "placeholder"]
    made = replacement.call_function(pattern.fused, tuple(arguments))
    if pattern.results > 1:
        made = tuple(replacement.call_function(operator.getitem, (made, number)) for number in range(pattern.results))
    replacement.output(made)
    replace_pattern_with_filters(graph, pattern.graph, replacement, match_filters=[allowed])


def _calls(match: InternalMatch, pattern: Graph) -> list[Node]:
    """Return the matched calls of the graph, in the order of the pattern's calls."""
    return [match.nodes_map[node] for node in pattern.nodes if node.op == "call_function"]


def _unlike(pattern: Pattern, values: dict[str, Any]) -> str:
    """Return why the kernel would refuse the tensors whose examples tracing kept; "" if it may accept them."""
    known = {name: value for name in pattern.tensors if (value := _example(values[name])) is not None}
    for name, value in known.items():
        if value.dtype not in DTYPES:
            return f"{name} is {str(value.dtype).removeprefix('torch.')}, which no kernel here takes"
    names = list(known)
    for first, second in itertools.pairwise(names):
        one, two = known[first], known[second]
        if one.dtype != two.dtype:
            return f"{first} and {second} have two types"
        if tuple(one.shape) != tuple(two.shape):
            return f"{first} has shape {tuple(one.shape)} and {second} {tuple(two.shape)}: one is broadcast"
    return ""


def _too_late(pattern: Pattern, values: dict[str, Any]) -> str:
    """Return why an argument of the fused call might be computed too late for that call; "" if none is.

    If there are several results, the first may be used before the pattern's last call. The fused call must come before
    that use, so it cannot wait for an argument of a later call. Parameters, the model's arguments and the arguments of
    the first call exist by then.
    """
    for name, value in values.items():
        late = isinstance(value, Node) and value.op not in ("placeholder", "get_attr") and name not in pattern.tensors
        if late and pattern.results > 1:
            return f"{name} is {value.name}, which is computed on the way"
    return ""


def _example(node: Node) -> Tensor | None:
    """Return the example tensor that tracing kept for a value, or None."""
    found = node.meta.get("val", node.meta.get("example_value"))
    return found if isinstance(found, Tensor) else None


def _written_between(graph: GraphModule, calls: list[Node]) -> str:
    """Return a text that names a call which writes into memory between ``calls[0]`` and the first use of ``calls[-1]``.

    Such a call may change an input of the fused call. Returns "" if there is none.
    """
    nodes = list(graph.graph.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    ends = min((places[user] for user in calls[-1].users), default=len(nodes))
    for node in nodes[min(places[call] for call in calls) : ends]:
        if mutates(node):
            return f"{node.name} writes into memory before the result is used"
    return ""


def _tell_leaks(graph: GraphModule, pattern: Pattern, report: FusionReport) -> None:
    """Add to the report the places where the pattern would match if nothing else used an inner value."""
    if not pattern.inner:
        return
    for match in SubgraphMatcher(pattern.leaking()).match(graph.graph):
        inner = [node for node in match.returning_nodes[:-1] if len(node.users) > 1]
        for node in inner:
            users = ", ".join(user.name for user in list(node.users)[:2])
            report.left.append(
                Left(pattern.name, place_of(match.returning_nodes[-1]), f"{node.name} is used by {users}")
            )
