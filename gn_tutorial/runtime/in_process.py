"""Run a trusted kernel inside Python's own process: no start-up, no copies, and no protection.

A crash ends Python, an endless loop hangs it, and no limit applies. The kernel's output goes straight to the terminal.
In-process launches are for PyTorch operators, benchmarks and kernels that ran well in isolation.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np

from gn_tutorial.abi import structs
from gn_tutorial.abi.structs import Role, Status
from gn_tutorial.abi.tensor_list import with_addresses
from gn_tutorial.abi.trace import Trace
from gn_tutorial.diagnostics.findings import kernel_fault, parse_with_notes
from gn_tutorial.errors import KernelError
from gn_tutorial.runtime.launch_types import (
    POISONED,
    WRITTEN,
    LaunchArg,
    LaunchRequest,
    LaunchResult,
    Tally,
    poison_word,
)
from gn_tutorial.runtime.outcome import REBUILD, bad_call
from gn_tutorial.runtime.trace_buffer import TraceBuffer

_REPORT_BYTES = 64 * 1024
_ABI = structs.ABI_VERSION << 16 | ctypes.sizeof(structs.GntJob)


class Prepared:
    """A launch that is prepared once and run many times: ``prepared = Prepared(...)``, then ``prepared()``.

    Inputs are used in place, without a copy: their contents may change between runs, their addresses may not. INOUT
    arrays are written in place. OUT and WORKSPACE arrays are made once and poisoned before each run, so a result is
    valid until the next run. Use a Prepared in one thread only. Several Prepared of one library may run at the same
    time, because ctypes releases the GIL.
    Raises KernelError if the library cannot be loaded, or was built for another version of gn_tutorial.
    """

    def __init__(self, library: Path, request: LaunchRequest) -> None:
        args = request.args
        self._run = _load(str(library))
        self._entry = request.entry.encode()
        by_name: dict[str, np.ndarray] = {}
        for arg in args:
            by_name[arg.name] = by_name[arg.same_as] if arg.same_as else _buffer(arg)
        buffers = list(by_name.values())
        self._arrays = {arg.name: buffer for arg, buffer in zip(args, buffers, strict=True) if arg.role in WRITTEN}
        at = [buffer.__array_interface__["data"][0] for buffer in buffers]
        buffers = [
            with_addresses(buffer, at) if arg.role == Role.LIST else buffer
            for arg, buffer in zip(args, buffers, strict=True)
        ]
        self._room = TraceBuffer(request.tracing, args, request.blocks) if request.tracing is not None else None
        addresses = self._room.addresses if self._room else {}
        self._rows = (structs.GntArg * len(args))(
            *(
                (
                    arg.name.encode(),
                    0 if arg.absent else buffer.__array_interface__["data"][0],
                    arg.nbytes,
                    arg.kind,
                    arg.role,
                    addresses.get(arg.same_as or arg.name, 0),
                    poison_word(arg.dtype),
                    arg.dtype.itemsize,
                )
                for arg, buffer in zip(args, buffers, strict=True)
            )
        )
        self._report = ctypes.create_string_buffer(_REPORT_BYTES)
        self._job = structs.GntJob(
            abi_version=structs.ABI_VERSION,
            blocks=request.blocks,
            tiling_key=request.tiling_key,
            args=self._rows,
            arg_count=len(args),
            options=request.options.to_abi(),
            severities=request.options.severities(),
            report=ctypes.cast(self._report, ctypes.c_char_p),
            report_bytes=_REPORT_BYTES,
            poisons=1,
        )
        if self._room is not None:
            # The array is not cleared, so pages of it that are never written take no memory.
            self._slots = np.empty(self._room.bytes, np.uint8)
            self._chosen = np.array(self._room.chosen, np.uint32)
            self._job.trace.slots = self._slots.ctypes.data
            self._job.trace.bytes = self._slots.nbytes
            self._job.trace.chosen = self._chosen.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
            self._job.trace.chosen_count = self._chosen.size
            self._job.trace.watches = ctypes.addressof(self._room.watches)
            self._job.trace.watch_count = len(self._room.watches)
            self._job.trace.with_origins = self._room.with_origins
        self._job_at = ctypes.byref(self._job)
        self._buffers = buffers  # keep the arrays alive, because the rows hold only addresses

    def __call__(self) -> LaunchResult:
        """Run once and return the result. Raises KernelFault; ArgumentError if the arguments do not fit the kernel."""
        self._report[0] = b"\0"
        self._job.tally = structs.GntTally()
        status = self._run(self._entry, self._job_at)
        diagnostics, notes = parse_with_notes(self._report.raw if self._report[0] != b"\0" else b"")
        if status == Status.BAD_CALL:
            raise bad_call(diagnostics)
        if status != Status.OK:
            raise kernel_fault(diagnostics)
        return LaunchResult(
            arrays=dict(self._arrays),
            tally=Tally.from_abi(self._job.tally),
            seconds=self._job.nanoseconds * 1e-9,
            printed="",
            observed=bool(self._job.observed),
            diagnostics=diagnostics,
            trace=self._trace(),
            notes=notes,
        )

    def _trace(self) -> Trace | None:
        if self._room is None:
            return None
        return self._room.decode(self._slots[: self._job.trace.used], self._job.trace, self._room.watches)


def _buffer(arg: LaunchArg) -> np.ndarray:
    if arg.role in POISONED:
        return np.empty(arg.data.shape, arg.data.dtype)
    return arg.data if isinstance(arg.data, np.ndarray) else np.frombuffer(arg.data, np.uint8)


@functools.cache
def _load(path: str) -> ctypes._CFuncPtr:
    """Return the function ``gnt_run`` of a library.

    Raises KernelError if the library cannot be loaded, or was built for another version of gn_tutorial.

    The library stays loaded, because unloading it while a thread runs in it would crash. RTLD_LOCAL is needed because
    every kernel library defines the same names.
    """
    try:
        library = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        version, run = library.gnt_abi, library.gnt_run
    except (OSError, AttributeError) as error:
        raise KernelError("the kernel library cannot be loaded", detail=str(error), hint=REBUILD) from error
    version.argtypes, version.restype = (), ctypes.c_uint32
    if version() != _ABI:
        raise KernelError("the kernel library was built for another version of gn_tutorial", hint=REBUILD)
    run.argtypes, run.restype = (ctypes.c_char_p, ctypes.POINTER(structs.GntJob)), ctypes.c_int32
    return run
