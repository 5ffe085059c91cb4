"""The map of the Unified Buffer shows what ``ub_use`` found."""

from __future__ import annotations

from pathlib import Path

import pytest
from picture_support import B3, TILE, boxes, texts, two_tiles
from timing_support import event, trace

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.unified_buffer import ub_map
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.ub_usage import ub_use
from gn_tutorial.timing.timeline import make_timeline


def test_holds_and_touches_are_boxes_of_time_and_address() -> None:
    profile = two_tiles()
    use = ub_use(profile, 0)
    (axis,) = ub_map(profile, block=0).figure.axes

    def wanted(found: list) -> list:
        return [tuple(round(one, 9) for one in (b.start, b.stop, b.at / 1024, b.end / 1024)) for b in found]

    assert boxes(axis, "held") == wanted(list(use.holds))
    for pipe in (Pipe.MTE2, Pipe.V, Pipe.MTE3):
        assert boxes(axis, pipe.name) == wanted([one for one in use.touches if one.pipe is pipe])
    assert axis.get_ylim() == (0.0, 3 * TILE / 1024)
    assert "12 of 192 KiB" in axis.get_ylabel()


def test_buffers_have_names_sizes_and_lines(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text("\n\np.InitBuffer(inQueue, 2, n);\np.InitBuffer(outQueue, 1, n);\n")
    picture = ub_map(two_tiles(file=str(source)))
    shown = texts(picture.figure.axes[0])
    assert "inQueue (L3)\n2 × 4 KiB" in shown
    assert "outQueue (L4)\n4 KiB" in shown
    assert {"x", "y"} <= set(shown)
    assert picture.alt == (
        "Modelled use of the Unified Buffer by block 0 of by hand on Ascend 910B3: 12,288 of 196,608 bytes; "
        "inQueue, 2 × 4,096 bytes, in use 2 times, for x; outQueue, 1 × 4,096 bytes, in use 2 times, for y. "
        "Used by V, MTE2, MTE3."
    )


def test_a_block_without_the_unified_buffer_has_no_map() -> None:
    made = trace(event(Kind.BARRIER, Pipe.V))
    with pytest.raises(ArgumentError, match="does not use the Unified Buffer"):
        ub_map(Profile("none", 1, make_timeline(made, B3), made, two_tiles().tally))
