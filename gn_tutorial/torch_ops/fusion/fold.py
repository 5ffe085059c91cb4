"""Folds a BatchNorm into the convolution before it, for inference.

With the running statistics BatchNorm is one multiplication and one addition for each channel. A convolution is linear,
so its weight and bias can include both (``torch.nn.utils.fuse_conv_bn_weights``). In exact arithmetic the result is the
same; here the new weight and bias are computed in float64 and rounded once. In training BatchNorm uses the statistics
of the batch, so nothing is folded.
"""

from __future__ import annotations

import copy
from collections import Counter

import torch
from torch.fx import GraphModule, Node
from torch.nn.utils.fusion import fuse_conv_bn_weights

from gn_tutorial.torch_ops.fusion.report import Found, FusionReport, Left, place_of

_PAIRS = {
    torch.nn.Conv1d: torch.nn.BatchNorm1d,
    torch.nn.Conv2d: torch.nn.BatchNorm2d,
    torch.nn.Conv3d: torch.nn.BatchNorm3d,
}
_NAME = "convolution and BatchNorm"


def fold_batch_norm(graph: GraphModule, report: FusionReport) -> None:
    """Replace each convolution and the BatchNorm behind it, in place, by one new convolution. Fill ``report``.

    Pairs that cannot be folded stay, and the report gives the reasons.
    """
    modules = dict(graph.named_modules())
    calls = Counter(str(node.target) for node in graph.graph.nodes if node.op == "call_module")
    for node in list(graph.graph.nodes):
        before = _convolution_before(node, modules)
        if before is None:
            continue
        why = _why_not(before, node, modules, calls)
        if why:
            report.left.append(Left(_NAME, place_of(node), why))
            continue
        parent, _, name = str(before.target).rpartition(".")
        setattr(graph.get_submodule(parent), name, _folded(modules[str(before.target)], modules[str(node.target)]))
        node.replace_all_uses_with(before)
        graph.graph.erase_node(node)
        report.found.append(Found(_NAME, place_of(before), (before.name, node.name)))
    graph.delete_all_unused_submodules()


def _convolution_before(node: Node, modules: dict[str, torch.nn.Module]) -> Node | None:
    """Return the convolution before this node; None unless the node is a BatchNorm behind a matching convolution."""
    if node.op != "call_module" or not node.args or not isinstance(node.args[0], Node):
        return None
    before = node.args[0]
    if before.op != "call_module":
        return None
    wanted = _PAIRS.get(type(modules[str(before.target)]))
    return before if wanted is not None and type(modules[str(node.target)]) is wanted else None


def _why_not(before: Node, node: Node, modules: dict[str, torch.nn.Module], calls: Counter[str]) -> str:
    """Return why the convolution ``before`` and the BatchNorm ``node`` are not folded; "" if they may be."""
    convolution, norm = modules[str(before.target)], modules[str(node.target)]
    if norm.training:
        return "in training the statistics are those of the batch: model.eval() first"
    if norm.running_mean is None:
        return "it keeps no running statistics"
    if len(before.users) > 1:
        return f"{before.name} is used by something else too"
    if calls[str(before.target)] > 1 or calls[str(node.target)] > 1:
        return "one of the modules is called twice"
    hooks = any(one._forward_hooks or one._forward_pre_hooks for one in (convolution, norm))
    return "one of the modules has hooks" if hooks else ""


def _folded(convolution: torch.nn.Module, norm: torch.nn.Module) -> torch.nn.Module:
    """Return a copy of the convolution whose weight and bias include the BatchNorm."""
    made = copy.deepcopy(convolution)
    wide = [None if one is None else one.detach().double() for one in (convolution.weight, convolution.bias)]
    numbers = [
        None if one is None else one.detach().double()
        for one in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    ]
    mean, variance, scale, shift = numbers
    weight, bias = fuse_conv_bn_weights(*wide, mean, variance, norm.eps, scale, shift)
    made.weight = torch.nn.Parameter(weight.to(convolution.weight.dtype), convolution.weight.requires_grad)
    made.bias = torch.nn.Parameter(bias.to(convolution.weight.dtype), convolution.weight.requires_grad)
    return made
