"""The boxes of a Gantt chart are the spans of the timeline, and its words are those of the profile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from picture_support import boxes, texts, two_tiles, us
from timing_support import trace, vector

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.gantt import gantt, gantt_cores, gantt_launches
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.machine import load_machine
from gn_tutorial.timing.timeline import make_timeline


@pytest.mark.parametrize("pipe", LOOKS)
def test_each_pipe_s_boxes_are_its_spans(pipe: Pipe) -> None:
    profile = two_tiles()
    (axis,) = gantt(profile, block=1).figure.axes
    spans = list(profile.timeline.of(1, pipe))
    assert spans
    assert [(left, right) for left, right, _, _ in boxes(axis, pipe.name)] == [
        (us(span.start), us(span.end)) for span in spans
    ]
    lane = list(LOOKS).index(pipe)
    assert {round((low + high) / 2, 6) for _, _, low, high in boxes(axis, pipe.name)} == {lane}
    assert axis.get_yticklabels()[lane].get_text().startswith(pipe.name)


def test_busy_times_and_shares_stand_beside_the_lanes() -> None:
    profile = two_tiles()
    (axis,) = gantt(profile).figure.axes
    whole = profile.timeline.block_cycles[0]
    for pipe in LOOKS:
        busy = profile.timeline.busy[0][pipe]
        assert f"busy {busy / 1800:.2f} us\n{busy / whole:.0%} of the block" in texts(axis)


def test_an_idle_stretch_says_what_it_waits_for() -> None:
    profile = two_tiles()
    (axis,) = gantt(profile).figure.axes
    first = next(profile.timeline.of(0, Pipe.V))
    assert (first.cause, first.cause_line) == ("MTE2", 11)
    assert "waits for MTE2, line 11" in texts(axis)
    idle = [path.get_extents() for drawn in axis.collections if drawn.get_zorder() == 1 for path in drawn.get_paths()]
    assert (us(first.start - first.waited), us(first.start)) in {(round(one.x0, 9), round(one.x1, 9)) for one in idle}


def test_a_wait_that_ends_behind_the_window_is_seen_in_it() -> None:
    profile = two_tiles()
    first = next(profile.timeline.of(0, Pipe.V))
    early = us(first.start) * 0.9
    (axis,) = gantt(profile, window=(0.0, early)).figure.axes
    assert not boxes(axis, "V")
    assert "waits for MTE2, line 11" in texts(axis)


def test_data_under_way_last_until_they_arrive() -> None:
    profile = two_tiles()
    (axis,) = gantt(profile).figure.axes
    late = [path.get_extents() for drawn in axis.collections if drawn.get_zorder() == 2 for path in drawn.get_paths()]
    spans = list(profile.timeline.of(0, Pipe.MTE2))
    assert [(round(one.x0, 9), round(one.x1, 9)) for one in late] == [(us(span.end), us(span.done)) for span in spans]


def test_a_window_is_what_the_axis_shows() -> None:
    picture = gantt(two_tiles(), window=(0.1, 0.4))
    assert picture.figure.axes[0].get_xlim() == (0.1, 0.4)
    assert picture.alt.endswith("Shown are 0.1 to 0.4 us.")


def test_the_title_and_the_text_say_that_it_is_modelled_and_how_long() -> None:
    profile = two_tiles()
    picture = gantt(profile)
    (axis,) = picture.figure.axes
    assert f"{profile.microseconds:.2f} us modelled" in axis.get_title()
    assert "(modelled)" in axis.get_xlabel()
    assert picture.alt.startswith("Modelled timeline of by hand on Ascend 910B3: the pipes of block 0, which takes ")
    assert f"{profile.timeline.block_cycles[0] / 1800:.2f} us" in picture.alt
    longest = max((span for span in profile.timeline.of(0) if span.cause), key=lambda span: span.waited)
    assert longest.reason in picture.alt


def test_every_recorded_core_has_its_row_and_its_time() -> None:
    profile = two_tiles(3)
    picture = gantt_cores(profile)
    (axis,) = picture.figure.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["block 0", "block 1", "block 2"]
    for pipe in LOOKS:
        wanted = [(us(one.start), us(one.end)) for block in range(3) for one in profile.timeline.of(block, pipe)]
        assert [(left, right) for left, right, _, _ in boxes(axis, pipe.name)] == wanted
        rows = [round(low) for _, _, low, _ in boxes(axis, pipe.name)]
        assert rows == sorted(rows)
        assert set(rows) == {0, 1, 2}
    for block in range(3):
        assert f"{profile.timeline.block_cycles[block] / 1800:.2f} us" in texts(axis)
    assert "every block" in picture.alt
    times = {f"{profile.timeline.block_cycles[block] / 1800:.2f} us" for block in range(3)}
    assert ("each takes" in picture.alt) == (len(times) == 1)


def test_a_sample_of_the_blocks_says_so() -> None:
    picture = gantt_cores(two_tiles(2, launched=40))
    assert "2 of 40 blocks" in picture.alt
    assert "2 of 40 blocks" in picture.figure.axes[0].get_title(loc="left")


def test_many_short_instructions_become_one_box_that_counts_them() -> None:
    made = trace(*(vector("Adds", 1, 0, 256) for _ in range(5000)))
    profile = two_tiles()
    long = Profile("long", 1, make_timeline(made, profile.machine), made, profile.tally)
    (axis,) = gantt(long).figure.axes
    assert len(boxes(axis, "V")) < 2100


def test_a_block_that_was_not_recorded_is_refused() -> None:
    with pytest.raises(ArgumentError, match="block 7 was not recorded"):
        gantt(two_tiles(), block=7)


def test_launches_share_one_axis_of_time() -> None:
    short, long = two_tiles(1, kernel="short"), two_tiles(2, kernel="long")
    picture = gantt_launches(short, long)
    (axis,) = picture.figure.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["short", "long"]
    slowest = max(long.timeline.block_cycles, key=long.timeline.block_cycles.__getitem__)
    for pipe in LOOKS:
        wanted = [(us(one.start), us(one.end)) for one in short.timeline.of(0, pipe)]
        wanted += [(us(one.start), us(one.end)) for one in long.timeline.of(slowest, pipe)]
        assert [(left, right) for left, right, _, _ in boxes(axis, pipe.name)] == wanted
    for profile in (short, long):
        assert f"{profile.microseconds:.2f} us" in picture.alt
    assert picture.alt.startswith("Modelled")


def test_launches_of_two_machines_and_none_at_all_are_refused() -> None:
    other = two_tiles()
    other = replace(other, timeline=replace(other.timeline, machine=load_machine("910B4")))
    with pytest.raises(ArgumentError, match="on one machine"):
        gantt_launches(two_tiles(), other)
    with pytest.raises(ArgumentError, match="no launch to draw"):
        gantt_launches()
