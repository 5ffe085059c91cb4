"""The data of the interactive timeline are the spans of the profile, and its page is one file that asks nobody."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from picture_support import B3, two_tiles
from timing_support import event, trace, vector

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.palette import LOOKS, PIPE_COLOURS
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.timeline_data import FORMAT, timeline_data, timeline_json
from gn_tutorial.profiler.timeline_page import front, save_timeline, timeline_page
from gn_tutorial.timing.timeline import make_timeline


@pytest.mark.parametrize("pipe", LOOKS)
def test_columns_are_the_spans_of_the_pipe(pipe: Pipe) -> None:
    profile = two_tiles()
    (launch,) = timeline_data(profile)["launches"]
    core = launch["cores"][1]
    spans = list(profile.timeline.of(1, pipe))
    assert spans
    columns = core["pipes"][pipe.name]
    assert {len(column) for column in columns.values()} == {len(spans)}
    for at, span in enumerate(spans):
        assert columns["start"][at] == pytest.approx(span.start / 1800, abs=6e-5)
        assert columns["end"][at] == pytest.approx(span.end / 1800, abs=6e-5)
        assert columns["ready"][at] == pytest.approx(max(span.done, span.end) / 1800, abs=6e-5)
        assert launch["places"][columns["place"][at]][:3] == [span.op, "k.cpp", span.line]
        assert columns["bytes"][at] == span.bytes
        cause = columns["cause"][at]
        assert (cause == -1) == (not span.cause)
        if span.cause:
            assert launch["causes"][cause] == [span.cause, Path(span.cause_file).name, span.cause_line]
            assert columns["waited"][at] == pytest.approx(span.waited / 1800, abs=6e-5)
    assert core["busy_us"][pipe.name] == pytest.approx(profile.timeline.busy[1][pipe] / 1800, abs=6e-5)


def test_what_s_is_called_busy_for_is_all_there() -> None:
    """Its own spans and its issues add up to its busy time, and no two overlap."""
    profile = two_tiles()
    core = timeline_data(profile)["launches"][0]["cores"][0]
    parts = [
        (start, end)
        for one in (core["pipes"]["S"], core["issues"])
        for start, end in zip(one["start"], one["end"], strict=True)
    ]
    assert core["issues"]["start"]
    assert sum(end - start for start, end in parts) == pytest.approx(core["busy_us"]["S"], abs=1e-4 * len(parts))
    parts.sort()
    assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(parts))
    issued = (Kind.COPY, Kind.VECTOR, Kind.SET_FLAG, Kind.WAIT_FLAG)
    assert sum(core["issues"]["count"]) == sum(one.kind in issued for one in profile.trace.blocks[0])


def test_it_says_what_the_launch_is() -> None:
    one, two = two_tiles(kernel="before"), two_tiles(3, kernel="after", launched=6)
    data = timeline_data(one, two)
    assert data["format"] == FORMAT
    assert [pipe["colour"] for pipe in data["pipes"]] == list(PIPE_COLOURS.values())
    before, after = data["launches"]
    assert (before["kernel"], after["kernel"]) == ("before", "after")
    assert (after["blocks"], [core["block"] for core in after["cores"]]) == (6, [0, 1, 2])
    assert after["modelled_us"] == pytest.approx(two.microseconds, abs=6e-5)
    assert after["notes"] == list(two.notes)
    assert timeline_json(one, two) == timeline_json(one, two)
    assert json.loads(timeline_json(one, two)) == data
    with pytest.raises(ArgumentError, match="no launch"):
        timeline_data()


def test_a_line_comes_with_its_text_and_its_file_without_its_folder(tmp_path: Path) -> None:
    source = tmp_path / "parts.h"
    source.write_text("// one\n  AscendC::Muls(y, x);  \n")
    made = trace(vector("Muls", 1, 0, 256, line=2)._replace(file=str(source)), vector("Abs", 1, 0, 256, line=9))
    data = timeline_data(_profile(made))
    assert data["launches"][0]["places"] == [
        ["Muls", "parts.h", 2, "AscendC::Muls(y, x);"],
        ["Abs", "k.cpp", 9, ""],
    ]
    assert str(tmp_path) not in json.dumps(data)


def test_issues_of_one_line_are_one_box_and_those_of_another_are_not() -> None:
    flag = event(Kind.SET_FLAG, Pipe.V, op="SetFlag", line=3, flag="V_MTE3", event_id=0)
    profile = _profile(trace(flag, vector("Abs", 1, 0, 256, line=3), vector("Abs", 1, 0, 256, line=4)))
    first, second = profile.timeline.issues
    assert (first.line, first.count, second.line, second.count) == (3, 2, 4, 1)
    assert first.end - first.start == B3.flag + B3.issue
    assert second.end - second.start == B3.issue


def test_the_page_holds_everything_and_asks_nobody(tmp_path: Path) -> None:
    profile = two_tiles(kernel="</script><script>alert(1)</script><!-- & \udcff")
    path = tmp_path / "t.html"
    save_timeline(path, profile)
    page = path.read_text(encoding="utf-8")
    assert page == timeline_page(profile)
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 2
    assert "<!--" not in page
    assert not re.search(r"https?://|\bimport\b.*from|\bfetch\(", page)
    held = re.search(r'id="data">(.*?)</script>', page)
    assert held
    assert json.loads(held[1]) == timeline_data(profile)
    program, style = front()
    assert program in page
    assert style in page


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot write"):
        save_timeline(tmp_path, two_tiles())


def _profile(made: object) -> Profile:
    two = two_tiles()
    return Profile("by hand", 1, make_timeline(made, B3), made, two.tally)
