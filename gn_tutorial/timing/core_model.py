"""The timing model of one vector core. It replays the events of one block on the core's queues S, MTE2, V and MTE3.

An instruction starts when its queue is free, the flags that the queue waits for are set, and the scalar unit has issued
the instruction. The equations are those of docs/timing-model.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gn_tutorial.abi.trace import LINE_BYTES, Access, Event, Kind, Operand, Pipe, Space, Trace
from gn_tutorial.timing.bank_conflicts import data_cycles, streams
from gn_tutorial.timing.contention import ContendedMemory
from gn_tutorial.timing.machine import Machine
from gn_tutorial.timing.span import Issue, Span

_UB_BLOCK = 32
_QUEUE_OPERATIONS = (Kind.ALLOC, Kind.ENQUE, Kind.DEQUE, Kind.FREE)
_DMA = {Pipe.MTE2, Pipe.MTE3}


@dataclass(frozen=True, slots=True)
class Shares:
    """One core's share of the memory that all cores use.

    hbm: bytes per cycle while every core reads. cores: how many cores run. apart: cycles between the first and the last
    core's start. reach: the number of 512-byte lines that a core moves until the L2 cache has dropped its earlier
    contents. warm: whether everything was in the L2 cache before the launch. crowded: the index, among a block's
    MTE2 copies, of each copy that reads the same bytes in every recorded block; empty if only one block was recorded.
    """

    hbm: float
    cores: int
    apart: float
    reach: float
    warm: bool
    crowded: frozenset[int]

    @classmethod
    def of(cls, trace: Trace, machine: Machine, active: int, warm: bool) -> Shares:
        """Return the shares of one core if ``active`` cores run this launch. warm: as in ``make_timeline``."""
        return cls(
            hbm=machine.hbm_read_gbs / (machine.clock_ghz * active),
            cores=active,
            apart=machine.core_start_us * 1000.0 * machine.clock_ghz * active,
            reach=machine.l2_bytes / (LINE_BYTES * active),
            warm=warm and trace.lines.held * LINE_BYTES <= machine.l2_bytes,
            crowded=_crowded(trace),
        )


def _crowded(trace: Trace) -> frozenset[int]:
    if len(trace.blocks) < 2:
        return frozenset()
    orders = [
        [(event.operands[-1].at, event.operands[-1].bytes) for event in events if _reads(event)]
        for events in trace.blocks.values()
    ]
    return frozenset(place for place, all_at in enumerate(zip(*orders, strict=False)) if len(set(all_at)) == 1)


def _reads(event: Event) -> bool:
    return event.kind is Kind.COPY and event.pipe is Pipe.MTE2


def _partial_rows(operand: Operand) -> int:
    """Return how many rows of a strided transfer begin or end inside a 32-byte block of global memory."""
    if operand.rows < 2 or operand.row_pitch in (0, operand.row_bytes):
        return 0
    if operand.row_bytes % _UB_BLOCK:
        return operand.rows
    whole, rest = divmod(operand.rows, _UB_BLOCK)  # rows 32 apart have the same offset in a 32-byte block
    inside = [(operand.at + row * operand.row_pitch) % _UB_BLOCK != 0 for row in range(_UB_BLOCK)]
    return whole * sum(inside) + sum(inside[:rest])


class _Cause(NamedTuple):
    """The pipe for which a queue waited, and the source line of that pipe's instruction."""

    name: str
    line: int
    file: str


_NOBODY = _Cause("", 0, "")


class CoreClock:
    """The clock of one block on its core, from cycle 0. ``run`` continues until the block ends or reaches a SyncAll."""

    def __init__(self, machine: Machine, shares: Shares, block: int, events: Sequence[Event]) -> None:
        self._machine, self._shares, self._block = machine, shares, block
        self._events = events
        self._memory = ContendedMemory(machine.mte2_bytes_per_cycle, shares.hbm, shares.cores, shares.apart)
        self._next = 0
        self.busy = dict.fromkeys((Pipe.S, Pipe.V, Pipe.MTE2, Pipe.MTE3), 0.0)
        self._scalar = 0.0  # until when the scalar unit is busy
        self._free = dict.fromkeys(self.busy, 0.0)  # when the queue can start the next instruction
        self._gate = dict.fromkeys(self.busy, 0.0)  # when the flags and barriers let the queue continue
        self._gate_cause = dict.fromkeys(self.busy, _NOBODY)
        self._done = dict.fromkeys(self.busy, 0.0)  # when all instructions of the queue have finished
        self._last = {pipe: _Cause(pipe.name, 0, "") for pipe in self.busy}  # the queue's last instruction
        self._flags: dict[tuple[str, int], tuple[float, _Cause]] = {}
        self._written: dict[tuple[int, int], tuple[float, _Cause]] = {}  # range of the UB -> when it is ready
        self._copies = 0
        self._meeting = _NOBODY  # the last SyncAll
        self._worked = dict.fromkeys(self.busy, 0.0)  # the scalar unit's busy cycles at its last issue to the queue
        self._scalar_free = 0.0  # end of the scalar unit's last span
        self._resumed, self._scalar_cause = 0.0, _NOBODY  # end and cause of the scalar unit's last wait
        self._spans: dict[Pipe, list[Span]] = {pipe: [] for pipe in self.busy}
        self.issues: list[Issue] = []  # in program order

    @property
    def end(self) -> float:
        """The cycle at which all of the block's events so far have finished."""
        return max(self._scalar, *self._done.values())

    def sorted_spans(self) -> list[Span]:
        """Return the spans, sorted by pipe, then time."""
        return [span for pipe in sorted(self._spans) for span in self._spans[pipe]]

    def run(self) -> float | None:
        """Replay the next events. Return the cycle at which the block reached a SyncAll, or None if it has ended."""
        while self._next < len(self._events):
            event = self._events[self._next]
            if event.kind is Kind.SYNC_ALL:
                self._next += 1
                self._meeting = _Cause("blocks", event.line, event.file)
                return self.end
            self._play(event)
            self._next += 1
        return None

    def meet(self, until: float) -> None:
        """Continue after a SyncAll at cycle ``until``, when all blocks have arrived."""
        self._hold_all(until, self._meeting)

    def _play(self, event: Event) -> None:
        kind = event.kind
        if kind is Kind.VECTOR:
            self._vector(event)
        elif kind is Kind.COPY:
            self._copy(event)
        elif kind is Kind.SET_FLAG:
            self._set(event)
        elif kind is Kind.WAIT_FLAG:
            self._wait(event)
        elif kind is Kind.BARRIER:
            self._barrier(event)
        elif kind is Kind.SCALARS:
            self._scalars(event)
        elif kind is Kind.CLEAN_CACHE:
            self._occupy_scalar(event, self._machine.l2_write_latency)
        elif kind in _QUEUE_OPERATIONS:
            self._occupy_scalar(event, self._machine.queue_operation)

    # The three queues that the scalar unit feeds.

    def _vector(self, event: Event) -> None:
        machine = self._machine
        cost = machine.instruction(event.op)
        slope = cost.slope_16 if event.element_bytes == 2 else cost.slope
        data = conflict = 0.0
        if event.repeats:
            cycles = data_cycles(*streams(event), event.repeats, machine.vector_latency)
            conflict = cycles / event.repeats
            data = slope * cycles
        length = max(cost.startup + machine.vector_fixed + data, 1.0)
        self._enter(event, length, length, 0, conflict)

    def _copy(self, event: Event) -> None:
        machine = self._machine
        far = next((one for one in event.operands if one.space is Space.GM), None)
        if far is None:
            return
        moved = far.rows * far.row_bytes if far.row_bytes else far.bytes
        # Reading from the L2 cache moves whole lines, and writing rows to it is no faster.
        port = far.lines * LINE_BYTES / machine.mte2_bytes_per_cycle
        rows = max(machine.dma_issue, port, _partial_rows(far) * machine.partial_row)
        if event.pipe is Pipe.MTE3:
            length = max(rows, moved / machine.mte3_bytes_per_cycle) + machine.l2_write_latency
            self._enter(event, length, length, moved, 0.0)
            return
        from_hbm = self._cold_share(far)
        # A burst that starts inside a line touches one line more than its length needs, and fetches that line too.
        bursts = far.rows if far.row_bytes and far.row_pitch != far.row_bytes else 1
        needed = bursts * -(-(moved // max(bursts, 1)) // LINE_BYTES)
        fetched = moved + max(far.lines - needed, 0) * LINE_BYTES
        start = max(self._free[event.pipe], self._gate[event.pipe], self._scalar + machine.issue)
        known = fetched * (1.0 - from_hbm) / machine.mte2_bytes_per_cycle
        source = known + self._memory.cycles(fetched * from_hbm, start)
        length = max(rows, source)
        if self._copies in self._shares.crowded:
            length *= machine.same_address
        self._copies += 1
        late = machine.l2_read_latency + (machine.hbm_latency if from_hbm > 0.0 else 0.0)
        self._enter(event, length, length + late, moved, 0.0)

    def _cold_share(self, operand: Operand) -> float:
        """Return the share of a read's bytes that comes from HBM, 0 to 1."""
        if not operand.cached or operand.reuse_lines > self._shares.reach:
            return 1.0
        if self._shares.warm:
            return 0.0
        moved = operand.rows * operand.row_bytes if operand.row_bytes else operand.bytes
        return min(operand.cold_blocks * _UB_BLOCK / moved, 1.0) if moved else 0.0

    def _enter(self, event: Event, length: float, until_done: float, moved: int, conflict: float) -> None:
        """Issue an instruction: it occupies its queue for ``length`` and is done ``until_done`` after its start."""
        pipe = event.pipe
        self._issue(event, self._machine.issue)
        free, gate, issued = self._free[pipe], self._gate[pipe], self._scalar
        start = max(free, gate, issued)
        waited, cause = start - free, _NOBODY
        if waited > 0.0:
            cause = self._gate_cause[pipe] if gate >= issued else self._who_held_scalar(waited, event)
        self._worked[pipe] = self.busy[Pipe.S]
        self._free[pipe] = start + length
        self._done[pipe] = max(self._done[pipe], start + until_done)
        self._last[pipe] = _Cause(pipe.name, event.line, event.file)
        self.busy[pipe] += length
        span = Span(
            self._block,
            pipe,
            start,
            start + length,
            start + until_done,
            event.op,
            event.file,
            event.line,
            self._next,
            moved,
            conflict,
            waited,
            *cause,
        )
        self._spans[pipe].append(span)
        for operand in event.operands:
            if operand.space is Space.UB and operand.access is not Access.READ:
                key = (operand.at, operand.at + operand.bytes)
                self._written[key] = (start + until_done, self._last[pipe])

    # Flags and barriers, which order the queues.

    def _set(self, event: Event) -> None:
        self._issue(event, self._machine.flag)
        pipe = event.pipe
        raised = self._scalar if pipe is Pipe.S else max(self._done[pipe], self._scalar)
        cause = _Cause("S", event.line, event.file) if pipe is Pipe.S else self._last[pipe]
        self._flags[event.flag, event.event_id] = (raised, cause)

    def _wait(self, event: Event) -> None:
        self._issue(event, self._machine.flag)
        raised, cause = self._flags.pop((event.flag, event.event_id), (0.0, _NOBODY))
        if event.pipe is Pipe.S:
            self._hold_scalar(raised, cause)
        else:
            self._hold(event.pipe, raised, cause)

    def _barrier(self, event: Event) -> None:
        self._issue(event, self._machine.flag)
        if event.pipe is Pipe.ALL:
            last = max(self._done, key=lambda pipe: self._done[pipe])
            self._hold_all(self._done[last], self._last[last])
            return
        extra = self._machine.vector_barrier if event.pipe is Pipe.V else 0.0
        self._hold(event.pipe, self._done[event.pipe] + extra, self._last[event.pipe])

    def _hold(self, pipe: Pipe, until: float, cause: _Cause) -> None:
        if until > self._gate[pipe]:
            self._gate[pipe], self._gate_cause[pipe] = until, cause

    def _hold_scalar(self, until: float, cause: _Cause) -> None:
        if until > self._scalar:
            self._scalar = until + self._machine.round_trip
            self._resumed, self._scalar_cause = self._scalar, cause

    def _who_held_scalar(self, waited: float, event: Event) -> _Cause:
        """Return the cause of a late issue: the pipe that the scalar unit waited for, or the scalar unit itself.

        waited: cycles that the event's pipe was idle. The scalar unit itself is the cause if it never waited for a
        pipe, or if its busy cycles since its last issue to the event's pipe are more than half of ``waited``. For
        instance, after a loop over GetValue the cause is the loop, not a short copy at the loop's end.
        """
        worked = self.busy[Pipe.S] - self._worked[event.pipe]
        if worked > waited / 2.0 or self._scalar_cause is _NOBODY:
            return self._last[Pipe.S] if self._last[Pipe.S].line else _Cause("S", event.line, event.file)
        return self._scalar_cause

    def _hold_all(self, until: float, cause: _Cause) -> None:
        for pipe in _DMA | {Pipe.V}:
            self._hold(pipe, until, cause)
        self._hold_scalar(until, cause)

    # The scalar unit itself.

    def _advance_scalar(self, cycles: float) -> None:
        self._scalar += cycles
        self.busy[Pipe.S] += cycles

    def _issue(self, event: Event, cycles: float) -> None:
        """Spend ``cycles`` of the scalar unit on issuing ``event``, an instruction, flag or wait of another pipe."""
        start = self._scalar
        self._advance_scalar(cycles)
        last = self.issues[-1] if self.issues else None
        if last is not None and (last.end, last.file, last.line) == (start, event.file, event.line):
            self.issues[-1] = last._replace(end=self._scalar, count=last.count + 1)
        else:
            self.issues.append(Issue(self._block, start, self._scalar, event.op, event.file, event.line, 1))

    def _scalars(self, event: Event) -> None:
        operand = event.operands[0]
        machine = self._machine
        cycles = event.lanes * machine.scalar_access
        if operand.space is Space.GM and operand.access is not Access.WRITE:
            cycles += event.changes * machine.l2_read_latency
        elif operand.space is Space.UB:
            ready, cause = self._ready(operand)
            self._hold_scalar(ready, cause)
        self._occupy_scalar(event, cycles)

    def _ready(self, operand: Operand) -> tuple[float, _Cause]:
        """Return when other pipes have written the bytes that the scalar unit accesses, and which of them is last."""
        # Forget ranges that are ready: nothing waits for them, and a long kernel would collect many.
        self._written = {place: entry for place, entry in self._written.items() if entry[0] > self._scalar}
        begin, end = operand.at, operand.at + operand.bytes
        found = [entry for (at, to), entry in self._written.items() if at < end and begin < to]
        return max(found, key=lambda entry: entry[0], default=(0.0, _NOBODY))

    def _occupy_scalar(self, event: Event, cycles: float) -> None:
        start = self._scalar
        late = self._scalar_free < self._resumed
        cause, waited = (self._scalar_cause, start - self._scalar_free) if late else (_NOBODY, 0.0)
        self._advance_scalar(cycles)
        self._scalar_free = self._scalar
        self._last[Pipe.S] = _Cause("S", event.line, event.file)
        self._done[Pipe.S] = self._scalar
        self._spans[Pipe.S].append(
            Span(
                self._block,
                Pipe.S,
                start,
                self._scalar,
                self._scalar,
                event.op,
                event.file,
                event.line,
                self._next,
                0,
                0.0,
                waited,
                *cause,
            )
        )
