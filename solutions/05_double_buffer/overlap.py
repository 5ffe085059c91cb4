"""Tells which pipes of a launch worked at the same time, for the checks of 05.1 and 05.3."""

from __future__ import annotations

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.profiler.profile import Profile

#: Rows of fewer tiles are not judged, because the first copy of a row has nothing to overlap with.
MANY_TILES = 8


def both_busy(found: Profile, one: Pipe, other: Pipe) -> float:
    """Microseconds in which two pipes of block 0 were both at work."""
    first, second = ([(span.start, span.end) for span in found.timeline.of(0, pipe)] for pipe in (one, other))
    cycles = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second)
    return found.machine.microseconds(cycles)


def has_full_barrier(found: Profile) -> bool:
    """Whether the kernel itself makes all pipes wait for all; the end of a kernel does so too, and is not counted."""
    events = found.trace.blocks[0]
    return any(event.kind is Kind.BARRIER and event.pipe is Pipe.ALL and event.op == "PipeBarrier" for event in events)
