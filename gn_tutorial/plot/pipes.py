"""What the pictures of a profile share: the legend of the pipes, which block is drawn, what a title says."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.profiler.profile import Profile


def pipe_legend() -> list[Patch]:
    """One entry for each pipe."""
    return [
        Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", label=f"{pipe.name}: {look.does}")
        for pipe, look in LOOKS.items()
    ]


def recorded_block(profile: Profile, block: int | None) -> int:
    """The block to draw: the one asked for, or the one that took longest. Raises ArgumentError if it has no record."""
    lengths = profile.timeline.block_cycles
    if block is None:
        return max(lengths, key=lengths.__getitem__)
    if block not in lengths:
        raise ArgumentError(
            f"block {block} was not recorded", hint=f"recorded: {', '.join(map(str, sorted(profile.trace.blocks)))}"
        )
    return block


def of_all(profile: Profile) -> str:
    """What a title says about the launch: machine, blocks, modelled time."""
    blocks = f"{profile.blocks} block" + ("s" if profile.blocks > 1 else "")
    launch = profile.timeline.launch_us
    return f"{profile.machine.name}, {blocks}: {profile.microseconds:.2f} us modelled, {launch:.2f} us of them launch"


def plain_ticks(value: float, _position: int) -> str:
    """20 rather than 2 × 10¹; of the marks between two powers of ten only 2 and 5 have room for a number."""
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def plain_logarithm(axis: Axis, most: float = 200.0) -> None:
    """``plain_ticks`` on a logarithmic axis whose limits are set.

    most: if the last value is more times the first, numbers between the powers of ten would overlap and are left out.
    """
    low, high = axis.get_view_interval()
    axis.set_major_formatter(plain_ticks)
    axis.set_minor_formatter(plain_ticks if high / low < most else NullFormatter())


def end_axis(axis: Axes, most: float) -> None:
    """End the axis of x at this value: room that words need beyond it has no marks, as if data could lie there."""
    low, high = axis.get_xlim()
    for minor in (False, True):
        axis.set_xticks([tick for tick in axis.get_xticks(minor=minor) if low <= tick <= most], minor=minor)
    axis.set_xlim(low, high)
    axis.spines["bottom"].set_bounds(low, most)
