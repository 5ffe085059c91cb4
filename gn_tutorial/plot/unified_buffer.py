"""Draw Unified Buffer usage over time: the contents of each buffer, and the pipe that accesses it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import of_all, pipe_legend, recorded_block
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.ub_usage import UbUse, ub_use
from gn_tutorial.timing.intervals import Window, window_of
from gn_tutorial.timing.span import in_header, place

_KIB = 1024.0
_HELD = "#dcdcdc"


def ub_map(profile: Profile, *, block: int | None = None, window: tuple[float, float] | None = None) -> Picture:
    """Draw when each buffer of the Unified Buffer is in use: addresses upwards, time to the right.

    A buffer is grey while it is in use, and has a pipe's colour while the pipe reads or writes it.

    block, window: as for ``gantt``. Raises ArgumentError as ``gantt`` does, and for a block that never uses the Unified
    Buffer.
    """
    chosen = recorded_block(profile, block)
    shown = window_of(profile.timeline, chosen, window)
    use = ub_use(profile, chosen)
    if not use.bytes:
        raise ArgumentError(f"block {chosen} of {profile.kernel} does not use the Unified Buffer")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
        axis = figure.subplots()
        _draw(axis, use, shown)
        heading(axis, f"{profile.kernel}: Unified Buffer of block {chosen}", of_all(profile))
        whole = profile.machine.ub_bytes / _KIB
        axis.set_ylabel(f"address, KiB ({use.bytes / _KIB:.4g} of {whole:g} KiB used)")
        axis.set_xlabel(
            "microseconds since the blocks started (modelled)\n"
            "grey: the buffer holds data of the argument named    coloured: that pipe is at it"
            f"{_lines_of(use)}"
        )
        figure.legend(handles=pipe_legend(), loc="outside lower center", ncols=4, frameon=False)
    return Picture(figure, _say(profile, use))


def _draw(axis: Axes, use: UbUse, shown: Window) -> None:
    for buffer in use.buffers:
        step = (buffer.end - buffer.at) / buffer.parts
        for part in range(buffer.parts + 1):
            edge = part in (0, buffer.parts)
            axis.axhline((buffer.at + part * step) / _KIB, color=FAINT, linewidth=0.8 if edge else 0.4, zorder=1)
    _name_buffers(axis, use)
    held = [(one.start, one.stop, one.at, one.end) for one in use.holds]
    _boxes(axis, held, facecolor=_HELD, edgecolor=INK, linewidth=0.5, zorder=2).set_gid("held")
    for pipe, look in LOOKS.items():
        mine = [(one.start, one.stop, one.at, one.end) for one in use.touches if one.pipe is pipe]
        drawn = _boxes(axis, mine, facecolor=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0.0, zorder=3)
        drawn.set_gid(pipe.name)
    for one in use.holds:
        start, stop = max(one.start, shown.start), min(one.stop, shown.end)
        wide = stop - start > shown.width * (0.004 + 0.007 * len(one.what))
        if one.what and wide and (one.end - one.at) * 25 > use.bytes:
            under = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
            middle = (one.at + one.end) / 2 / _KIB
            axis.text(
                (start + stop) / 2, middle, one.what, ha="center", va="center", fontsize=SMALL, bbox=under, zorder=4
            )
    axis.set_xlim(shown.start, shown.end)
    axis.set_ylim(0.0, use.bytes / _KIB)
    axis.spines[["top", "right"]].set_visible(False)


def _lines_of(use: UbUse) -> str:
    """Return the text that explains labels such as L12 (the line of InitBuffer); empty if there are no such labels."""
    own = {Path(buffer.file).name for buffer in use.buffers if not in_header(buffer.file)}
    return f"\nL: the line of InitBuffer in {', '.join(sorted(own))}" if own else ""


def _name_buffers(axis: Axes, use: UbUse) -> None:
    """Write each buffer's name, size and line to the right of the map. Texts of small neighbours are moved apart."""
    least, free = use.bytes / 10.0, 0.0
    for buffer in use.buffers:
        size = (buffer.end - buffer.at) / buffer.parts
        shown = f"{size / _KIB:g} KiB" if size >= _KIB else f"{size:g} B"
        parts = f"{buffer.parts} × " if buffer.parts > 1 else ""
        middle = max((buffer.at + buffer.end) / 2, free + least / 2)
        free = middle + least / 2
        name, size_shown = buffer.name or "buffer", f"{parts}{shown}"
        text = f"{name} (L{buffer.line})\n{size_shown}"
        if in_header(buffer.file):
            text = f"{name}, {size_shown}\n{place(buffer.file, buffer.line)}"
        axis.text(1.02, middle / _KIB, text, va="center", fontsize=SMALL, transform=axis.get_yaxis_transform())
        ends = [(buffer.at + buffer.end) / 2 / _KIB, middle / _KIB]
        axis.plot([1.0, 1.016], ends, color=FAINT, linewidth=0.6, transform=axis.get_yaxis_transform(), clip_on=False)


def _boxes(axis: Axes, boxes: Iterable[tuple[float, float, int, int]], **look: object) -> PolyCollection:
    """Draw boxes (from us, to us, from byte, to byte) as one collection, and return it."""
    corners = [
        [(start, at / _KIB), (stop, at / _KIB), (stop, end / _KIB), (start, end / _KIB)]
        for start, stop, at, end in boxes
    ]
    drawn = PolyCollection(corners, **look)
    axis.add_collection(drawn, autolim=False)
    return drawn


def _say(profile: Profile, use: UbUse) -> str:
    said = []
    for buffer in use.buffers:
        mine = [one for one in use.holds if buffer.at <= one.at and one.end <= buffer.end]
        what = ", ".join(dict.fromkeys(one.what for one in mine if one.what)) or "values of the core's own"
        name = buffer.name or f"the buffer of {place(buffer.file, buffer.line)}"
        filled = f"in use {len(mine)} times, for {what}" if mine else "no use seen"
        said.append(f"{name}, {buffer.parts} × {(buffer.end - buffer.at) // buffer.parts:,} bytes, {filled}")
    pipes = [pipe.name for pipe in Pipe if any(one.pipe is pipe for one in use.touches)]
    return (
        f"Modelled use of the Unified Buffer by block {use.block} of {profile.kernel} on {profile.machine.name}: "
        f"{use.bytes:,} of {int(profile.machine.ub_bytes):,} bytes; {'; '.join(said) or 'no InitBuffer'}. "
        f"Used by {', '.join(pipes)}."
    )
