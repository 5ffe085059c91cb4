"""A pass over PyTorch's graphs that lets the fused kernels of this course do what a model writes as several operators.

``fuse(model)`` traces a model and returns one that computes the same; ``.fusions`` of it says what was found and what
was left, and why. ``torch.compile(model, backend=gn_tutorial.torch_ops.fusion.backend)`` does the same for each graph
that the compiler captures, so that graph breaks and changing shapes are its business.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Tracer

from gn_tutorial.errors import ArgumentError
from gn_tutorial.torch_ops.fusion.canonical import OURS
from gn_tutorial.torch_ops.fusion.fold import fold_batch_norm
from gn_tutorial.torch_ops.fusion.report import Found, FusionReport, Left
from gn_tutorial.torch_ops.fusion.rewrite import rewrite

__all__ = ["Found", "FusionReport", "Left", "backend", "fuse"]


class _Leaves(Tracer):
    """PyTorch's tracer, for which the modules of this course are whole, as PyTorch's own are."""

    def is_leaf_module(self, module: torch.nn.Module, name: str) -> bool:
        return type(module).__module__ == OURS or super().is_leaf_module(module, name)


def fuse(model: torch.nn.Module, *, linear: bool = False) -> GraphModule:
    """A model that computes the same as ``model`` with fused kernels, on the same parameters.

    model: a module that ``torch.fx`` can trace, a GraphModule, or the module of an exported program. linear: also GELU
    behind Linear, whose product of matrices then leaves the cube unit, which is made for it, for the vector unit. The
    result has the model's parameters, not copies, but for convolutions into which a BatchNorm was
    folded: that happens in eval mode only, and the result is for inference then. ``.fusions``: the FusionReport.
    PyTorch's tracer takes ``x += y`` for ``x = x + y``: a model that hands changed arguments back to its caller is
    exported first. Raises ArgumentError for a model that cannot be traced.
    """
    if isinstance(model, GraphModule):
        graph = GraphModule(model, copy.deepcopy(model.graph))
    else:
        try:
            traced = _Leaves().trace(model)
        except Exception as error:  # whatever the model's own code does with a value that is not there
            raise ArgumentError(
                f"the model cannot be traced: {error}",
                where="gn_tutorial.torch_ops.fusion.fuse",
                hint="torch.compile(model, backend=gn_tutorial.torch_ops.fusion.backend) takes control flow",
            ) from None
        graph = GraphModule(model, traced, type(model).__name__)
    graph.train(model.training)
    folds = FusionReport()
    fold_batch_norm(graph, folds)
    report = rewrite(graph, linear=linear)
    graph.fusions = FusionReport(folds.found + report.found, folds.left + report.left)
    return graph


def backend(graph: GraphModule, _: list[Any], *, linear: bool = False) -> Callable[..., Any]:
    """For ``torch.compile``: the graph with fused kernels, run as it stands. ``backend.reports`` has the reports.

    linear: as in ``fuse``; ``functools.partial(backend, linear=True)`` is a backend, too.
    """
    fused = GraphModule(graph, copy.deepcopy(graph.graph))
    backend.reports.append(rewrite(fused, linear=linear))
    return fused.forward


backend.reports = []
