"""Draw a fused launch beside the launches that it replaces: their times, and the busy time of each pipe."""

from __future__ import annotations

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.profiler.bench.fusion_gain import FusionGain
from gn_tutorial.profiler.palette import FASTER, LOOKS, TOTAL
from gn_tutorial.profiler.profile import Profile

#: The greys of the parts, dark and light in turn, so that neighbours differ.
_SHADES = (TOTAL, "#a8a8a8")


def fusion(gain: FusionGain) -> Picture:
    """Draw the parts and the fused launch: above, their modelled times; below, the busy time of each pipe.

    The hatched part of a bar is the time to start and end a launch; fusion saves all but one of these. The busy times
    are those of the recorded block that took longest; those of the parts are summed. If a pipe's bar is not shorter in
    the fused launch, the fusion does not reduce that pipe's work.
    """
    before, after = gain.microseconds
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=(1.0, 1.5))
        _times(above, gain)
        rows = _pipes(below, gain)
        above.set_xlim(0, max(before, after) * 1.02)
        heading(above, f"{gain.operator}: {gain.speed_up:.2f} times as fast, modelled", _facts(gain))
    parts = " and ".join(f"{one.kernel} {one.microseconds:.2f} us" for one in gain.parts)
    starts = ", ".join(f"{one.timeline.launch_us:.2f} us" for one in (*gain.parts, gain.fused))
    pipes = "; ".join(f"{pipe.name} {one:.2f} us before, {two:.2f} fused" for pipe, one, two in rows)
    return Picture(
        figure,
        f"Modelled on {gain.fused.machine.name}: {parts}, together {before:.2f} us; "
        f"{gain.fused.kernel} {after:.2f} us. Of these, start and end of the launches: {starts}. "
        f"Bytes moved: {gain.bytes[0]:,} and {gain.bytes[1]:,}. Busy pipes of one core: {pipes}.",
    )


def _facts(gain: FusionGain) -> str:
    before, after = gain.bytes
    return f"{gain.fused.machine.name}, {before / 1e6:.3g} MB moved before, {after / 1e6:.3g} MB fused"


def _times(axis: Axes, gain: FusionGain) -> None:
    left = 0.0
    for place, one in enumerate(gain.parts):
        _bar(axis, 0, left, one, _SHADES[place % 2])
        left += one.microseconds
    _bar(axis, 1, 0.0, gain.fused, FASTER)
    axis.set_yticks([0, 1], [f"{len(gain.parts)} launches", "fused"])
    axis.set_ylim(1.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("microseconds, modelled: one launch after the other; hatched: its start and end")
    axis.spines[["top", "right", "left"]].set_visible(False)


def _bar(axis: Axes, row: int, left: float, one: Profile, colour: str) -> None:
    bar = axis.barh(row, one.microseconds, left=left, height=0.62, color=colour, edgecolor="white")
    bar.patches[0].set_gid(one.kernel)
    look = {"color": "none", "edgecolor": "white", "hatch": "///", "linewidth": 0, "alpha": 0.45}
    start = axis.barh(row, one.timeline.launch_us, left=left, height=0.62, **look)
    start.patches[0].set_gid(f"start of {one.kernel}")
    ink = "white" if colour in (TOTAL, FASTER) else "black"
    words = f"{one.kernel}\n{one.microseconds:.2f} us"
    back = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}  # no hatch behind the words
    axis.text(left + one.microseconds / 2, row, words, ha="center", va="center", fontsize=SMALL, color=ink, bbox=back)


def _pipes(axis: Axes, gain: FusionGain) -> list[tuple[Pipe, float, float]]:
    """Draw a pair of bars for each pipe; return (pipe, busy before, busy fused) for each."""
    rows = [(pipe, sum(one.busy[pipe] for one in gain.parts), gain.fused.busy[pipe]) for pipe in LOOKS]
    for place, (pipe, before, after) in enumerate(rows):
        look = LOOKS[pipe]
        for offset, time, words in ((-0.2, before, "launches"), (0.2, after, "fused")):
            kind = (
                {"color": look.colour, "hatch": look.hatch} if offset > 0 else {"color": "white", "hatch": look.hatch}
            )
            axis.barh(place + offset, time, height=0.34, edgecolor=look.colour, **kind)
            axis.annotate(
                f"{time:.2f} us {words}", (time, place + offset), xytext=(5, 0), textcoords="offset points",
                va="center", fontsize=SMALL, color=INK,
            )  # fmt: skip
    axis.set_yticks(range(len(rows)), [pipe.name for pipe, _, _ in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlim(0, max(max(before, after) for _, before, after in rows) * 1.3)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("microseconds that a pipe of one core works: outlined before, filled fused")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.5)
    axis.set_axisbelow(True)
    return rows
