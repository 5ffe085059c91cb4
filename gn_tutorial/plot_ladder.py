"""The ladder of an operator's kernels: how long each step takes, what it gained, and what limits it now."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot import FAINT, INK, STYLE, Picture
from gn_tutorial.plot_pipes import plain_ticks
from gn_tutorial.profile import Profile

_GAINED, _LOST = "#009E73", "#D55E00"


def ladder(profiles: Sequence[Profile]) -> Picture:
    """A waterfall on a logarithmic axis: each step's bar reaches from the time of the step before to its own.

    So a bar's length is a speed-up, and equal lengths are equal speed-ups. A diamond is the step's binding limit, which
    it cannot be faster than. Raises ArgumentError for fewer than two profiles and for different machines.
    """
    if len(profiles) < 2:
        raise ArgumentError(f"a ladder has two steps or more, not {len(profiles)}")
    if len({profile.machine.name for profile in profiles}) > 1:
        raise ArgumentError("one ladder is of one machine", hint="profile all kernels with the same machine=")
    times = [profile.microseconds for profile in profiles]
    floors = [profile.binding.microseconds for profile in profiles]
    said = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 1.5 + 0.62 * len(profiles)), layout="constrained")
        axis = figure.subplots()
        for row, (profile, time, floor) in enumerate(zip(profiles, times, floors, strict=True)):
            before = times[row - 1] if row else time
            low, high = min(before, time), max(before, time)
            slower = time > before
            colour, hatch = (_LOST, "\\\\") if slower else (_GAINED, "//")
            if row:
                bar = axis.barh(row, high - low, left=low, height=0.5, color=colour, hatch=hatch, edgecolor="white")
                bar.patches[0].set_gid(f"step {row}")
                axis.plot([before, before], [row - 1, row], color=FAINT, linewidth=0.8, zorder=1)
            axis.plot([time, time], [row - 0.36, row + 0.36], color=INK, linewidth=2.4, zorder=3)
            axis.plot([floor], [row], marker="D", color="#0072B2", markersize=6, zorder=4, linestyle="none")
            change = _change(before, time) if row else "start"
            words = f"{time:.2f} us   {change}   limit: {profile.binding.name}"
            axis.annotate(words, (high, row), xytext=(8, 0), textcoords="offset points", va="center", fontsize=8)
            said.append(f"{profile.kernel} {time:.2f} us, {change}, limit {profile.binding.name} ({floor:.2f} us)")
        axis.set_xscale("log")
        # The words at the right of the longest bar take the last 45 hundredths.
        least, most = min(*floors, *times), max(times)
        axis.set_xlim(least / 1.3, least / 1.3 * (most / least * 1.5) ** (1.0 / 0.55))
        axis.set_yticks(range(len(profiles)), [f"{row + 1}  {profile.kernel}" for row, profile in enumerate(profiles)])
        axis.set_ylim(len(profiles) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        for set_formatter in (axis.xaxis.set_major_formatter, axis.xaxis.set_minor_formatter):
            set_formatter(plain_ticks)
        axis.set_xlabel(
            "microseconds, modelled, logarithmic: equal lengths are equal speed-ups\n"
            "black line: the step's time    bar: change since the step before    diamond: its binding limit"
        )
        blocks = sorted({profile.blocks for profile in profiles})
        shown = f"{blocks[0]}" if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]}"
        axis.set_title("The ladder, modelled: what each step gained", loc="left", fontsize=11, fontweight="bold")
        axis.set_title(f"{profiles[0].machine.name}, {shown} blocks", loc="right")
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.5)
        axis.set_axisbelow(True)
    whole = times[0] / times[-1]
    return Picture(
        figure,
        f"Modelled times on {profiles[0].machine.name}, step by step: {'; '.join(said)}. From first to last "
        f"{whole:.2f} times faster.",
    )


def _change(before: float, now: float) -> str:
    if f"{before:.2f}" == f"{now:.2f}":
        return "no change"
    return f"{now / before:.2f} × slower" if now > before else f"{before / now:.2f} × faster"
