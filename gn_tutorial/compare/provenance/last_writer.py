"""Who wrote a byte: the events of a trace, looked through backwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gn_tutorial.abi.trace import Access, Event, Kind, Space, Trace
from gn_tutorial.compare.provenance.operand_elements import element_at


class Wrote(NamedTuple):
    """An event that wrote a byte: its block, its number there, and the operand and its element that has the byte."""

    block: int
    number: int
    operand: int
    element: int


class Record:
    """A trace, and in which order its blocks wrote memory: between two meetings (SyncAll) each runs to its end in turn.

    So the twin does it, unless TwinOptions.block_order says otherwise; a device lets them run at once. choices: of the
    many elements of a source, the one that is followed, by ``Source.key``; else it is the first.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.choices: dict[tuple[int, int, int, int], int] = {}
        self._local = {block: _Writes(events, Space.UB) for block, events in trace.blocks.items()}
        self._global = {block: _Writes(events, Space.GM) for block, events in trace.blocks.items()}
        # How often a block had met the others before each of its events.
        self._met = {
            block: np.cumsum([event.kind == Kind.SYNC_ALL for event in events], dtype=np.int64)
            for block, events in trace.blocks.items()
        }

    def event(self, block: int, number: int) -> Event:
        """One event of a block."""
        return self.trace.blocks[block][number]

    def local(self, block: int, before: int, address: int) -> Wrote | None:
        """The last event of the block, before the one with this number, that wrote this byte of its Unified Buffer."""
        return next(self._writers(self._local[block], block, before, address), None)

    def shared(self, block: int, before: int, address: int) -> Wrote | None:
        """The same for a byte of global memory, written by any block."""
        return self._last(address, (int(self._met[block][before]), block, before))

    def last(self, address: int) -> Wrote | None:
        """The last event of all that wrote this byte of global memory."""
        return self._last(address, (1 << 32, 0, 0))

    def _last(self, address: int, before: tuple[int, int, int]) -> Wrote | None:
        """Of each block the last event in that order, and the last of those."""
        found = []
        for block, events in self.trace.blocks.items():
            for one in self._writers(self._global[block], block, len(events), address):
                order = int(self._met[block][one.number]), block, one.number
                if order < before:
                    found.append((order, one))
                    break
        return max(found)[1] if found else None

    def _writers(self, writes: _Writes, block: int, before: int, address: int) -> Iterator[Wrote]:
        for number, operand in writes.over(address, before):
            event = self.trace.blocks[block][number]
            element = element_at(event, event.operands[operand], address)
            if element is not None:
                yield Wrote(block, number, operand, element)


class _Writes:
    """What the events of one block wrote into one memory, in arrays."""

    def __init__(self, events: tuple[Event, ...], space: Space) -> None:
        rows = [
            (number, index, operand.at, operand.at + operand.bytes)
            for number, event in enumerate(events)
            if event.kind in (Kind.VECTOR, Kind.COPY, Kind.SCALARS)
            for index, operand in enumerate(event.operands)
            if operand.access != Access.READ and operand.space == space
        ]
        self._rows = np.array(rows, np.int64).reshape(-1, 4)

    def over(self, address: int, before: int) -> Iterator[tuple[int, int]]:
        """Numbers of events and operands around this byte, the last first."""
        number, _, begin, end = self._rows.T
        for row in np.flatnonzero((number < before) & (begin <= address) & (address < end))[::-1]:
            yield int(self._rows[row, 0]), int(self._rows[row, 1])
