"""Unified Buffer usage of one core over time: the buffers that InitBuffer made, and the accesses to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gn_tutorial.abi.trace import Access, Event, Kind, Operand, Pipe, Space
from gn_tutorial.cpp.source_line import buffer_names
from gn_tutorial.cpp.source_text import readable_text
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.span import Span


class Touch(NamedTuple):
    """A use of bytes [at, end) of the Unified Buffer by one pipe, from ``start`` to ``stop`` (us)."""

    pipe: Pipe
    start: float
    stop: float
    at: int
    end: int
    writes: bool


class Hold(NamedTuple):
    """The time from ``start`` to ``stop`` (us) in which a buffer holds data: first to last access before FreeTensor.

    at, end: the buffer's bytes, [at, end). what: the arguments that were copied into the buffer, or, if there are none,
    those copied out of it; empty if the data stayed on the core. from_gm: whether an argument was copied in.
    """

    at: int
    end: int
    start: float
    stop: float
    what: str
    from_gm: bool


class Buffer(NamedTuple):
    """The memory of one InitBuffer: bytes [at, end), in ``parts`` buffers of equal size. name: its name in the source.

    line, file: the place of the InitBuffer.
    """

    name: str
    line: int
    at: int
    end: int
    parts: int
    file: str


@dataclass(frozen=True)
class UbUse:
    """The use of the Unified Buffer by one block: its buffers, when they held data, and the accesses."""

    block: int
    buffers: tuple[Buffer, ...]
    holds: tuple[Hold, ...]
    touches: tuple[Touch, ...]

    @property
    def bytes(self) -> int:
        """The used size of the Unified Buffer: the highest byte that any buffer or access reaches."""
        return max((one.end for one in (*self.buffers, *self.touches)), default=0)


@dataclass
class _Open:
    """A Hold that has not ended yet."""

    start: float = 0.0
    stop: float = 0.0
    used: bool = False
    copied_in: list[str] = field(default_factory=list)
    copied_out: list[str] = field(default_factory=list)


def ub_use(profile: Profile, block: int) -> UbUse:
    """Return how this recorded block used the Unified Buffer.

    In program order, AllocTensor and FreeTensor separate the uses of a buffer. The times of a use are those of the
    first and the last instruction between them that touches the buffer. The times of AllocTensor and FreeTensor would
    be too early, because the scalar unit, which runs them, is ahead of the other pipes.
    """
    events, machine = profile.trace.blocks[block], profile.machine
    spans = {span.event: span for span in profile.timeline.of(block)}
    ranges, buffers = _buffers(events)
    opened = {each: _Open() for each in ranges}
    holds: list[Hold] = []
    touches: list[Touch] = []

    def close(each: tuple[int, int]) -> None:
        one = opened[each]
        if one.used:
            what = ", ".join(dict.fromkeys(one.copied_in or one.copied_out))
            holds.append(Hold(*each, one.start, one.stop, what, bool(one.copied_in)))
        opened[each] = _Open()

    for index, event in enumerate(events):
        if event.kind in (Kind.ALLOC, Kind.FREE):
            close((event.operands[0].at, event.operands[0].at + event.operands[0].bytes))
        span = spans.get(index)
        if span is None or event.kind not in (Kind.VECTOR, Kind.COPY, Kind.SCALARS):
            continue
        for operand in event.operands:
            if operand.space is not Space.UB:
                continue
            touch = _touch(span, operand, machine.microseconds)
            touches.append(touch)
            for each in ranges:
                if each[0] < touch.end and touch.at < each[1]:
                    _note(opened[each], touch, event)
    for each in ranges:
        close(each)
    return UbUse(block, buffers, tuple(sorted(holds, key=lambda one: (one.at, one.start))), tuple(touches))


def _touch(span: Span, operand: Operand, microseconds: object) -> Touch:
    start, stop = microseconds(span.start), microseconds(span.done)  # type: ignore[operator]
    writes = operand.access is not Access.READ
    return Touch(span.pipe, start, stop, operand.at, operand.at + operand.bytes, writes)


def _note(one: _Open, touch: Touch, event: Event) -> None:
    one.start = min(one.start, touch.start) if one.used else touch.start
    one.stop = max(one.stop, touch.stop)
    one.used = True
    argument = next((far.argument for far in event.operands if far.space is Space.GM), "")
    if event.kind is Kind.COPY and argument:
        (one.copied_in if touch.writes else one.copied_out).append(argument)


def _buffers(events: Sequence[Event]) -> tuple[list[tuple[int, int]], tuple[Buffer, ...]]:
    """Return the ranges that are allocated and freed as a unit, and a Buffer for each InitBuffer."""
    given = {
        (event.operands[0].at, event.operands[0].at + event.operands[0].bytes)
        for event in events
        if event.kind is Kind.ALLOC
    }
    made, ranges = {}, set(given)
    for event in events:
        if event.kind is Kind.INIT_BUFFER:
            at, end = event.operands[0].at, event.operands[0].at + event.operands[0].bytes
            inside = [one for one in given if at <= one[0] and one[1] <= end]
            size = inside[0][1] - inside[0][0] if inside else end - at
            parts = max((end - at) // size, 1) if size else 1
            made[at, end] = Buffer(_name(event), event.line, at, end, parts, event.file)
            ranges |= {(at + part * size, at + (part + 1) * size) for part in range(parts)}
    return sorted(ranges), tuple(made[key] for key in sorted(made))


def _name(event: Event) -> str:
    """Return the first argument of the InitBuffer call, read from the source; empty if it cannot be found there."""
    return next(iter(buffer_names(readable_text(Path(event.file)), event.line)), "")
