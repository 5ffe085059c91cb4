"""Draw the access pattern in global memory: when each block reads and writes which address of each argument."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gn_tutorial.abi.trace import Access, Kind, Operand, Space, TracedArgument
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import INK, STYLE, WIDTH, Picture
from gn_tutorial.plot.pipes import of_all
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.intervals import Window, window_of

#: A transfer of more rows is drawn as one box, because its rows would look like a solid box anyway.
_ROWS = 64
#: Arguments of at least this many bytes have an axis in KiB and a taller panel.
_LARGE = 8192


class Reach(NamedTuple):
    """An access of one block to bytes [at, end) of an argument, from ``start`` to ``stop`` (us)."""

    argument: str
    block: int
    start: float
    stop: float
    at: int
    end: int
    writes: bool


def gm_reaches(profile: Profile) -> list[Reach]:
    """Return the accesses of the recorded blocks to arguments in global memory.

    There is a Reach for each row of a transfer and each run of scalars. A transfer of more than 64 rows, or of rows
    without gaps, is one Reach over all rows.
    """
    placed = {one.name: one.address for one in profile.trace.arguments}
    found = []
    for block, events in profile.trace.blocks.items():
        spans = {span.event: span for span in profile.timeline.of(block)}
        for index, event in enumerate(events):
            if event.kind not in (Kind.COPY, Kind.SCALARS) or index not in spans:
                continue
            start, stop = (profile.machine.microseconds(one) for one in (spans[index].start, spans[index].end))
            for operand in event.operands:
                if operand.space is Space.GM and operand.argument in placed:
                    first = operand.at - placed[operand.argument]
                    writes = operand.access is not Access.READ
                    found += [
                        Reach(operand.argument, block, start, stop, first + at, first + end, writes)
                        for at, end in _rows(operand)
                    ]
    return found


def _rows(operand: Operand) -> list[tuple[int, int]]:
    if operand.rows < 2 or operand.rows > _ROWS or operand.row_pitch <= operand.row_bytes or not operand.row_bytes:
        return [(0, operand.bytes)]
    return [(row * operand.row_pitch, row * operand.row_pitch + operand.row_bytes) for row in range(operand.rows)]


def times_over(reaches: list[Reach]) -> float:
    """Return how many times a byte was moved on average: bytes moved divided by distinct bytes; 0 if none moved."""
    moved = sum(one.end - one.at for one in reaches)
    different, last = 0, 0
    for one in sorted(reaches, key=lambda one: one.at):
        different += max(one.end - max(one.at, last), 0)
        last = max(last, one.end)
    return moved / different if different else 0.0


def gm_access(profile: Profile, *, window: tuple[float, float] | None = None) -> Picture:
    """Draw when each block touches which address: time to the right, the address upwards, a panel per argument.

    window: (from, to) in microseconds since the blocks started. Raises ArgumentError for a window that starts after the
    recorded blocks end, unless 0 <= from < to, and if the recorded blocks touch no argument.
    """
    shown = window_of(profile.timeline, None, window)
    reaches = gm_reaches(profile)
    arguments = [one for one in profile.trace.arguments if any(reach.argument == one.name for reach in reaches)]
    if not arguments:
        raise ArgumentError(f"the recorded blocks of {profile.kernel} touch no argument in global memory")
    blocks = sorted(profile.trace.blocks)
    colours = matplotlib.colormaps["cividis"](np.linspace(0.0, 0.9, len(blocks)))
    by_block = dict(zip(blocks, colours, strict=True))
    said = []
    with matplotlib.rc_context(STYLE):
        heights = [1.5 if one.bytes >= _LARGE else 0.9 for one in arguments]
        figure = Figure(figsize=(WIDTH, 1.4 + sum(heights)), layout="constrained")
        panels = figure.subplots(len(arguments), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axis, argument in zip(panels, arguments, strict=True):
            mine = [one for one in reaches if one.argument == argument.name]
            said.append(_draw(axis, argument, mine, by_block, shown))
        panels[-1].set_xlim(shown.start, shown.end)
        panels[-1].set_xlabel(f"microseconds since the blocks started (modelled)\n{of_all(profile)}")
        figure.suptitle(
            f"{profile.kernel}: who touches which address when", x=0.01, ha="left", fontsize=11, fontweight="bold"
        )
        keys = [Patch(facecolor=by_block[block], label=f"block {block}") for block in blocks]
        if any(_both(reaches, one.name) for one in arguments):
            keys.append(Patch(facecolor="white", edgecolor=INK, hatch="////", label="hatched: written"))
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys) if len(keys) <= 8 else 5, frameon=False)
    sampled = f" Recorded: {len(blocks)} of {profile.blocks} blocks." if profile.trace.sampled else ""
    return Picture(
        figure,
        f"Modelled access of {profile.kernel} to global memory on {profile.machine.name}: {'; '.join(said)}.{sampled}",
    )


def _both(reaches: list[Reach], argument: str) -> bool:
    """Whether an argument is both read and written. Only then must the picture distinguish reads from writes."""
    return len({one.writes for one in reaches if one.argument == argument}) == 2


def _draw(
    axis: Axes, argument: TracedArgument, reaches: list[Reach], by_block: dict[int, np.ndarray], shown: Window
) -> str:
    unit, name = (1024.0, "KiB") if argument.bytes >= _LARGE else (1.0, "byte")
    # Draw each access at least about a pixel wide and high, so that small ones are visible.
    thin, low = shown.width / 1000.0, argument.bytes / unit / 120.0
    alike = Counter((one.start, one.at, one.end) for one in reaches)
    before: Counter[tuple[float, int, int]] = Counter()
    for block, colour in by_block.items():
        for writes in (False, True):
            boxes = []
            for one in reaches:
                if one.block != block or one.writes != writes:
                    continue
                key = (one.start, one.at, one.end)
                # Draw stripes if blocks touch the same bytes at the same time: the last box would hide the others.
                height = max((one.end - one.at) / unit, low) / alike[key]
                bottom = one.at / unit + height * before[key]
                before[key] += 1
                stop, top = max(one.stop, one.start + thin), bottom + height
                boxes.append([(one.start, bottom), (stop, bottom), (stop, top), (one.start, top)])
            if boxes:
                hatch = "////" if writes and _both(reaches, argument.name) else ""
                drawn = PolyCollection(boxes, facecolor=colour, edgecolor="white", hatch=hatch, linewidth=0.0)
                drawn.set_gid(f"{argument.name} block {block} {'writes' if writes else 'reads'}")
                axis.add_collection(drawn, autolim=False)
    axis.set_ylim(0.0, max(argument.bytes / unit, 1.0) * 1.02)
    axis.set_ylabel(f"{argument.name}\n{name}")
    axis.spines[["top", "right"]].set_visible(False)
    words = []
    for verb, writes in (("read", False), ("written", True)):
        mine = [one for one in reaches if one.writes == writes]
        if mine:
            over = times_over(mine)
            words.append(f"{verb} {'once' if abs(over - 1.0) < 0.005 else f'{over:.2f} times over'}")
    text = f"{argument.name}, {argument.bytes:,} bytes: {' and '.join(words)}"
    axis.set_title(text, loc="left", fontsize=9)
    return text
