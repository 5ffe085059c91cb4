"""The data for the trace of one launch (recorded blocks, addresses of the tensors), and the decoding of the trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gn_tutorial.abi import structs
from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.abi.trace import Lines, Trace, Tracing
from gn_tutorial.abi.trace_decode import decode
from gn_tutorial.runtime.launch_types import LaunchArg


class TraceBuffer:
    """The data that a launch of ``blocks`` blocks with these arguments needs for a trace.

    bytes: the size of the buffer for the events. chosen: numbers of the blocks to record. addresses: argument name ->
    address in the model's global memory. watches: the values to watch, which the twin fills in.
    Raises ArgumentError if ``tracing`` does not fit the launch.
    """

    def __init__(self, tracing: Tracing, args: Sequence[LaunchArg], blocks: int) -> None:
        self.bytes, self._blocks = tracing.bytes, blocks
        self.chosen = tracing.chosen(blocks)
        self._names = [arg.name for arg in args]
        own = [arg for arg in args if arg.kind == ArgKind.TENSOR and not arg.same_as]
        self._arguments = tracing.place([(arg.name, arg.nbytes) for arg in own])
        self.addresses = {one.name: one.address for one in self._arguments}
        self._asked = sorted(range(len(tracing.watches)), key=lambda number: tracing.watches[number][:2])
        ordered = [tracing.watches[number] for number in self._asked]
        watches = [(one.block, one.event, one.operand, 0, one.offset, 0) for one in ordered]
        self.with_origins = int(tracing.origins)
        self.watches = (structs.GntWatch * len(watches))(*watches)

    @property
    def chosen_bytes(self) -> bytes:
        """The numbers of the recorded blocks, 32 bits each, as the twin reads them."""
        return np.array(self.chosen, np.uint32).tobytes()

    def decode(self, slots: bytes | memoryview, found: structs.GntTrace, watches: Iterable[structs.GntWatch]) -> Trace:
        """Return the trace that ``slots`` contains. found, watches: the structs as the twin filled them in.

        Raises KernelError if the trace is damaged.
        """
        lines = Lines(
            read=found.lines_read,
            cold=found.lines_cold,
            bypassed=found.lines_bypassed,
            written=found.lines_written,
            dirty=found.lines_dirty,
            held=found.lines_held,
            bypassed_bytes=found.blocks_bypassed * 32,
        )
        return decode(
            slots,
            names=self._names,
            launched=self._blocks,
            chosen=self.chosen,
            complete=not found.full,
            arguments=self._arguments,
            lines=lines,
            watched=self._watched(watches),
        )

    def _watched(self, watches: Iterable[structs.GntWatch]) -> tuple[bytes, ...]:
        """Return the watched values as little-endian bytes, in the order of the request."""
        seen = [int(one.value).to_bytes(8, "little")[: one.seen] for one in watches]
        return tuple(value for _, value in sorted(zip(self._asked, seen, strict=True)))
