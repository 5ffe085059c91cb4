"""One registered kernel on an NPU and on the twin, in all of its dtypes: numbers, bits, modelled and measured times.

    python -m gn_tutorial.host.verify.kernels <library> <kernel> <device> <rounds>

prints a JSON line for each dtype, with the chip and its cores. It is a process of its own because a kernel that fails
on a device may take the process's context with it, or never return.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.trace import Tracing
from gn_tutorial.compare.comparison import compare
from gn_tutorial.errors import GntError
from gn_tutorial.host.verify.direct import NpuRuntime
from gn_tutorial.operators import call_plan, random_inputs
from gn_tutorial.operators.arguments import launch_args
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.profiler.profile import profile_of

_SEED = 0


def verify(npu: NpuRuntime, name: str, rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each dtype of kernel ``name``. What is wrong with one of them is in its row, as ``error``."""
    op, spec = find_kernel(name)
    for dtype in spec.dtypes:
        row: dict[str, Any] = {"name": f"{name} {dtype}"}
        try:
            row |= _compared(npu, op, spec, dtype, rounds)
        except GntError as error:
            row |= {"passed": False, "error": str(error)}
        yield row


def _compared(npu: NpuRuntime, op: OpSpec, spec: KernelSpec, dtype: str, rounds: int) -> dict[str, Any]:
    attributes = {one.name: op.example[one.name] for one in op.attributes if one.name in op.example}
    shape = tuple(op.example["shape"])
    arrays = random_inputs.inputs(op, shape, seed=_SEED, dtype=dtype, attributes=attributes)
    found = Kernel.registered(op, spec)
    on_twin = found(*arrays.values(), blocks=npu.cores, tracing=Tracing(), **attributes)
    golden = random_inputs.expected(op, arrays, attributes)
    plan = call_plan.plan(op, spec, list(arrays.values()), attributes, cores=npu.cores)
    args = launch_args(found.entry(spec.entry).params, plan.values)
    on_npu, times = npu.run(spec.entry, plan.blocks, args, rounds)
    outputs = [
        _output(one, on_npu[one], on_twin.outputs[one], reference, spec)
        for one, reference in ((name, golden[name]) for name in plan.outputs)
    ]
    return {
        "passed": all(one["outside"] == 0 for one in outputs),
        "shape": shape,
        "attributes": attributes,
        "blocks": plan.blocks,
        "outputs": outputs,
        "modelled_us": round(profile_of(on_twin).microseconds, 2),
        "measured_us": _spread(times),
    }


def _output(name: str, npu: np.ndarray, twin: np.ndarray, golden: Any, spec: KernelSpec) -> dict[str, Any]:
    """An output beside the reference, within the kernel's tolerance, and beside the twin's, bit by bit."""
    row = compare(name, npu, np.asarray(golden), spec.tolerance)
    other = npu.reshape(-1).view(np.uint8) != np.ascontiguousarray(twin).reshape(-1).view(np.uint8)
    differ = int(other.reshape(npu.size, -1).any(1).sum()) if npu.size else 0
    return {"name": name, "outside": row.wrong, "elements": npu.size, "not the twin's bits": differ}


def _spread(times: list[float]) -> dict[str, float] | None:
    """Microseconds, with what a launch costs the host; the first launches are the slow ones, so the median counts."""
    if not times:
        return None
    ordered = sorted(times)
    return {f"p{part}": ordered[max(0, -(-len(ordered) * part // 100) - 1)] for part in (50, 90, 99)}


def main() -> int:
    """The process's own main."""
    library, name, device, rounds = sys.argv[1:]
    npu = NpuRuntime(Path(library), int(device))
    for row in verify(npu, name, int(rounds)):
        print(json.dumps(row | {"chip": npu.chip, "cores": npu.cores}, default=str), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
