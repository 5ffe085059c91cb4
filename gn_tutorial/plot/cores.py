"""Draws modelled time against the number of cores, with the ideal time and the time that more cores cannot shorten."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import plain_ticks
from gn_tutorial.profiler.palette import BOUND, TOTAL
from gn_tutorial.profiler.profile import Profile


def time_against_cores(profiles: Sequence[Profile]) -> Picture:
    """Draw one kernel's modelled time against its number of blocks, the ideal time, and the time of launch and memory.

    In the ideal time, the cores divide the work evenly. More cores cannot shorten the time of launch and memory. Both
    axes are logarithmic.

    profiles: of one kernel on one machine, each with a different number of blocks, in any order. Raises ArgumentError
    for fewer than two profiles, two equal numbers of blocks, or different kernels or machines.
    """
    ordered = sorted(profiles, key=lambda profile: profile.blocks)
    blocks = [profile.blocks for profile in ordered]
    if len(set(blocks)) < 2 or len(set(blocks)) < len(blocks):
        raise ArgumentError(f"profiles with different numbers of blocks are needed, not {blocks}")
    if len({(profile.kernel, profile.machine.name) for profile in ordered}) > 1:
        raise ArgumentError("all profiles must be of one kernel on one machine")
    first = ordered[0]
    machine = first.machine
    times = [profile.microseconds for profile in ordered]
    cores = [min(number, machine.cores) for number in blocks]
    work = times[0] - first.timeline.launch_us
    ideal = [machine.launch(core) + work * cores[0] / core for core in cores]
    floor = [profile.timeline.launch_us + machine.microseconds(profile.timeline.memory_cycles) for profile in ordered]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
        axis = figure.subplots()
        axis.plot(blocks, times, color=TOTAL, marker="o", markersize=5, linewidth=1.8, label="modelled time")
        axis.plot(blocks, ideal, color=INK, linestyle="--", label="if every core helped equally", zorder=3)
        axis.plot(blocks, floor, color=BOUND, linestyle=":", linewidth=1.8, label="launch and memory alone")
        binding = ""
        for number, time, profile in zip(blocks, times, ordered, strict=True):
            # Label the limit only where it changes, because there is no space to repeat it.
            words = f"{time:.1f} us" + (f"\n{profile.binding.name}" if profile.binding.name != binding else "")
            binding = profile.binding.name
            axis.annotate(words, (number, time), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=SMALL)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xticks(blocks, [str(number) for number in blocks], minor=False)
        axis.set_xticks([], minor=True)
        axis.set_ylim(min(*floor, *ideal) / 1.5, max(times) * 2.2)
        for set_formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
            set_formatter(plain_ticks)
        axis.set_xlabel("blocks of the launch" + ("" if blocks[-1] <= machine.cores else f" ({machine.cores} cores)"))
        axis.set_ylabel("microseconds (modelled)")
        facts = f"{machine.name}; below a time: the binding limit from there on"
        heading(axis, f"{first.kernel}: time against the number of cores", facts)
        axis.legend(loc="upper right", frameon=False)
        axis.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        axis.spines[["top", "right"]].set_visible(False)
    quickest = int(np.argmin(times))
    said = "; ".join(
        f"{number} block{'s' * (number > 1)} {time:.2f} us" for number, time in zip(blocks, times, strict=True)
    )
    return Picture(
        figure,
        f"Modelled time of {first.kernel} on {machine.name}: {said}. Quickest on {blocks[quickest]} blocks, "
        f"{times[0] / times[quickest]:.2f} times as fast as on {blocks[0]}; its limit there: "
        f"{ordered[quickest].binding.name}.",
    )
