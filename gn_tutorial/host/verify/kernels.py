"""Compares one registered kernel on an NPU and on the twin, in all its dtypes: numbers, bits, modelled and real times.

    python -m gn_tutorial.host.verify.kernels <library> <kernel> <device> <rounds>

prints a JSON line for each dtype, with the chip and its cores. This command is a process of its own, because a kernel
that fails on a device may destroy the context of its process, or never return.

CANN's runtime allocates the memory, and <library>, a build of the host API, launches the kernel; PyTorch is not needed.
The module was written from the runtime's public documentation, and was run with a stand-in for the runtime, not on an
NPU.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from ctypes import c_char_p, c_int, c_int32, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.structs import Role
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.compare.comparison import compare
from gn_tutorial.errors import GntError, KernelError
from gn_tutorial.host.c_library import check
from gn_tutorial.host.npu import declared_library, toolkit_path
from gn_tutorial.operators import call_plan, random_inputs
from gn_tutorial.operators.arguments import launch_args
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.profiler.profile import profile_of
from gn_tutorial.runtime.launch_types import LaunchArg

_SEED = 0


def verify(npu: NpuRuntime, name: str, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each dtype of kernel ``name``. rounds: as in ``NpuRuntime.run``.

    If a comparison raises an error, its row has the text of that error in ``error``. Raises RegistryError for an
    unknown kernel.
    """
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
    """Return how many elements of an output are outside the kernel's tolerance, and how many differ from the twin's."""
    row = compare(name, npu, np.asarray(golden), spec.tolerance)
    other = npu.reshape(-1).view(np.uint8) != np.ascontiguousarray(twin).reshape(-1).view(np.uint8)
    differ = int(other.reshape(npu.size, -1).any(1).sum()) if npu.size else 0
    return {"name": name, "outside": row.wrong, "elements": npu.size, "not the twin's bits": differ}


def _spread(times: list[float]) -> dict[str, float] | None:
    """Return percentiles of times in microseconds; None without times. The times include the host's part of a launch.

    The first launches are slow, so the median is the number to compare.
    """
    if not times:
        return None
    ordered = sorted(times)
    return {f"p{part}": ordered[max(0, -(-len(ordered) * part // 100) - 1)] for part in (50, 90, 99)}


def main() -> int:
    """Verify the kernel that the command line names, print a JSON line for each dtype, and return the exit code."""
    library, name, device, rounds = sys.argv[1:]
    npu = NpuRuntime(Path(library), int(device))
    for row in verify(npu, name, int(rounds)):
        print(json.dumps(row | {"chip": npu.chip, "cores": npu.cores}, default=str), flush=True)
    return 0


_TO_DEVICE, _TO_HOST = 1, 2  # aclrtMemcpyKind
_AGAIN = 100002  # the status of aclInit if it was called before
_POISON = 0xA5
_FUNCTIONS: dict[str, Sequence[Any]] = {
    "aclInit": (c_char_p,),
    "aclrtSetDevice": (c_int32,),
    "aclrtMalloc": (ctypes.POINTER(c_void_p), c_size_t, c_int),
    "aclrtFree": (c_void_p,),
    "aclrtMemcpy": (c_void_p, c_size_t, c_void_p, c_size_t, c_int),
}


class NpuRuntime:
    """CANN's runtime on NPU number ``index``, with ``library``, a build of the host API.

    Raises KernelError if the runtime cannot be loaded, or if a call of the runtime or of the library fails.
    """

    def __init__(self, library: Path, index: int = 0) -> None:
        self._runtime = _runtime()
        for name, arguments in _FUNCTIONS.items():
            function = getattr(self._runtime, name)
            function.argtypes, function.restype = arguments, c_int
        self._runtime.aclrtGetSocName.restype = c_char_p
        self._call("aclInit", None)
        self._call("aclrtSetDevice", index)
        self._library = declared_library(library)
        self._stream = c_void_p()
        check(self._library.GnCreateStream(ctypes.byref(self._stream)), self._library)

    @property
    def chip(self) -> str:
        """The name that the runtime gives the chip."""
        return (self._runtime.aclrtGetSocName() or b"unknown").decode()

    @property
    def cores(self) -> int:
        """The number of vector cores."""
        return int(self._library.GnVectorCores())

    def run(
        self, entry: str, blocks: int, args: Sequence[LaunchArg], rounds: int = 0
    ) -> tuple[dict[str, np.ndarray], list[float]]:
        """Return the kernel's outputs by name, and the times of ``rounds`` more launches.

        Outputs hold a bit pattern before the launch, so that an unwritten element is visible. A time is in
        microseconds, from the call until the stream is done, so it includes the host's part of a launch. Raises
        KernelError, or what ``c_library.check`` raises.
        """
        memory: list[c_void_p | None] = []
        kept: list[Any] = []  # numbers on the host
        try:
            for arg in args:
                memory.append(self._place(arg, kept))
            words = [where or value for where, value in zip(memory, kept, strict=True)]
            addresses = (c_void_p * len(words))(*[ctypes.cast(one, c_void_p) if one else None for one in words])
            self._launch(entry, blocks, addresses)
            outputs = {
                arg.name: self._fetch(where, arg.data)
                for arg, where in zip(args, memory, strict=True)
                if arg.role in (Role.OUT, Role.INOUT)
            }
            times = []
            for _ in range(rounds):
                begin = time.perf_counter()
                self._launch(entry, blocks, addresses)
                times.append((time.perf_counter() - begin) * 1e6)
            return outputs, times
        finally:
            for where in memory:
                if where is not None:
                    self._runtime.aclrtFree(where)

    def _launch(self, entry: str, blocks: int, addresses: Any) -> None:
        status = self._library.GnLaunchKernel(entry.encode(), blocks, addresses, len(addresses), self._stream)
        check(status, self._library)
        check(self._library.GnSynchronizeStream(self._stream), self._library)

    def _place(self, arg: LaunchArg, kept: list[Any]) -> c_void_p | None:
        """Return device memory with the argument's bytes; None for an absent argument, and for a number.

        The memory of an output or a workspace holds _POISON bytes. A number stays on the host. ``kept`` gets one entry
        for each argument: the number's bytes, or None.
        """
        if isinstance(arg.data, bytes) and arg.role != Role.TILING:
            kept.append(ctypes.create_string_buffer(arg.data, len(arg.data)))
            return None
        kept.append(None)
        if arg.absent:
            return None
        raw = arg.data if isinstance(arg.data, bytes) else arg.data.tobytes()
        if arg.role in (Role.OUT, Role.WORKSPACE):
            raw = bytes([_POISON]) * len(raw)
        where = c_void_p()
        self._call("aclrtMalloc", ctypes.byref(where), max(len(raw), 32), 0)
        if raw:
            self._call("aclrtMemcpy", where, len(raw), ctypes.create_string_buffer(raw, len(raw)), len(raw), _TO_DEVICE)
        return where

    def _fetch(self, where: c_void_p | None, like: np.ndarray) -> np.ndarray:
        made = np.empty(like.shape, like.dtype)
        if made.nbytes:
            self._call("aclrtMemcpy", made.ctypes.data, made.nbytes, where, made.nbytes, _TO_HOST)
        return made

    def _call(self, name: str, *words: Any) -> None:
        status = getattr(self._runtime, name)(*words)
        if status not in (0, _AGAIN):
            raise KernelError(f"{name} returned {status}", where="CANN's runtime", hint="the number is an aclError")


def _runtime() -> ctypes.CDLL:
    names = ["libascendcl.so"]
    if (toolkit := toolkit_path()) is not None:
        names.append(str(toolkit / "lib64" / "libascendcl.so"))
    for name in names:
        try:
            return ctypes.CDLL(name, mode=os.RTLD_GLOBAL)
        except OSError as error:
            last = error
    raise KernelError(
        f"CANN's runtime cannot be loaded: {last}", where="libascendcl.so", hint="source set_env.sh of the toolkit"
    )


if __name__ == "__main__":
    sys.exit(main())
