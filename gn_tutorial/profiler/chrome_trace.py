"""Writes a modelled timeline as Trace Event JSON, which Perfetto, chrome://tracing and MindStudio Insight open.

Each recorded block is a process, each of its pipes a thread, and each instruction a complete event ("ph": "X"). The
pipes have the names of the pipeline chart of msProf's simulator: SCALAR, MTE2, VECTOR, MTE3. Times are in microseconds
since the blocks started, rounded to whole nanoseconds, because Perfetto keeps no more digits. Perfetto also drops
overlapping events of one thread, so each event's end is rounded, not its length. Processes and threads are numbered
from 1, because 0 is the idle process in a trace of an operating system.

Each event ends one nanosecond early. A viewer adds "ts" and "dur" as floating-point numbers, or truncates both to whole
nanoseconds. So an event that begins where another ends might overlap it slightly. Speedscope drew such an event inside
the other one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError, shown
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.span import Span

#: The name of each pipe's track, in the order of the tracks.
TRACKS = {Pipe.S: "SCALAR", Pipe.MTE2: "MTE2", Pipe.V: "VECTOR", Pipe.MTE3: "MTE3"}

#: The gap between the end of an event and the next one of its track.
_GAP_NS = 1


def chrome_trace(profile: Profile) -> str:
    """Return the whole file as text, the same for the same launch on every machine."""
    return "".join(_lines(profile))


def save_chrome_trace(profile: Profile, path: Path | str) -> None:
    """Write the file, one event a line.

    Raises ArgumentError if ``profile`` is not a Profile, or if the file cannot be written.
    """
    if not isinstance(profile, Profile):
        raise ArgumentError(f"a trace needs a profile, not {shown(profile, 60)}", hint="gnt.profile(...)")
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(_lines(profile))
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror or error}", where=str(path)) from error


def _lines(profile: Profile) -> Iterator[str]:
    about = {
        "kernel": profile.kernel,
        "machine": profile.machine.name,
        "modelled_us": profile.microseconds,
        "launch_us": profile.timeline.launch_us,
        "blocks": profile.blocks,
        "notes": list(profile.notes),
    }
    yield f'{{"displayTimeUnit": "ns",\n"otherData": {_json(about)},\n"traceEvents": [\n'
    # A list may not end in a comma, so each entry but the first begins with one.
    comma = ""
    for event in _events(profile):
        yield comma + _json(event)
        comma = ",\n"
    yield "\n]}\n"


def _events(profile: Profile) -> Iterator[dict[str, Any]]:
    for block in sorted(profile.trace.blocks):
        yield _named("process_name", block, 1, {"name": f"{profile.kernel}, block {block} (modelled)"})
        yield _named("process_sort_index", block, 1, {"sort_index": block})
        for index, (pipe, track) in enumerate(TRACKS.items()):
            yield _named("thread_name", block, pipe + 1, {"name": track})
            yield _named("thread_sort_index", block, pipe + 1, {"sort_index": index})
    for span in profile.timeline.spans:
        yield _complete(span, profile)


def _named(what: str, block: int, thread: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": block + 1, "tid": thread, "args": args}


def _complete(span: Span, profile: Profile) -> dict[str, Any]:
    start, end = (round(profile.machine.microseconds(one) * 1000.0) for one in (span.start, span.end))
    args: dict[str, Any] = {"source": f"{Path(span.file).name}:{span.line}", "cycles": round(span.cycles, 2)}
    if span.bytes:
        args["bytes"] = span.bytes
    if span.done > span.end:
        args["data_ready_us"] = round(profile.machine.microseconds(span.done) * 1000.0) / 1000.0
    if span.conflict > 1.0:
        args["bank_conflict"] = round(span.conflict, 3)
    if span.cause:
        args["waited_cycles"], args["stall"] = round(span.waited, 2), span.reason
    return {
        "name": span.op,
        "cat": TRACKS[span.pipe],
        "ph": "X",
        "pid": span.block + 1,
        "tid": span.pipe + 1,
        "ts": start / 1000.0,
        "dur": max(end - start - _GAP_NS, 0) / 1000.0,
        "args": args,
    }


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)
