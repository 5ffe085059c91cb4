"""A pass over PyTorch's graphs that replaces several operators of a model by one fused kernel.

``fuse(model)`` traces a model and returns an equivalent model. Its ``.fusions`` lists the fusions, and the places that
were left, with the reasons. ``torch.compile(model, backend=gn_tutorial.torch_ops.fusion.backend)`` applies the pass to
each graph that the compiler captures. The compiler then handles graph breaks and changing shapes.
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
    """A tracer that records each of this course's modules as one call, as PyTorch's tracer does with PyTorch's own."""

    def is_leaf_module(self, module: torch.nn.Module, name: str) -> bool:
        return type(module).__module__ == OURS or super().is_leaf_module(module, name)


def fuse(model: torch.nn.Module, *, linear: bool = False) -> GraphModule:
    """Return a model that computes the same as ``model`` with fused kernels, on the same parameters.

    model: a module that ``torch.fx`` can trace, a GraphModule, or the module of an exported program. linear: also fuse
    a Linear and the GELU behind it. Its matrix product then runs on the vector unit instead of the cube unit.

    The result shares the model's parameters, except those of a convolution into which a BatchNorm was folded. BatchNorm
    is folded only in eval mode, and such a result is for inference only. ``.fusions`` of the result is the
    FusionReport. PyTorch's tracer treats ``x += y`` as ``x = x + y``. So export a model first if its caller needs the
    changes that the model makes to its arguments.
    Raises ArgumentError for a model that cannot be traced.
    """
    if isinstance(model, GraphModule):
        graph = GraphModule(model, copy.deepcopy(model.graph))
    else:
        try:
            traced = _Leaves().trace(model)
        except Exception as error:  # tracing has no values, so the model's own code may raise anything
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
    """A backend of ``torch.compile``: return the graph's function with fused kernels.

    The FusionReport is appended to ``backend.reports``.
    linear: as in ``fuse``; ``functools.partial(backend, linear=True)`` is a backend, too.
    """
    fused = GraphModule(graph, copy.deepcopy(graph.graph))
    backend.reports.append(rewrite(fused, linear=linear))
    return fused.forward


backend.reports = []
