"""The busy intervals of a pipe for a picture, in microseconds. Intervals that would look like one are merged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import Machine
from gn_tutorial.timing.span import Issue, Span
from gn_tutorial.timing.timeline import Timeline

#: How many parts of a picture's width a reader can distinguish: about two for each of a thousand pixels.
PARTS = 2000


class Window(NamedTuple):
    """The part of a timeline that a picture shows, in microseconds since the blocks started."""

    start: float
    end: float

    @property
    def width(self) -> float:
        """The length of the window, in microseconds."""
        return self.end - self.start


class BusyInterval(NamedTuple):
    """The time from ``start`` to ``end`` (us) in which ``count`` spans or issues, from ``first`` on, occupy a pipe."""

    start: float
    end: float
    count: int
    first: Span | Issue

    @property
    def width(self) -> float:
        """The length of the interval, in microseconds."""
        return self.end - self.start


def end_of(timeline: Timeline, block: int | None = None) -> float:
    """Return when ``block`` has finished, in microseconds since the blocks started.

    block: None for the time when all recorded blocks have finished. The result is 0 if there are no spans.
    """
    return timeline.machine.microseconds(max((span.done for span in timeline.of(block)), default=0.0))


def window_of(timeline: Timeline, block: int | None, asked: tuple[float, float] | None) -> Window:
    """Return the window ``asked``: (start, end) in microseconds.

    asked: None for a window that shows all of the block, or of all recorded blocks if ``block`` is None. Raises
    ArgumentError unless 0 <= start < end, and if the window begins when the block, or the last block, has ended.
    """
    end = end_of(timeline, block)
    if asked is None:
        return Window(0.0, end or 1.0)
    start, stop = asked
    if not 0.0 <= start < stop:
        raise ArgumentError(f"there is no window from {start:g} to {stop:g} us", hint="0 <= from < to")
    if start >= end:
        raise ArgumentError(f"nothing happens after {end:.2f} us", hint=f"a window that starts before {end:.2f} us")
    return Window(start, stop)


def busy_intervals(
    spans: Iterable[Span] | Iterable[Issue], machine: Machine, window: Window, *, parts: int = PARTS
) -> list[BusyInterval]:
    """Return the busy intervals of one pipe of one block in the window, in order. spans: those of that pipe, in order.

    Two neighbours are merged if the gap between them and at least one of the two are too narrow to be seen: shorter
    than the window's width divided by ``parts``.
    """
    least = window.width / parts
    found: list[BusyInterval] = []
    for span in spans:
        start, end = machine.microseconds(span.start), machine.microseconds(span.end)
        if end < window.start or start > window.end:
            continue
        # Two spans that are wide enough to be seen stay separate, because the picture labels each box.
        tiny = end - start < least
        if found and start - found[-1].end < least and (tiny or found[-1].width < least):
            found[-1] = found[-1]._replace(end=end, count=found[-1].count + 1)
        else:
            found.append(BusyInterval(start, end, 1, span))
    return found
