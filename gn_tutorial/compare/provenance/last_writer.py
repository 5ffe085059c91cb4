"""Finds the event of a trace that last wrote a byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gn_tutorial.abi.trace import Access, Event, Kind, MadeTensor, Space, Trace
from gn_tutorial.compare.provenance.operand_elements import addresses, element_at


class Wrote(NamedTuple):
    """An event that wrote a byte: its block, its number in the block, the operand, and the element with the byte."""

    block: int
    number: int
    operand: int
    element: int


class Record:
    """A trace that says which event last wrote a byte.

    Between two SyncAll its blocks count as run one after the other. This is the twin's order, unless
    TwinOptions.block_order changes it; a device runs the blocks at once. choices: ``Source.key`` -> the element to
    follow, for sources with many elements; without an entry it is the first one.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.choices: dict[tuple[int, int, int, int], int] = {}
        self._local = {block: _Writes(events, Space.UB) for block, events in trace.blocks.items()}
        self._global = {block: _Writes(events, Space.GM) for block, events in trace.blocks.items()}
        # For each event of a block: how many SyncAll the block had passed before.
        self._met = {
            block: np.cumsum([event.kind == Kind.SYNC_ALL for event in events], dtype=np.int64)
            for block, events in trace.blocks.items()
        }

    def event(self, block: int, number: int) -> Event:
        """Return one event of a block."""
        return self.trace.blocks[block][number]

    def tensor(self, block: int, number: int, operand: int) -> MadeTensor | None:
        """Return the tensor that an operand of an event comes from; None if that is unknown."""
        tensors = self.trace.tensors.get((block, number), ())
        return tensors[operand] if operand < len(tensors) else None

    def uses(self, block: int, first: int, tensor: MadeTensor) -> bool:
        """Whether the block's event ``first``, or a later one, has an operand of this tensor."""
        events = range(first, len(self.trace.blocks[block]))
        return any(tensor in self.trace.tensors.get((block, number), ()) for number in events)

    def all_local(self, block: int, before: int, address: int) -> Iterator[Wrote]:
        """Yield the events of the block that ``local`` chooses from, the last first."""
        return self._writers(self._local[block], block, before, address)

    def local(self, block: int, before: int, address: int) -> Wrote | None:
        """Return the last event of the block that wrote this byte of its Unified Buffer before event ``before``."""
        return next(self.all_local(block, before, address), None)

    def writers(self, block: int, before: int, places: np.ndarray) -> list[tuple[Wrote, np.ndarray, np.ndarray]]:
        """Return which events of the block wrote these bytes of its Unified Buffer last, the last event first.

        Each comes with the indices of the bytes in ``places``, and with the elements of its operand that have them. A
        byte that no event has written is in none of them.
        """
        found: list[tuple[Wrote, np.ndarray, np.ndarray]] = []
        left = np.arange(len(places))
        for number, operand in self._local[block].between(int(places.min()), int(places.max()), before):
            event = self.trace.blocks[block][number]
            every = addresses(event, event.operands[operand])
            order = np.argsort(every, kind="stable")
            at = np.searchsorted(every[order], places[left], side="right") - 1
            element = order[np.maximum(at, 0)] if len(every) else np.zeros(len(left), np.int64)
            inside = places[left] - every[element] if len(every) else np.full(len(left), -1)
            has = (inside >= 0) & (inside < event.operands[operand].element_bytes)
            if has.any():
                found.append((Wrote(block, number, operand, int(element[has][0])), left[has], element[has]))
                left = left[~has]
            if not len(left):
                break
        return found

    def shared(self, block: int, before: int, address: int) -> Wrote | None:
        """Return the last event of any block that wrote this byte of global memory before event ``before``."""
        return self._last(address, (int(self._met[block][before]), block, before))

    def last(self, address: int) -> Wrote | None:
        """Return the last event of the launch that wrote this byte of global memory."""
        return self._last(address, (1 << 32, 0, 0))

    def _last(self, address: int, before: tuple[int, int, int]) -> Wrote | None:
        """Return the last event that wrote the byte earlier than ``before`` (SyncAlls passed, block, event)."""
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
    """The writes of one block to one memory, as rows of an array: event, operand, first byte, end."""

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
        """Yield event and operand of each write before event ``before`` whose range has this byte, the last first."""
        return self.between(address, address, before)

    def between(self, first: int, last: int, before: int) -> Iterator[tuple[int, int]]:
        """Yield event and operand of each write before event ``before`` to a range with one of these bytes."""
        number, _, begin, end = self._rows.T
        for row in np.flatnonzero((number < before) & (begin <= last) & (first < end))[::-1]:
            yield int(self._rows[row, 0]), int(self._rows[row, 1])
