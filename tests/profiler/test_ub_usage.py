"""The contents of each buffer over time, for a launch calculated by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from picture_support import B3, MIDDLE, TILE, two_tiles
from timing_support import trace, vector

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.ub_usage import ub_use
from gn_tutorial.timing.timeline import make_timeline


def test_a_buffer_is_held_from_its_first_use_to_its_last_before_it_is_given_back() -> None:
    profile = two_tiles()
    use = ub_use(profile, 0)
    pipes = {pipe: list(profile.timeline.of(0, pipe)) for pipe in (Pipe.MTE2, Pipe.V, Pipe.MTE3)}
    wanted = []
    for tile in range(2):
        wanted.append((tile * TILE, pipes[Pipe.MTE2][tile].start, pipes[Pipe.V][tile].done, "x", True))
    for tile in range(2):
        wanted.append((MIDDLE, pipes[Pipe.V][tile].start, pipes[Pipe.MTE3][tile].done, "y", False))
    found = [(one.at, one.start * 1800, one.stop * 1800, one.what, one.from_gm) for one in use.holds]
    for got, want in zip(found, wanted, strict=True):
        assert got == (want[0], pytest.approx(want[1]), pytest.approx(want[2]), *want[3:])
    assert use.bytes == MIDDLE + TILE


def test_a_queue_of_two_buffers_is_one_call_with_two_parts() -> None:
    x, y = ub_use(two_tiles(), 0).buffers
    assert (x.line, x.at, x.end, x.parts) == (3, 0, 2 * TILE, 2)
    assert (y.line, y.at, y.end, y.parts) == (4, MIDDLE, MIDDLE + TILE, 1)


def test_names_come_from_the_source_if_it_is_there(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text("\n\npipe_->InitBuffer(xQueue_, 2, 4096);\n  pipe.InitBuffer(\n      this->y, 4096);\n")
    assert [one.name for one in ub_use(two_tiles(file=str(source)), 0).buffers] == ["xQueue_", "this->y"]
    assert [one.name for one in ub_use(two_tiles(), 0).buffers] == ["", ""]


def test_each_access_is_a_touch_of_its_pipe() -> None:
    use = ub_use(two_tiles(), 1)
    touched = [(one.pipe, one.at, one.end, one.writes) for one in use.touches if one.pipe is Pipe.V]
    assert touched[:2] == [(Pipe.V, MIDDLE, MIDDLE + TILE, True), (Pipe.V, 0, TILE, False)]
    assert len(use.touches) == 8


def test_memory_without_init_buffer_is_in_use_too() -> None:
    made = trace(vector("Adds", 2, 4096, 0))
    use = ub_use(Profile("raw", 1, make_timeline(made, B3), made, two_tiles().tally), 0)
    assert use.buffers == use.holds == ()
    assert use.bytes == 4096 + 512
