"""The memory that one launch writes its trace into: which blocks are recorded, where arguments lie, reading it back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gn_tutorial.abi import structs
from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.abi.trace import Lines, Trace, Tracing
from gn_tutorial.abi.trace_decode import decode
from gn_tutorial.runtime.launch_types import LaunchArg


class TraceBuffer:
    """What a launch of ``blocks`` blocks with these arguments needs to know to be traced.

    addresses: of each tensor in the model's global memory. watches: what the twin fills in.
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
        self.with_pieces = int(tracing.pieces)
        self.watches = (structs.GntWatch * len(watches))(*watches)

    @property
    def chosen_bytes(self) -> bytes:
        """The recorded blocks as the twin reads them: 32-bit numbers."""
        return np.array(self.chosen, np.uint32).tobytes()

    def decode(self, slots: bytes | memoryview, found: structs.GntTrace, watches: Iterable[structs.GntWatch]) -> Trace:
        """The trace in these slots; ``found``, ``watches``: what the twin says about it.

        Raises KernelError if it is damaged.
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
        """What was seen, in the order in which it was asked for."""
        seen = [int(one.value).to_bytes(8, "little")[: one.seen] for one in watches]
        return tuple(value for _, value in sorted(zip(self._asked, seen, strict=True)))
