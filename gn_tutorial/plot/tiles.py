"""Draw one launch with many tile sizes: its copies, their bytes, and its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.abi.trace import LINE_BYTES, Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import plain_logarithm
from gn_tutorial.profiler.palette import CHOSEN, PIPE_COLOURS, TOTAL
from gn_tutorial.profiler.profile import Profile

# A pipe's line has the pipe's colour. Each line of a panel also has a marker of its own.
_IN, _OUT, _WHOLE, _CHOSEN = PIPE_COLOURS[Pipe.MTE2], PIPE_COLOURS[Pipe.MTE3], TOTAL, CHOSEN


def tile_stairs(launches: Mapping[int, Profile], *, elements: int, chosen: int = 0) -> Picture:
    """Draw the number of copies, the bytes read per element, and the modelled time against tile size, in three panels.

    launches: a profile for each tile size, of one kernel on one shape. elements: number of elements of the input.
    chosen: a tile size to mark; 0 for none. Two curves show bytes: those that the copies ask for, and those of the
    whole cache lines that the L2 cache delivers. Raises ArgumentError for fewer than two launches.
    """
    if len(launches) < 2:
        raise ArgumentError(f"stairs need two tile sizes or more, not {len(launches)}")
    tiles = sorted(launches)
    runs = [launches[tile] for tile in tiles]
    whole = [_whole_lines(run) / elements for run in runs]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 7.6), layout="constrained")
        copies, traffic, time = figure.subplots(3, 1, sharex=True)
        _line(copies, "copies in", tiles, [run.tally.mte2 for run in runs], _IN, "o", "steps-post")
        _line(copies, "copies out", tiles, [run.tally.mte3 for run in runs], _OUT, "s", "steps-post")
        _line(traffic, f"handed out in whole lines of {LINE_BYTES} bytes", tiles, whole, _WHOLE, "^")
        _line(traffic, "asked for by the copies", tiles, [run.tally.bytes_in / elements for run in runs], _IN, "o")
        _line(time, "modelled time", tiles, [run.microseconds for run in runs], INK, "D")
        copies.set_ylabel("copies, logarithmic")
        traffic.set_ylabel("bytes in for each element")
        traffic.set_ylim(0.0, 1.15 * max(whole))
        time.set_ylabel("microseconds (modelled),\nlogarithmic")
        for axis in (copies, time):
            axis.set_yscale("log")
            plain_logarithm(axis.yaxis)
        for axis in (copies, traffic, time):
            if chosen:
                axis.axvline(chosen, color=_CHOSEN, linewidth=1.6, zorder=1)
            axis.legend(loc="upper right", facecolor="white", edgecolor="none", framealpha=0.9)
            axis.grid(color=FAINT, alpha=0.25, linewidth=0.5)
            axis.spines[["top", "right"]].set_visible(False)
        time.set_xscale("log", base=2)
        powers = [2**power for power in range(32) if tiles[0] <= 2**power <= tiles[-1]] or tiles
        time.set_xticks(powers, [f"{tick:,}" for tick in powers])
        time.set_xticks([], minor=True)
        note = f"\nvertical line: {chosen:,}, the host function's choice" if chosen else ""
        time.set_xlabel(f"elements of a tile, logarithmic{note}")
        heading(copies, f"{runs[0].kernel}: one launch, {len(runs)} tile sizes", f"{runs[0].machine.name}, modelled")
    return Picture(figure, _say(launches, elements))


def _line(
    axis: Axes,
    name: str,
    tiles: Sequence[int],
    values: Sequence[float],
    colour: str,
    marker: str,
    drawstyle: str = "default",
) -> None:
    axis.plot(
        tiles, values, color=colour, marker=marker, markersize=3.5, linewidth=1.3, drawstyle=drawstyle, label=name,
        gid=name.split(" of ")[0], zorder=3,
    )  # fmt: skip


def _whole_lines(run: Profile) -> float:
    """Return the bytes of the cache lines that the launch read, from HBM or L2."""
    return float(run.timeline.traffic.l2_read)


def _say(launches: Mapping[int, Profile], elements: int) -> str:
    first, last = min(launches), max(launches)
    run = launches[first]
    parts = "; ".join(_one(tile, launches[tile], elements) for tile in (first, last))
    return f"Modelled launches of {run.kernel} on {run.machine.name} with {len(launches)} tile sizes. {parts}."


def _one(tile: int, run: Profile, elements: int) -> str:
    return (
        f"A tile of {tile:,}: {run.tally.mte2:,} copies in and {run.tally.mte3:,} out, "
        f"{run.tally.bytes_in / elements:.2f} bytes asked for and {_whole_lines(run) / elements:.2f} handed out for "
        f"each element, {run.microseconds:.2f} us"
    )
