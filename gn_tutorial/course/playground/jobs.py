"""Launches as the page reads them: JSON, with the bytes of arrays in base64. Made where NumPy is."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from gn_tutorial.abi.structs import GntOptions
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.operators import call_plan
from gn_tutorial.operators.arguments import launch_args
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.runtime.launch_types import POISONED, WRITTEN, LaunchArg, LaunchRequest, poison_word
from gn_tutorial.runtime.trace_buffer import TraceBuffer


def request_of(
    op: OpSpec,
    spec: KernelSpec,
    arrays: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    *,
    blocks: int | None = None,
    tracing: Tracing | None = None,
) -> LaunchRequest:
    """The launch of a registered kernel's call, in this process. Raises ArgumentError as the call does."""
    plan = call_plan.plan(op, spec, (), {**arrays, **attributes}, cores=blocks)
    entry = Kernel.registered(op, spec).entry()
    args = launch_args(entry.params, plan.values)
    return LaunchRequest(entry=entry.name, args=args, blocks=plan.blocks, isolated=False, tracing=tracing)


def job(request: LaunchRequest) -> dict[str, Any]:
    """One launch for src/runner.mjs: what GntJob and its arguments have (gn_twin/base/abi.h).

    64-bit numbers are text, since JavaScript's numbers end at 2**53.
    """
    room = TraceBuffer(request.tracing or Tracing(), request.args, request.blocks)
    options = request.options.to_abi()
    trace = {"bytes": room.bytes, "chosen": list(room.chosen)} if request.tracing else None
    return {
        "entry": request.entry,
        "blocks": request.blocks,
        "tiling_key": str(int(request.tiling_key)),
        "options": [getattr(options, name) for name, _ in GntOptions._fields_],
        "severities": request.options.severities().decode() if request.options.severities() else "",
        "args": [_argument(arg, room.addresses.get(arg.same_as or arg.name, 0)) for arg in request.args],
        "trace": trace,
    }


def _argument(arg: LaunchArg, address: int) -> dict[str, Any]:
    given = arg.role not in POISONED and not arg.absent and not arg.same_as
    return {
        "name": arg.name,
        "kind": int(arg.kind),
        "role": int(arg.role),
        "bytes": arg.nbytes,
        "data": encoded(arg.data) if given else None,
        "absent": arg.absent,
        "same_as": arg.same_as,
        "address": str(address),
        "poison": str(poison_word(arg.dtype)),
        "element_bytes": arg.dtype.itemsize,
        "written": arg.role in WRITTEN,
        "dtype": arg.dtype.name,
    }


def encoded(data: np.ndarray | bytes) -> str:
    """The bytes of an array as text."""
    return base64.b64encode(data.tobytes() if isinstance(data, np.ndarray) else data).decode()


def decoded(text: str, like: np.ndarray) -> np.ndarray:
    """The array of ``like``'s shape and dtype that has these bytes."""
    return np.frombuffer(base64.b64decode(text), like.dtype).reshape(like.shape)
