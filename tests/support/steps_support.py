"""Kernels that perform steps given as data, and the checkers' reports on them.

In a traced launch the observers get every operation in full, because the trace has every operation; in another launch
they get some in a short form. Both must report the same, except for the write that they name as the cause of a gap.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import KernelFault


def told(
    kernel: gnt.Kernel,
    steps: list,
    *,
    blocks: int = 1,
    auto_sync: Any = "on",
    full: bool = False,
    y: Any = None,
) -> Any:
    """Return a launch's findings in their order; for a successful launch also the counts and the result.

    A step is five numbers. ``y`` (1024 floats, or zeros) is the result. ``full``: the observers get all operations in
    full.
    """
    program = np.array(steps, np.int32).ravel()
    values = {"program": program, "x": np.arange(1024, dtype=np.float32), "steps": len(steps)}
    tracing = Tracing(blocks=1, bytes=64) if full else None
    try:
        done = kernel.run(
            **values,
            y=gnt.inout(np.zeros(1024, np.float32)) if y is None else y,
            blocks=blocks,
            options=TwinOptions(auto_sync=auto_sync),
            isolated=False,
            tracing=tracing,
        )
    except KernelFault as fault:
        return [(one.id, one.line, one.block, _facts(one)) for one in fault.diagnostics]
    found = [(one.id, one.line, one.block, _facts(one)) for one in done.diagnostics]
    return found, done.tally, done["y"].tobytes()


def _facts(one: Diagnostic) -> dict[str, Any]:
    """Return the facts without the cause of a gap and the numbers of calls.

    Only a write in full can be named, so launches may differ in them.
    """
    names = list(one.fields)
    if one.id in ("ub-never-written", "ub-stale"):
        names = list(itertools.takewhile(lambda name: name not in ("cause", "extent"), names))
    return {name: one.fields[name] for name in names}
