"""Draws a small Gantt chart as SVG, without Matplotlib. Jupyter shows it below the table of a Profile."""

from __future__ import annotations

from html import escape
from pathlib import Path

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.profiler.palette import PIPE_COLOURS
from gn_tutorial.timing.intervals import Window, busy_intervals, window_of
from gn_tutorial.timing.timeline import Timeline

_WIDTH, _LEFT, _LANE = 640.0, 48.0, 16.0
_PARTS = 150  # boxes below 1/150 of the width are merged, so that the SVG in a notebook stays below 100 kB


def svg_gantt(timeline: Timeline) -> str:
    """Return an SVG of the pipes of the slowest recorded block, with a tooltip on each box and a text alternative."""
    block = max(timeline.block_cycles, key=timeline.block_cycles.__getitem__)
    shown = window_of(timeline, block, None)
    scale = (_WIDTH - _LEFT) / shown.width
    names, parts, said = [], [], []
    for lane, (pipe, colour) in enumerate(PIPE_COLOURS.items()):
        top = 18.0 + lane * (_LANE + 4.0)
        names.append(f'<text x="0" y="{top + 12:g}" font-size="11" fill="currentColor">{pipe.name}</text>')
        for one in busy_intervals(timeline.of(block, pipe), timeline.machine, shown, parts=_PARTS):
            words = one.first.op if one.count == 1 else f"{one.count} instructions"
            where = f"{Path(one.first.file).name}:{one.first.line}, {one.start:.2f} to {one.end:.2f} us"
            tip = escape(f"{words}, {where}. {one.first.reason}".strip())
            box = f'x="{_LEFT + one.start * scale:.2f}" y="{top:g}" width="{max(one.width * scale, 0.4):.2f}"'
            parts.append(f'<rect {box} height="{_LANE:g}" fill="{colour}"><title>{tip}</title></rect>')
        if pipe is Pipe.S:
            parts += _issues(timeline, block, shown, top + _LANE / 4.0, scale)
        busy = timeline.machine.microseconds(timeline.busy[block][pipe])
        said.append(f"{pipe.name} {busy:.2f} us")
    took = timeline.machine.microseconds(timeline.block_cycles[block])
    title = f"block {block}, modelled: {took:.2f} us; busy: {', '.join(said)}"
    height = 18.0 + len(PIPE_COLOURS) * (_LANE + 4.0)
    return (
        f'<svg role="img" aria-label="{escape(title)}" width="{_WIDTH:g}" height="{height:g}" '
        # A minimum width, because in a narrower picture the letters would shrink. The page scrolls instead.
        f'viewBox="0 0 {_WIDTH:g} {height:g}" style="min-width:{_WIDTH:g}px" font-family="sans-serif">'
        f'<text x="{_LEFT:g}" y="11" font-size="11" fill="currentColor">{escape(title)}</text>{"".join(names)}'
        # An outline in the text colour: no pipe's colour has enough contrast on both a light and a dark page.
        f'<g stroke="currentColor" stroke-opacity="0.4" stroke-width="0.5">{"".join(parts)}</g></svg>'
    )


def _issues(timeline: Timeline, block: int, shown: Window, top: float, scale: float) -> list[str]:
    """Return boxes of half height for the time in which the scalar unit issues instructions to the other pipes."""
    found = busy_intervals(timeline.issues_of(block), timeline.machine, shown, parts=_PARTS)
    return [
        f'<rect x="{_LEFT + one.start * scale:.2f}" y="{top:g}" width="{max(one.width * scale, 0.4):.2f}" '
        f'height="{_LANE / 2.0:g}" fill="{PIPE_COLOURS[Pipe.S]}"><title>S issues to the other pipes, '
        f"{one.start:.2f} to {one.end:.2f} us</title></rect>"
        for one in found
    ]
