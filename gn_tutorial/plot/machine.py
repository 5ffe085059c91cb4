"""Draws the machine and its work: one core, a roofline, the speed-up over cores, and the order of copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, LINES, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.timing.machine import load_machine

_MEMORY = "#f3ead2"


def vector_core() -> Picture:
    """Draw one AI Vector core: two memories, the four pipes, the data paths, and the issue of instructions."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
        _draw_core(figure.subplots())
    return Picture(
        figure,
        "A drawing of one AI Vector core. Global memory, GM, lies outside and is shared by all cores. Inside lies the "
        f"Unified Buffer, UB, {_ub_size()}. MTE2 copies from GM into the UB, the vector unit V reads and writes the "
        "UB, MTE3 copies from the UB to GM. The scalar unit S runs the program, puts instructions into the queues of "
        "the other three, and reads or writes single elements of the UB, or of GM.",
    )


def _ub_size() -> str:
    return f"{load_machine().ub_bytes / 1024:g} KiB"


def _look(pipe: Pipe) -> tuple[str, str]:
    """Return the fill colour and the text colour of a pipe's box."""
    return LOOKS[pipe].colour, LOOKS[pipe].ink


def _draw_core(axis: Axes) -> None:
    axis.set_xlim(0, 10)
    axis.set_ylim(0, 4.3)
    axis.axis("off")
    frame = FancyBboxPatch((2.35, 0.1), 7.5, 4.05, boxstyle="round,pad=0.02", fill=False, linestyle="--", color=FAINT)
    axis.add_patch(frame)
    axis.text(9.75, 3.9, "one AI Vector core", ha="right", fontsize=9, color=FAINT)
    _box(axis, (0.1, 1.15), (1.5, 2.7), "global\nmemory\nGM", _MEMORY, INK, "gigabytes,\nshared by all cores")
    _box(axis, (5.1, 1.15), (1.5, 2.7), "Unified\nBuffer\nUB", _MEMORY, INK, f"{_ub_size()},\nits own")
    _box(axis, (2.8, 2.95), (1.3, 0.8), "MTE2", *_look(Pipe.MTE2), "copies in")
    _box(axis, (2.8, 1.3), (1.3, 0.8), "MTE3", *_look(Pipe.MTE3), "copies out")
    _box(axis, (8.1, 2.1), (1.5, 0.8), "V", *_look(Pipe.V), "256 bytes at once")
    _box(axis, (2.8, 0.25), (6.8, 0.5), "S   runs the program and sends the instructions", *_look(Pipe.S))
    for start, end in (((1.65, 3.35), (2.75, 3.35)), ((4.15, 3.35), (5.05, 3.35)), ((6.65, 2.65), (8.05, 2.65))):
        _arrow(axis, start, end)
    for start, end in (((5.05, 1.7), (4.15, 1.7)), ((2.75, 1.7), (1.65, 1.7)), ((8.05, 2.35), (6.65, 2.35))):
        _arrow(axis, start, end)
    _arrow(axis, (5.85, 0.78), (5.85, 1.12), style="<|-|>")
    axis.plot([2.75, 0.85], [0.38, 0.38], color=INK, linewidth=1.6)
    _arrow(axis, (0.85, 0.36), (0.85, 1.12))
    _arrow(axis, (2.0, 0.38), (2.78, 0.38))
    axis.text(0.98, 0.6, "GetValue,\nSetValue", fontsize=SMALL, va="center", color=FAINT)
    axis.text(6.0, 0.9, "GetValue, SetValue", fontsize=SMALL, va="center", color=FAINT)
    for start, end in (((3.1, 0.78), (3.1, 1.25)), ((2.6, 0.5), (2.6, 3.1)), ((8.85, 0.78), (8.85, 2.05))):
        axis.plot(*zip(start, end, strict=True), color=FAINT, linestyle=":", linewidth=1.2)
    for level in (0.5, 3.1):
        axis.plot([2.6, 2.77], [level, level], color=FAINT, linestyle=":", linewidth=1.2)
    axis.text(9.0, 1.45, "instructions,\nin queues", fontsize=SMALL, va="center", color=FAINT)


def _box(
    axis: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    name: str,
    colour: str,
    ink: str,
    below: str = "",
) -> None:
    edge = FAINT if colour == _MEMORY else "none"
    box = FancyBboxPatch(corner, *size, boxstyle="round,pad=0.03", facecolor=colour, edgecolor=edge, label=name)
    axis.add_patch(box)
    x, y = corner[0] + size[0] / 2, corner[1] + size[1] / 2
    tall = size[1] > 2
    axis.text(x, y + (0.45 if tall else 0.12 if below else 0), name, ha="center", va="center", color=ink, weight="bold")
    axis.text(x, y - (0.75 if tall else 0.2), below, ha="center", va="center", color=ink, fontsize=SMALL)


def _arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float], style: str = "-|>") -> None:
    axis.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": style, "color": INK, "linewidth": 1.6})


@dataclass(frozen=True)
class Ceiling:
    """The name of a part of the machine, and its greatest speed in operations/s."""

    words: str
    rate: float


def bounds_roofline(
    kernels: Mapping[str, tuple[float, str]], ceilings: Mapping[str, Ceiling], bandwidth: float, source: str
) -> Picture:
    """Draw bounds, not times: the operations/s that bandwidth and ceiling allow each kernel, on logarithmic axes.

    kernels: name -> (operations for each byte of global memory, key of its ceiling). bandwidth: bytes/s. source: where
    the figures come from; the title names it. A kernel's point is the lower of its ceiling and of bandwidth times
    operations for each byte. At most four kernels (``LINES``) are drawn; the text has all. Raises ArgumentError for no
    kernel, a number that is not finite or not above zero, and an unknown ceiling.
    """
    numbers = [bandwidth, *(one.rate for one in ceilings.values()), *(one for one, _ in kernels.values())]
    if not kernels or not all(np.isfinite(number) and number > 0 for number in numbers):
        raise ArgumentError("a roofline needs a kernel, and numbers above zero", where="argument kernels")
    if unknown := [key for _, key in kernels.values() if key not in ceilings]:
        raise ArgumentError(f"there is no ceiling '{unknown[0]}'", hint=f"there are {', '.join(ceilings)}")
    points = {
        name: (per_byte, min(per_byte * bandwidth, ceilings[key].rate)) for name, (per_byte, key) in kernels.items()
    }
    with matplotlib.rc_context(STYLE):
        figure = _draw_bounds(points, ceilings, bandwidth, source)
    highest = max(ceiling.rate for ceiling in ceilings.values())
    said = [
        f"{name} {per_byte:.2g} operations for each byte, at most {rate:.2g}"
        for name, (per_byte, rate) in points.items()
    ]
    roofs = [f"{ceiling.words} at {ceiling.rate:.2g}" for ceiling in ceilings.values()]
    return Picture(
        figure,
        f"Roofline, bounds in operations/s on logarithmic axes, from {source}: a slope of {bandwidth / 1e12:.2f} TB/s "
        f"that reaches the highest ceiling at {highest / bandwidth:.1f} operations for each byte; "
        f"{'; '.join([*roofs, *said])}.",
    )


def _draw_bounds(
    points: Mapping[str, tuple[float, float]], ceilings: Mapping[str, Ceiling], bandwidth: float, source: str
) -> Figure:
    figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
    axis = figure.subplots()
    highest = max(ceiling.rate for ceiling in ceilings.values())
    ridge = highest / bandwidth
    left, right = min(0.4 * min(x for x, _ in points.values()), 0.02), ridge * 12
    axis.fill_between([left, ridge, right], [left * bandwidth, highest, highest], 1, color="#f3ead2", zorder=0)
    axis.plot([left, ridge], [left * bandwidth, highest], color=INK, linewidth=1.8)
    axis.text(ridge / 3, highest / 2, f"global memory:\n{bandwidth / 1e12:.2f} TB/s", ha="right", va="bottom")
    for ceiling in ceilings.values():
        top = ceiling.rate == highest
        axis.plot(
            [ridge if top else left, right],
            [ceiling.rate] * 2,
            color=INK if top else FAINT,
            linewidth=1.8 if top else 1.2,
            linestyle="-" if top else "--",
        )
        axis.text(right, ceiling.rate * 1.12, f"{ceiling.words}: {_rate(ceiling.rate)}", ha="right", va="bottom")
    for (name, (per_byte, rate)), (colour, marker) in zip(points.items(), LINES, strict=False):
        axis.plot(per_byte, rate, marker=marker, markersize=9, color=colour, linestyle="none", label=name, zorder=3)
        axis.annotate(
            f"{name}\n{_rate(rate)} at most",
            (per_byte, rate),
            (8, -6),
            textcoords="offset points",
            va="top",
        )
    axis.axvline(ridge, color=FAINT, linewidth=0.8, linestyle=":")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(left, right)
    lowest = min([rate for _, rate in points.values()] + [ceiling.rate for ceiling in ceilings.values()])
    axis.set_ylim(lowest / 6, highest * 4)
    axis.set_xlabel("operations for each byte of global memory")
    axis.set_ylabel("operations/s")
    heading(axis, f"What the machine allows: a bound from {source}")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _rate(value: float) -> str:
    return f"{value / 1e12:.1f} TFLOP/s" if value >= 1e12 else f"{value / 1e9:.0f} GFLOP/s"


def core_balance(speedups: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the speed-up over one core against the number of cores, as one staircase for each launch.

    speedups: name -> the speed-up with 1, 2, 3, ... cores, if all pieces of work take the same time. The
    dashed line is the ideal: the speed-up equals the number of cores. Raises ArgumentError unless there are 1 to 4
    launches with equally many speed-ups, two or more.
    """
    lines = {name: np.asarray(values, dtype=np.float64) for name, values in speedups.items()}
    lengths = {values.size for values in lines.values()}
    if len(lengths) != 1 or min(lengths) < 2 or len(lines) > len(LINES):
        raise ArgumentError(f"1 to {len(LINES)} lines of the same length are needed", where="argument speedups")
    cores = np.arange(1, lengths.pop() + 1)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
        axis = figure.subplots()
        axis.plot(cores, cores, color=FAINT, linestyle="--", linewidth=1.0)
        for (name, values), (colour, marker) in zip(lines.items(), LINES, strict=False):
            axis.plot(
                cores,
                values,
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1.0,
                label=name,
                drawstyle="steps-mid",
            )
        axis.set_xlabel("number of cores")
        axis.set_ylabel("speed-up over one core, all groups equally long")
        axis.set_xlim(0, cores[-1] + 1)
        axis.set_ylim(0, cores[-1] + 1)
        title = "A core more helps only where the busiest core gets less to do"
        heading(axis, title)
        axis.legend(loc="upper left", frameon=False, title="dashed: one for each core")
        axis.spines[["top", "right"]].set_visible(False)
    said = [f"{name}: {values[-1]:.3g} on {cores[-1]} cores" for name, values in lines.items()]
    return Picture(
        figure,
        f"Speed-up over one core against 1 to {cores[-1]} cores, counted in groups and not measured; staircases "
        f"below the dashed line of one for each core: {', '.join(said)}.",
    )


def copy_order(copies: Sequence[tuple[str, int, int]], bounds: Sequence[int]) -> Picture:
    """Draw the order in which a block copies an array: a box for each copy, from left to right, over its elements.

    copies: ("in" or "out", first element, number of elements), in the order of the kernel. bounds: the elements where a
    group begins, and the end of the last group. Raises ArgumentError for a copy of another kind, or for no copy.
    """
    if not copies or any(kind not in ("in", "out") for kind, _, _ in copies):
        raise ArgumentError(
            "one copy or more is needed, each as ('in' or 'out', first, count)", where="argument copies"
        )
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
        axis = figure.subplots()
        for bound in bounds:
            axis.axhline(bound, color=FAINT, linewidth=0.8, linestyle=":")
        for kind, colour, hatch, label in (
            ("in", LOOKS[Pipe.MTE2].colour, LOOKS[Pipe.MTE2].hatch, "MTE2: copied in"),
            ("out", LOOKS[Pipe.MTE3].colour, LOOKS[Pipe.MTE3].hatch, "MTE3: copied out"),
        ):
            mine = [(place, first, count) for place, (one, first, count) in enumerate(copies) if one == kind]
            if mine:
                places, firsts, counts = zip(*mine, strict=True)
                looks = {"color": colour, "edgecolor": "white", "hatch": hatch, "label": label}
                axis.bar(places, counts, width=0.85, bottom=firsts, **looks)
        axis.set_xlabel("copy, in the order of the kernel")
        axis.set_ylabel("element of x or y")
        axis.yaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
        axis.set_yticks(list(bounds))
        heading(axis, "The order in which one block goes through global memory")
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    moved = {kind: sum(count for one, _, count in copies if one == kind) for kind in ("in", "out")}
    kinds, groups = [kind for kind, _, _ in copies], len(bounds) - 1
    times = moved["in"] / max(bounds[-1] - bounds[0], 1)
    return Picture(
        figure,
        f"{len(copies)} copies of one block in their order, {kinds.count('in')} in and {kinds.count('out')} out, "
        f"over {groups} group{'s' * (groups > 1)} that end at element {bounds[-1]:,}: {moved['in']:,} elements go "
        f"in and {moved['out']:,} out, so that each element is read {times:.3g} times.",
    )
