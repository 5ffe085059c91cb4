"""Makes the JSON that ``timeline.js`` draws: in a notebook, in a file of ``gnt profile --html``, on any other page.

This docstring specifies the format. Times are modelled, in microseconds since the blocks of the launch started.

    format     "gnt-timeline/1"; a reader refuses another one
    pipes      the lanes from top to bottom: {name, does, colour, ink}; ink is the colour of text upon the colour
    launches   one or more, drawn one above the other on one axis of time:
      kernel, machine   names
      blocks            of the launch, of which some are recorded
      modelled_us       the whole launch, with its start and end
      launch_us         the part of modelled_us that start and end take; it is not drawn
      notes             sentences that qualify the numbers
      places            [call, file, line, text of the line ("" if unknown)]; ``place`` below is an index of this list
      causes            [pipe that was waited for ("blocks" after SyncAll), file, line] of waits; file "" and line 0 if
                        they are unknown; see ``cause``
      cores             the recorded blocks, in order:
        block, us         its number; its duration
        busy_us           pipe -> microseconds that it was occupied (S: with issuing)
        pipes             pipe -> columns of equal length, one entry for each instruction, in order of time:
          start, end        when the pipe was occupied by it; no two overlap
          ready             when its result could be used; never before end
          place             an index of ``places``
          bytes             moved between global memory and the core
          waited            how long the pipe was idle before, because of ``cause``
          cause             an index of ``causes``; -1 if it did not wait
          conflict          the factor by which bank conflicts prolonged the processing of its data; 0 or 1: none
        issues            columns start, end, place, count: in this time the scalar unit put ``count`` instructions,
                          flags and waits into the queues of the other pipes; no entry of pipe S overlaps it

The data contain names of files but never their folders.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.timing.span import Issue, Span

if TYPE_CHECKING:  # profile imports NumPy, which a web page does not have (playground/outcome.py)
    from gn_tutorial.profiler.profile import Profile

FORMAT = "gnt-timeline/1"
#: Decimals of a microsecond: a tenth of a nanosecond, a fifth of a cycle.
_DECIMALS = 4
_LONGEST_LINE = 160


class _Table:
    """A table of distinct rows; equal rows share one number."""

    def __init__(self) -> None:
        self.rows: dict[tuple[Any, ...], int] = {}

    def number(self, row: tuple[Any, ...]) -> int:
        return self.rows.setdefault(row, len(self.rows))


class _Sources:
    """The lines of source files, each read once."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def line(self, file: str, number: int) -> str:
        if file not in self._lines:
            try:
                self._lines[file] = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                self._lines[file] = []
        lines = self._lines[file]
        return lines[number - 1].strip()[:_LONGEST_LINE] if 0 < number <= len(lines) else ""


def timeline_data(*profiles: Profile) -> dict[str, Any]:
    """Return the launches in this format. Raises ArgumentError if there is none."""
    if not profiles:
        raise ArgumentError("there is no launch to draw", hint="give one profile or more")
    sources = _Sources()
    pipes = [
        {"name": pipe.name, "does": look.does, "colour": look.colour, "ink": look.ink} for pipe, look in LOOKS.items()
    ]
    return {"format": FORMAT, "pipes": pipes, "launches": [_launch(profile, sources) for profile in profiles]}


def timeline_json(*profiles: Profile) -> str:
    """Return ``timeline_data`` as text, the same for the same launches on every machine."""
    return json.dumps(timeline_data(*profiles), allow_nan=False, separators=(",", ":"))


def _launch(profile: Profile, sources: _Sources) -> dict[str, Any]:
    places, causes = _Table(), _Table()
    cores = [_core(profile, block, places, causes) for block in sorted(profile.trace.blocks)]
    return {
        "kernel": profile.kernel,
        "machine": profile.machine.name,
        "blocks": profile.blocks,
        "modelled_us": _rounded(profile.microseconds),
        "launch_us": _rounded(profile.timeline.launch_us),
        "notes": list(profile.notes),
        "places": [[op, Path(file).name, line, sources.line(file, line)] for op, file, line in places.rows],
        "causes": [[name, Path(file).name, line] for name, file, line in causes.rows],
        "cores": cores,
    }


def _core(profile: Profile, block: int, places: _Table, causes: _Table) -> dict[str, Any]:
    us, timeline = profile.machine.microseconds, profile.timeline
    by_pipe: dict[Pipe, list[Span]] = {pipe: [] for pipe in LOOKS}
    for span in timeline.of(block):
        by_pipe[span.pipe].append(span)
    issues = list(timeline.issues_of(block))
    return {
        "block": block,
        "us": _rounded(us(timeline.block_cycles[block])),
        "busy_us": {pipe.name: _rounded(us(timeline.busy[block][pipe])) for pipe in LOOKS},
        "pipes": {pipe.name: _columns(profile, spans, places, causes) for pipe, spans in by_pipe.items()},
        "issues": {
            "start": _microseconds(profile, [one.start for one in issues]),
            "end": _microseconds(profile, [one.end for one in issues]),
            "place": [_place(one, places) for one in issues],
            "count": [one.count for one in issues],
        },
    }


def _columns(profile: Profile, spans: Sequence[Span], places: _Table, causes: _Table) -> dict[str, list[float]]:
    return {
        "start": _microseconds(profile, [span.start for span in spans]),
        "end": _microseconds(profile, [span.end for span in spans]),
        "ready": _microseconds(profile, [max(span.done, span.end) for span in spans]),
        "place": [_place(span, places) for span in spans],
        "bytes": [span.bytes for span in spans],
        "waited": _microseconds(profile, [span.waited for span in spans]),
        "cause": [
            causes.number((span.cause, span.cause_file, span.cause_line)) if span.cause else -1 for span in spans
        ],
        "conflict": [round(span.conflict, 3) for span in spans],
    }


def _microseconds(profile: Profile, cycles: Sequence[float]) -> list[float]:
    return [_rounded(profile.machine.microseconds(one)) for one in cycles]


def _rounded(us: float) -> float:
    return round(us, _DECIMALS)


def _place(one: Span | Issue, places: _Table) -> int:
    return places.number((one.op, one.file, one.line))
