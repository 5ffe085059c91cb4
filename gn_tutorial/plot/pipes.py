"""Shared parts of a profile's pictures: the pipes' legend, the choice of a block, the facts below a title, ticks."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.palette import LOOKS
from gn_tutorial.profiler.profile import Profile


def pipe_legend() -> list[Patch]:
    """Return the entries of the legend, one for each pipe."""
    return [
        Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", label=f"{pipe.name}: {look.does}")
        for pipe, look in LOOKS.items()
    ]


def recorded_block(profile: Profile, block: int | None) -> int:
    """Return the block to draw: ``block``, or for None the slowest recorded one.

    Raises ArgumentError if ``block`` was not recorded.
    """
    lengths = profile.timeline.block_cycles
    if block is None:
        return max(lengths, key=lengths.__getitem__)
    if block not in lengths:
        raise ArgumentError(
            f"block {block} was not recorded", hint=f"recorded: {', '.join(map(str, sorted(profile.trace.blocks)))}"
        )
    return block


def of_all(profile: Profile) -> str:
    """Return the facts of the launch for a title: machine, blocks, modelled time."""
    blocks = f"{profile.blocks} block" + ("s" if profile.blocks > 1 else "")
    launch = profile.timeline.launch_us
    return f"{profile.machine.name}, {blocks}: {profile.microseconds:.2f} us modelled, {launch:.2f} us of them launch"


def plain_ticks(value: float, _position: int) -> str:
    """Return a tick's label, such as 20, not 2 × 10¹; empty unless its first digit is 1, 2 or 5."""
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def plain_logarithm(axis: Axis, most: float = 200.0) -> None:
    """Apply ``plain_ticks`` to a logarithmic axis whose limits are set.

    most: if the ratio of the limits is at least ``most``, only powers of ten are labelled, because other numbers would
    overlap.
    """
    low, high = axis.get_view_interval()
    axis.set_major_formatter(plain_ticks)
    axis.set_minor_formatter(plain_ticks if high / low < most else NullFormatter())


def end_axis(axis: Axes, most: float) -> None:
    """End the ticks of the x axis at ``most``, because beyond it there is only space for text, and no data."""
    low, high = axis.get_xlim()
    for minor in (False, True):
        axis.set_xticks([tick for tick in axis.get_xticks(minor=minor) if low <= tick <= most], minor=minor)
    axis.set_xlim(low, high)
    axis.spines["bottom"].set_bounds(low, most)
