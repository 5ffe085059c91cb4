"""The busy intervals that a picture merges, and those that it keeps separate."""

from __future__ import annotations

import pytest
from picture_support import B3, two_tiles, us
from timing_support import trace, vector

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.intervals import Window, busy_intervals, end_of, window_of
from gn_tutorial.timing.timeline import make_timeline


def test_each_instruction_that_can_be_seen_is_a_stretch_in_microseconds() -> None:
    timeline = two_tiles().timeline
    spans = list(timeline.of(0, Pipe.MTE2))
    found = busy_intervals(spans, B3, window_of(timeline, 0, None))
    assert [(round(one.start, 9), round(one.end, 9), one.count) for one in found] == [
        (us(span.start), us(span.end), 1) for span in spans
    ]
    assert [one.first for one in found] == spans


def test_what_no_eye_could_part_is_joined_and_counted() -> None:
    timeline = make_timeline(trace(*(vector("Adds", 1, 0, 256, line=n) for n in range(1000))), B3)
    whole = window_of(timeline, 0, None)
    joined = busy_intervals(timeline.of(0, Pipe.V), B3, whole, parts=100)
    assert sum(one.count for one in joined) == 1000
    assert len(joined) < 150
    assert joined[0].start == B3.microseconds(next(timeline.of(0, Pipe.V)).start)
    assert joined[-1].end == pytest.approx(whole.end)
    assert len(busy_intervals(timeline.of(0, Pipe.V), B3, whole, parts=100_000)) == 1000


def test_a_window_leaves_out_what_does_not_reach_into_it() -> None:
    timeline = two_tiles().timeline
    first, second = timeline.of(0, Pipe.MTE3)
    inside = Window(B3.microseconds(second.start), B3.microseconds(second.end))
    assert [one.first for one in busy_intervals(timeline.of(0, Pipe.MTE3), B3, inside)] == [second]
    assert first.end < second.start


def test_without_a_window_everything_is_shown_until_the_last_result_is_there() -> None:
    timeline = two_tiles().timeline
    assert window_of(timeline, 1, None) == (0.0, end_of(timeline, 1))
    assert end_of(timeline) == pytest.approx(max(timeline.block_cycles.values()) / 1800.0)


@pytest.mark.parametrize(
    ("window", "words"),
    [((2.0, 1.0), "from 2 to 1"), ((-1.0, 1.0), "from -1"), ((99.0, 100.0), "nothing happens after")],
)
def test_a_window_with_nothing_in_it_is_refused(window: tuple[float, float], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        window_of(two_tiles().timeline, 0, window)
