"""Gantt charts: the pipes of one core, of every recorded core, or of several launches, over the modelled time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import of_all, pipe_legend, recorded_block
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.intervals import BusyInterval, Window, busy_intervals, end_of, window_of
from gn_tutorial.timing.machine import Machine
from gn_tutorial.timing.span import Span, in_header, place

_IDLE = "#e4e4e4"
_DENSE = 100
# Fraction of the axis. A box narrower than this is drawn without an edge.
_NARROW = 1.0 / 300.0
# Width of a letter of 8 points, as a fraction of the axis.
_LETTER = 1.0 / 110.0


def gantt(profile: Profile, *, block: int | None = None, window: tuple[float, float] | None = None) -> Picture:
    """Draw the four pipes of one core: a box for an instruction, a thin bar for data in flight, grey for waiting.

    block: by default the slowest recorded block. window: (from, to) in microseconds since the blocks started; by
    default the whole block. Raises ArgumentError for a block that was not recorded, for a window that starts after the
    block's end, and unless 0 <= from < to.
    """
    chosen = recorded_block(profile, block)
    shown = window_of(profile.timeline, chosen, window)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.1), layout="constrained")
        axis = figure.subplots()
        for lane, pipe in enumerate(LOOKS):
            _draw_lane(axis, profile, chosen, pipe, lane, shown)
        _finish(axis, shown)
        axis.set_yticks(range(len(LOOKS)), [f"{pipe.name}\n{look.does}" for pipe, look in LOOKS.items()])
        axis.set_ylim(len(LOOKS) - 0.45, -0.55)
        heading(axis, f"{profile.kernel}: block {chosen} on its core", of_all(profile))
        axis.set_xlabel(
            "microseconds since the blocks started (modelled)\n"
            f"box: an instruction ({_lines_of(profile, chosen)})    half as high: S issues instructions and flags\n"
            "thin bar: data still under way    light grey: idle, and what it waits for"
        )
    return Picture(figure, _say(profile, chosen, shown))


def gantt_cores(profile: Profile, *, window: tuple[float, float] | None = None) -> Picture:
    """Draw every recorded core as a row with a thin lane for each pipe.

    window: as for ``gantt``; by default up to the end of the last recorded block. Raises ArgumentError for a window
    that starts after that end, and unless 0 <= from < to.
    """
    blocks = sorted(profile.trace.blocks)
    shown = window_of(profile.timeline, None, window)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.5 + max(0.42 * len(blocks), 1.0)), layout="constrained")
        axis = figure.subplots()
        for row, block in enumerate(blocks):
            _draw_core(axis, profile, block, row, shown)
        _finish(axis, shown)
        axis.set_yticks(range(len(blocks)), [f"block {block}" for block in blocks])
        axis.set_ylim(len(blocks) - 0.5, -0.5)
        some = f"{len(blocks)} of {profile.blocks} blocks" if profile.trace.sampled else "every block"
        heading(axis, f"{profile.kernel}: {some}", of_all(profile))
        axis.set_xlabel("microseconds since the blocks started (modelled)    half as high: S issues")
        figure.legend(handles=pipe_legend(), loc="outside lower center", ncols=4, frameon=False)
    lengths = {block: profile.machine.microseconds(profile.timeline.block_cycles[block]) for block in blocks}
    slow, quick = max(blocks, key=lengths.__getitem__), min(blocks, key=lengths.__getitem__)
    longest, least = (f"{lengths[block]:.2f} us" for block in (slow, quick))
    spread = f"block {slow} takes longest, {longest}, block {quick} least, {least}"
    return Picture(
        figure,
        f"Modelled timeline of {profile.kernel} on {profile.machine.name}, {some}, each with the lanes S, MTE2, V and "
        f"MTE3: {spread if longest != least else f'each takes {longest}'}; "
        f"the whole launch takes {profile.microseconds:.2f} us.",
    )


def gantt_launches(*profiles: Profile, window: tuple[float, float] | None = None) -> Picture:
    """Draw the slowest recorded core of several launches, one row each, on one axis of time.

    window: as for ``gantt``; by default up to the end of the longest launch. Raises ArgumentError for no launch, for
    launches on different machines, for a window that starts after the longest launch, and unless 0 <= from < to.
    """
    if not profiles:
        raise ArgumentError("there is no launch to draw", hint="gantt_launches(before, after)")
    if len({profile.machine.name for profile in profiles}) > 1:
        raise ArgumentError(
            "launches on one axis must be on one machine", hint="profile all of them with the same machine="
        )
    blocks = [recorded_block(profile, None) for profile in profiles]
    longest = max(profiles, key=lambda profile: end_of(profile.timeline))
    shown = window_of(longest.timeline, None, window)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.3 + 1.15 * len(profiles)), layout="constrained")
        axis = figure.subplots()
        for row, (profile, block) in enumerate(zip(profiles, blocks, strict=True)):
            _draw_core(axis, profile, block, row, shown, late=True)
        _finish(axis, shown)
        axis.set_yticks(range(len(profiles)), [profile.kernel for profile in profiles])
        axis.set_ylim(len(profiles) - 0.5, -0.5)
        heading(axis, "Launches on one axis of time", f"{longest.machine.name}, the slowest core of each")
        axis.set_xlabel(
            "microseconds since the blocks started (modelled)\n"
            "thin bar: data still under way    half as high: S issues instructions and flags"
        )
        figure.legend(handles=pipe_legend(), loc="outside lower center", ncols=4, frameon=False)
    took = [
        profile.machine.microseconds(profile.timeline.block_cycles[block])
        for profile, block in zip(profiles, blocks, strict=True)
    ]
    said = "; ".join(
        f"{profile.kernel} takes {time:.2f} us, and {profile.microseconds:.2f} us with the launch"
        for profile, time in zip(profiles, took, strict=True)
    )
    return Picture(figure, f"Modelled timelines on {longest.machine.name}, one above the other: {said}.")


def _draw_core(axis: Axes, profile: Profile, block: int, row: int, shown: Window, *, late: bool = False) -> None:
    """Draw one core as a row: a lane for each pipe, and the block's time. late: also draw data still under way."""
    axis.axhspan(row - 0.44, row + 0.44, color="#f4f4f4", zorder=0, linewidth=0)
    for lane, pipe in enumerate(LOOKS):
        boxes = busy_intervals(profile.timeline.of(block, pipe), profile.machine, shown)
        _boxes(axis, boxes, pipe, shown, row - 0.42 + 0.21 * lane, 0.2)
        if pipe is Pipe.S:
            _draw_issues(axis, profile, block, shown, row - 0.37 + 0.21 * lane, 0.1)
        if late:
            _draw_late(axis, boxes, pipe, profile.machine, row - 0.34 + 0.21 * lane, 0.04)
    took = profile.machine.microseconds(profile.timeline.block_cycles[block])
    axis.text(1.005, row, f"{took:.2f} us", va="center", fontsize=SMALL, transform=axis.get_yaxis_transform())


def _draw_lane(axis: Axes, profile: Profile, block: int, pipe: Pipe, lane: int, shown: Window) -> None:
    machine, look = profile.machine, LOOKS[pipe]
    boxes = busy_intervals(profile.timeline.of(block, pipe), machine, shown)
    _boxes(axis, boxes, pipe, shown, lane - 0.34, 0.68)
    if pipe is Pipe.S:
        _draw_issues(axis, profile, block, shown, lane - 0.17, 0.34)
    _draw_late(axis, boxes, pipe, machine, lane - 0.05, 0.1)
    for box in boxes:
        words = (box.first.op, _place(box.first)) if box.count == 1 else (f"{box.count} instructions",)
        # Fill the space behind the letters with the box's own colour, because its hatch would cross them.
        under = {"facecolor": look.colour, "edgecolor": "none", "pad": 1.0}
        _write(axis, words, box.start, box.end, shown, y=lane, va="center", color=look.ink, bbox=under)
        _draw_wait(axis, box.first, lane, shown, machine)
    # An instruction after the window may have waited inside it.
    behind = (span for span in profile.timeline.of(block, pipe) if machine.microseconds(span.start) > shown.end)
    if (following := next(behind, None)) is not None:
        _draw_wait(axis, following, lane, shown, machine)
    busy = machine.microseconds(profile.timeline.busy[block][pipe])
    whole = machine.microseconds(profile.timeline.block_cycles[block])
    share = f"busy {busy:.2f} us\n{busy / whole:.0%} of the block" if whole else "nothing to do"
    axis.text(1.008, lane, share, va="center", fontsize=SMALL, transform=axis.get_yaxis_transform())


def _place(span: Span) -> str:
    """Return a short name of the instruction's source line; with the file's name if the file is a header."""
    return place(span.file, span.line) if in_header(span.file) else f"L{span.line}"


def _boxes(axis: Axes, boxes: list[BusyInterval], pipe: Pipe, shown: Window, low: float, height: float) -> None:
    """Draw the busy intervals of one pipe as one collection, whose ``gid`` names the pipe.

    Narrow intervals are drawn a second time, as another collection.
    """
    look = LOOKS[pipe]
    ranges = [(box.start, box.width) for box in boxes]
    # Edges would hide narrow boxes, and hatches would hide many boxes; the lane shows the pipe without them.
    least = shown.width * _NARROW
    edges = [0.6 if box.width > least and len(boxes) < _DENSE else 0.0 for box in boxes]
    fine = {"hatch": look.hatch} if len(boxes) < _DENSE else {}
    drawn = axis.broken_barh(
        ranges, (low, height), facecolor=look.colour, edgecolor="white", zorder=3, linewidths=edges, **fine
    )
    drawn.set_gid(pipe.name)
    # Draw narrow boxes at least a pixel wide, because they would be pale otherwise.
    narrow = [(box.start, box.width) for box in boxes if box.width <= least]
    axis.broken_barh(narrow, (low, height), facecolor=look.colour, edgecolor=look.colour, linewidth=0.7, zorder=3)


def _draw_issues(axis: Axes, profile: Profile, block: int, shown: Window, low: float, height: float) -> None:
    """Draw the time in which the scalar unit issues instructions to the other pipes."""
    boxes = busy_intervals(profile.timeline.issues_of(block), profile.machine, shown)
    ranges = [(box.start, box.width) for box in boxes]
    drawn = axis.broken_barh(ranges, (low, height), facecolor=LOOKS[Pipe.S].colour, linewidth=0.0, zorder=3)
    drawn.set_gid("S issues")


def _lines_of(profile: Profile, block: int) -> str:
    """Return the text that explains labels such as L12, a line of the kernel's own file."""
    own = {Path(span.file).name for span in profile.timeline.of(block) if not in_header(span.file)}
    return f"L: a line of {min(own)}" if len(own) == 1 else "L: its line"


def _draw_late(axis: Axes, boxes: list[BusyInterval], pipe: Pipe, machine: Machine, low: float, height: float) -> None:
    """Draw a thin bar from the end of each box to the time when its data are ready; none for merged boxes."""
    bars = [(box.end, machine.microseconds(box.first.done) - box.end) for box in boxes if box.count == 1]
    bars = [(start, width) for start, width in bars if width > 0.0]
    if bars:
        axis.broken_barh(bars, (low, height), facecolor=LOOKS[pipe].colour, alpha=0.55, linewidth=0, zorder=2)


def _draw_wait(axis: Axes, span: Span, lane: int, shown: Window, machine: Machine) -> None:
    """Draw the idle time before an instruction, and write its cause if the text fits.

    Draw nothing if the cause is unknown or the time is too short to be seen.
    """
    start, waited = machine.microseconds(span.start), machine.microseconds(span.waited)
    if not span.cause or waited < shown.width / 300.0:
        return
    axis.broken_barh([(start - waited, waited)], (lane - 0.17, 0.34), facecolor=_IDLE, linewidth=0, zorder=1)
    where = f", {place(span.cause_file, span.cause_line)}" if span.cause_line else ""
    words = (f"waits for {span.cause}{where}", f"waits for {span.cause}", f"for {span.cause}")
    _write(axis, words, start - waited, start, shown, y=lane - 0.18, va="bottom", color=INK)


def _write(
    axis: Axes, words: Sequence[str], start: float, end: float, shown: Window, *, y: float, **look: object
) -> None:
    """Write the first of the texts that fits into the visible part between start and end; nothing if none fits."""
    start, end = max(start, shown.start), min(end, shown.end)
    for one in words:
        if (len(one) + 1.5) * _LETTER * shown.width < end - start:
            axis.text((start + end) / 2, y, one, ha="center", fontsize=SMALL, clip_on=True, **look)
            return


def _finish(axis: Axes, shown: Window) -> None:
    axis.set_xlim(shown.start, shown.end)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.5)
    axis.set_axisbelow(True)


def _say(profile: Profile, block: int, shown: Window) -> str:
    machine = profile.machine
    whole = machine.microseconds(profile.timeline.block_cycles[block])
    busy = ", ".join(f"{pipe.name} {machine.microseconds(profile.timeline.busy[block][pipe]):.2f} us" for pipe in LOOKS)
    part = ""
    if (shown.start, shown.end) != (0.0, end_of(profile.timeline, block)):
        part = f" Shown are {shown.start:g} to {shown.end:g} us."
    waits = [span for span in profile.timeline.of(block) if span.cause]
    longest = max(waits, key=lambda span: span.waited, default=None)
    said = f" Longest wait: {longest.reason}." if longest else ""
    return (
        f"Modelled timeline of {profile.kernel} on {machine.name}: the pipes of block {block}, which takes "
        f"{whole:.2f} us; busy: {busy}.{said}{part}"
    )
