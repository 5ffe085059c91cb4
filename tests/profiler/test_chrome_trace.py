"""The trace file is what the Trace Event Format asks for, and says what the timeline says.

The format: "Trace Event Format" (Google, linked from the catapult repository), JSON object format; Perfetto's page on
Chrome JSON adds that events of one thread may nest and may not overlap.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from picture_support import TILE, two_tiles
from timing_support import trace, vector

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.chrome_trace import chrome_trace, save_chrome_trace
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.timeline import make_timeline

#: Fields of each phase that we use, with their types: those that the format requires, and args.
_REQUIRED = {
    "X": {
        "name": str,
        "cat": str,
        "ph": str,
        "ts": (int, float),
        "dur": (int, float),
        "pid": int,
        "tid": int,
        "args": dict,
    },
    "M": {"name": str, "ph": str, "pid": int, "tid": int, "args": dict},
}
_METADATA = {
    "process_name": "name",
    "thread_name": "name",
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}


def check_format(text: str) -> dict[str, Any]:
    """Raise AssertionError unless the text is a valid trace. Returns it."""
    data = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert set(data) <= {"traceEvents", "displayTimeUnit", "otherData", "systemTraceEvents", "stackFrames", "samples"}
    assert data["displayTimeUnit"] in {"ms", "ns"}
    last: dict[tuple[int, tuple[int, int]], float] = {}
    for event in data["traceEvents"]:
        fields = _REQUIRED[event["ph"]]
        assert set(event) == set(fields)
        for name, kind in fields.items():
            assert isinstance(event[name], kind), event
            assert not isinstance(event[name], bool)
        if event["ph"] == "M":
            assert set(event["args"]) == {_METADATA[event["name"]]}
            continue
        assert event["dur"] >= 0
        track = (event["pid"], event["tid"])
        assert round(event["ts"] * 1000) == pytest.approx(event["ts"] * 1000, abs=1e-6), "whole nanoseconds"
        # No overlap of so much as a bit, in any of three ways to read the numbers: as they are (speedscope), rounded to
        # whole nanoseconds (Perfetto), cut off to whole nanoseconds (older releases of it).
        for viewer, read in enumerate((lambda us: us, lambda us: round(us * 1000.0), lambda us: int(us * 1000.0))):
            start, length = read(event["ts"]), read(event["dur"])
            assert start >= last.get((viewer, track), 0)
            last[viewer, track] = start + length
    return data


def test_the_file_is_valid_and_has_one_track_for_each_pipe_of_each_core() -> None:
    data = check_format(chrome_trace(two_tiles(3)))
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in data["traceEvents"]
        if event["name"] == "thread_name"
    }
    by_core = {pid: [name for (of, _), name in sorted(names.items()) if of == pid] for pid in (1, 2, 3)}
    assert all(sorted(tracks) == ["MTE2", "MTE3", "SCALAR", "VECTOR"] for tracks in by_core.values())
    processes = [event["args"]["name"] for event in data["traceEvents"] if event["name"] == "process_name"]
    assert processes == [f"by hand, block {block} (modelled)" for block in range(3)]
    assert {(event["pid"], event["tid"]) for event in data["traceEvents"]} <= set(names)


def test_each_span_is_a_complete_event_in_microseconds() -> None:
    profile = two_tiles()
    events = [event for event in check_format(chrome_trace(profile))["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(profile.timeline.spans)
    for event, span in zip(events, profile.timeline.spans, strict=True):
        assert (event["name"], event["pid"]) == (span.op, span.block + 1)
        assert event["ts"] == pytest.approx(span.start / 1800, abs=0.0005001)
        # One nanosecond early, and half a one of rounding.
        assert event["ts"] + event["dur"] == pytest.approx(span.end / 1800 - 0.001, abs=0.0005001)
        assert event["args"]["source"] == f"k.cpp:{span.line}"
        assert event["args"].get("bytes", 0) == span.bytes
        assert event["args"].get("stall", "") == span.reason
    loads = [event for event in events if event["cat"] == "MTE2"]
    assert all(event["args"]["bytes"] == TILE for event in loads)
    assert all(event["args"]["data_ready_us"] > event["ts"] + event["dur"] for event in loads)


def test_rounding_never_makes_neighbours_overlap() -> None:
    """A cycle is 0.556 ns: lengths rounded by themselves would overlap in every second pair."""
    made = trace(*(vector("Adds", 1, 0, 256) for _ in range(500)))
    base = two_tiles()
    profile = Profile("dense", 1, make_timeline(made, base.machine), made, base.tally)
    spans = list(profile.timeline.of(0, Pipe.V))
    lengths = [(round(a.start / 1.8), round(a.cycles / 1.8), round(b.start / 1.8)) for a, b in pairwise(spans)]
    assert any(start + length > following for start, length, following in lengths), "the test would show nothing"
    check_format(chrome_trace(profile))


def test_the_text_is_the_same_twice_and_names_no_folder(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    text = chrome_trace(two_tiles(file=str(source)))
    assert text == chrome_trace(two_tiles())
    save_chrome_trace(two_tiles(), tmp_path / "t.json")
    assert (tmp_path / "t.json").read_text(encoding="utf-8") == text


def test_what_a_reader_must_know_is_in_the_file() -> None:
    profile = two_tiles(launched=40)
    about = json.loads(chrome_trace(profile))["otherData"]
    assert about["notes"] == list(profile.notes)
    assert about["machine"] == "Ascend 910B3"
    assert (about["modelled_us"], about["launch_us"]) == (
        profile.microseconds,
        pytest.approx(0.31 + 0.156 * profile.blocks),
    )


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot write"):
        save_chrome_trace(two_tiles(), tmp_path / "missing" / "t.json")
