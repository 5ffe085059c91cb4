"""Computes the timeline of every pipe of the recorded cores: a pure function of a trace and a machine.

The function uses only + - * /, min and max on float64, in a fixed order, so every platform gives the same digits. Times
are in cycles from the start of the launch. docs/timing-model.md explains the equations; every constant in them is a
field of Machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gn_tutorial.abi.trace import LINE_BYTES, Kind, Lines, Pipe, Trace
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.core_model import CoreClock, Shares
from gn_tutorial.timing.machine import Machine
from gn_tutorial.timing.span import Issue, Span


class Traffic(NamedTuple):
    """The bytes that the whole launch moves, by source or destination. Each line counts as 512 bytes.

    hbm_read: lines that were not in the L2 cache; of reads that bypass the cache, only the 32-byte blocks that they
    need. l2_read: all lines that the cores read, from HBM or L2. hbm_written: lines evicted from the L2 cache. written:
    lines that the cores wrote.
    """

    hbm_read: float
    l2_read: float
    hbm_written: float
    written: float


@dataclass(frozen=True)
class Timeline:
    """The modelled launch.

    spans: those of the recorded blocks, sorted by block, pipe and time. Spans of one pipe of a block never overlap.
    issues: those of the scalar unit to the other pipes, sorted by block and time. They overlap no span of S of their
    block. block_cycles: block -> its duration. busy: block -> pipe -> the cycles for which the pipe was occupied (S:
    including issuing). core_cycles: when the last core has finished all its blocks. memory_cycles: the least time in
    which the memory can deliver the launch's traffic. launch_us: microseconds of start and completion. warm: as in
    ``make_timeline``.
    """

    machine: Machine
    spans: tuple[Span, ...]
    issues: tuple[Issue, ...]
    block_cycles: Mapping[int, float]
    busy: Mapping[int, Mapping[Pipe, float]]
    core_cycles: float
    memory_cycles: float
    launch_us: float
    traffic: Traffic
    warm: bool

    @property
    def cycles(self) -> float:
        """The cycles of the slowest core or of the memory, whichever are more; without ``launch_us``."""
        return max(self.core_cycles, self.memory_cycles)

    @property
    def microseconds(self) -> float:
        """The modelled duration of the launch in microseconds, including ``launch_us``."""
        return self.launch_us + self.machine.microseconds(self.cycles)

    def of(self, block: int | None = None, pipe: Pipe | None = None) -> Iterator[Span]:
        """Return the spans of this block and pipe, in the order of ``spans``. None stands for every block or pipe."""
        return (
            span
            for span in self.spans
            if (block is None or span.block == block) and (pipe is None or span.pipe is pipe)
        )

    def issues_of(self, block: int) -> Iterator[Issue]:
        """Return the issues of the scalar unit of one block, in order."""
        return (one for one in self.issues if one.block == block)

    def __repr__(self) -> str:
        spans = f"{len(self.spans):,} spans of {len(self.block_cycles)} blocks"
        return f"Timeline({spans}, {self.microseconds:.2f} us modelled)"


def make_timeline(trace: Trace, machine: Machine, *, warm: bool = False) -> Timeline:
    """Return the timeline of a trace on a machine. warm: the data are in the L2 cache before the launch, if they fit.

    Raises ArgumentError for a kernel with SyncAll that was launched with more blocks than the machine has cores, for a
    chip with more cores; a launch for this machine refuses so many blocks itself (``TwinOptions.cores``).
    """
    active = min(trace.launched, machine.cores)
    traffic = _traffic(trace, machine, active, warm)
    hbm_cycles = machine.clock_ghz * (
        traffic.hbm_read / machine.hbm_read_gbs + traffic.hbm_written / machine.hbm_write_gbs
    )
    shares = Shares.of(trace, machine, active, warm)
    clocks = {block: CoreClock(machine, shares, block, trace.blocks[block]) for block in trace.blocks}
    meets = _run_until_done(clocks, machine)
    if meets and trace.launched > machine.cores:
        raise ArgumentError(
            f"{trace.launched} blocks wait for each other, and {machine.name} has {machine.cores} cores",
            hint=f"blocks={machine.cores}: a device would wait for ever",
        )
    starts, core_cycles = _schedule(trace, active, {block: clock.end for block, clock in clocks.items()})
    spans: list[Span] = []
    issues: list[Issue] = []
    for block, clock in sorted(clocks.items()):
        at = starts[block]
        # Most blocks start at cycle 0, so their spans, of which there may be a hundred thousand, need no copy.
        spans += [
            span._replace(start=span.start + at, end=span.end + at, done=span.done + at) if at else span
            for span in clock.sorted_spans()
        ]
        issues += [one._replace(start=one.start + at, end=one.end + at) if at else one for one in clock.issues]
    return Timeline(
        machine=machine,
        spans=tuple(spans),
        issues=tuple(issues),
        block_cycles={block: clock.end for block, clock in sorted(clocks.items())},
        busy={block: dict(clock.busy) for block, clock in sorted(clocks.items())},
        core_cycles=core_cycles,
        memory_cycles=max(hbm_cycles, traffic.l2_read / machine.l2_read_gbs * machine.clock_ghz),
        launch_us=machine.launch(active),
        traffic=traffic,
        warm=warm,
    )


def _run_until_done(clocks: Mapping[int, CoreClock], machine: Machine) -> int:
    """Run every block to its end, and return the number of SyncAlls. At each, every block waits for the last one."""
    meets = 0
    while True:
        arrived = {block: at for block, clock in clocks.items() if (at := clock.run()) is not None}
        if not arrived:
            return meets
        meets += 1
        last = max(arrived.values())
        for block in arrived:
            clocks[block].meet(last + machine.meet)


def _schedule(trace: Trace, active: int, lengths: Mapping[int, float]) -> tuple[dict[int, float], float]:
    """Return the start cycle of each recorded block, and the cycle at which the last block of the launch ends.

    Each block runs on the core that is free first. A block that was not recorded lasts as long as the nearest recorded
    one.
    """
    if trace.launched <= active:
        return dict.fromkeys(lengths, 0.0), max(lengths.values())
    free = [0.0] * active
    starts = {}
    for block, like in enumerate(trace.nearest()):
        core = min(range(active), key=free.__getitem__)
        if block in lengths:
            starts[block] = free[core]
        free[core] += lengths[like]
    return starts, max(free)


def _traffic(trace: Trace, machine: Machine, active: int, warm: bool) -> Traffic:
    lines: Lines = trace.lines
    held = lines.held * LINE_BYTES
    fits = held <= machine.l2_bytes
    cold = 0 if warm and fits else lines.cold
    missed = _missed_share(trace, machine, active) * (lines.read - lines.cold - lines.bypassed)
    evicted = max(0, min(lines.dirty * LINE_BYTES, held - machine.l2_bytes))
    return Traffic(
        hbm_read=(cold + missed) * LINE_BYTES + float(lines.bypassed_bytes),
        l2_read=float(lines.read * LINE_BYTES),
        hbm_written=float(evicted),
        written=float(lines.written * LINE_BYTES),
    )


def _missed_share(trace: Trace, machine: Machine, active: int) -> float:
    """Return the share of the recorded blocks' re-read lines that the L2 cache had dropped since the earlier read."""
    again = missed = 0
    for events in trace.blocks.values():
        for event in events:
            if event.kind is not Kind.COPY or event.pipe is not Pipe.MTE2:
                continue
            for operand in event.operands:
                known = operand.lines - operand.cold if operand.cached else 0
                again += known
                if operand.reuse_lines * LINE_BYTES * active > machine.l2_bytes:
                    missed += known
    return missed / again if again else 0.0
