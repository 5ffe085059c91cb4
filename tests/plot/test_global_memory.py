"""The access pattern is that of the events: addresses inside each argument, times of the spans, one colour a block."""

from __future__ import annotations

from dataclasses import replace

import pytest
from picture_support import B3, TILE, X, boxes, two_tiles, us
from timing_support import load, trace_of

from gn_tutorial.abi.trace import Pipe, TracedArgument
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.global_memory import Reach, gm_access, gm_reaches, times_over
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.timeline import make_timeline


def with_loads(*loads: object, blocks: int = 1, size: int = 65536) -> Profile:
    made = trace_of(dict.fromkeys(range(blocks), loads))
    made = replace(made, arguments=(TracedArgument("x", X, size),))
    return Profile("loads", blocks, make_timeline(made, B3), made, two_tiles().tally)


@pytest.mark.parametrize(("argument", "pipe", "verb"), [("x", Pipe.MTE2, "reads"), ("y", Pipe.MTE3, "writes")])
def test_each_block_s_boxes_lie_at_its_addresses_and_times(argument: str, pipe: Pipe, verb: str) -> None:
    profile = two_tiles()
    panel = {"x": 0, "y": 1}[argument]
    axis = gm_access(profile).figure.axes[panel]
    for block in range(2):
        spans = list(profile.timeline.of(block, pipe))
        wanted = [
            (us(span.start), us(span.end), (2 * block + tile) * TILE / 1024, (2 * block + tile + 1) * TILE / 1024)
            for tile, span in enumerate(spans)
        ]
        assert boxes(axis, f"{argument} block {block} {verb}") == wanted


def test_rows_with_gaps_are_drawn_one_by_one_and_very_many_as_one() -> None:
    few = load(4 * 4096, at=X, argument="x", rows=4, row_bytes=512, row_pitch=4096)
    many = load(100 * 128, at=X, argument="x", rows=100, row_bytes=64, row_pitch=128)
    assert [(one.at, one.end) for one in gm_reaches(with_loads(few))] == [
        (4096 * row, 4096 * row + 512) for row in range(4)
    ]
    assert [(one.at, one.end) for one in gm_reaches(with_loads(many))] == [(0, 12800)]


def test_blocks_that_read_the_same_bytes_share_the_box() -> None:
    axis = gm_access(with_loads(load(8192, at=X, argument="x"), blocks=4)).figure.axes[0]
    stripes = [boxes(axis, f"x block {block} reads")[0] for block in range(4)]
    assert [(low, high) for _, _, low, high in stripes] == [(0, 2), (2, 4), (4, 6), (6, 8)]


def test_how_often_a_byte_is_moved_counts_overlaps_once() -> None:
    def reach(at: int, end: int) -> Reach:
        return Reach("x", 0, 0.0, 1.0, at, end, False)

    assert times_over([]) == 0.0
    assert times_over([reach(0, 10), reach(10, 20)]) == 1.0
    assert times_over([reach(0, 10), reach(5, 15)]) == pytest.approx(20 / 15)
    assert times_over([reach(0, 30), reach(5, 10), reach(0, 30)]) == pytest.approx(65 / 30)


def test_the_text_says_how_often() -> None:
    again = gm_access(with_loads(load(8192, at=X, argument="x"), load(8192, at=X, argument="x", cold=False)))
    assert "x, 65,536 bytes: read 2.00 times over" in again.alt
    assert gm_access(two_tiles(launched=9)).alt == (
        "Modelled access of by hand to global memory on Ascend 910B3: x, 16,384 bytes: read once; "
        "y, 16,384 bytes: written once. Recorded: 2 of 9 blocks."
    )


def test_a_launch_that_touches_nothing_is_refused() -> None:
    profile = with_loads(load(512, at=X, argument="x"))
    nothing = replace(profile, trace=replace(profile.trace, arguments=()))
    with pytest.raises(ArgumentError, match="touch no argument"):
        gm_access(nothing)
