"""Draws the ladder of an operator's kernels: the time of each step, its gain, and its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import end_axis, plain_logarithm
from gn_tutorial.profiler.bench.run import Bench, rows_that_ran
from gn_tutorial.profiler.palette import BOUND, FASTER, SLOWER
from gn_tutorial.profiler.profile import Profile


class Rung(NamedTuple):
    """One step of a ladder. Times are modelled, in us. limit: the name of the binding limit."""

    kernel: str
    microseconds: float
    limit: str
    limit_us: float
    machine: str
    blocks: int


def ladder(profiles: Sequence[Profile]) -> Picture:
    """Draw the ladder of these profiles, in their order; see ``draw``."""
    return draw(
        [
            Rung(one.kernel, one.microseconds, one.binding.name, one.binding.microseconds, one.machine.name, one.blocks)
            for one in profiles
        ]
    )


def ladder_of(bench: Bench, case: str) -> Picture:
    """Draw the ladder of one shape of a bench from its rows; nothing runs again.

    case: one of ``bench.cases``. Raises ArgumentError for an unknown one, and if fewer than two kernels ran.
    """
    if case not in bench.cases:
        raise ArgumentError(f"the bench has no shape '{case}'", hint=f"one of: {'; '.join(bench.cases)}")
    rows = [row for row in rows_that_ran(bench.rows) if row.case == case]
    once = {row.kernel: row for row in rows}  # a kernel may have a second row, in place of another dtype
    return draw(
        [
            Rung(row.kernel, row.modelled_us or 0.0, row.binding, row.binding_us or 0.0, bench.machine, row.blocks)
            for row in once.values()
        ],
        title=f"The ladder on {case}, modelled",
    )


def draw(rungs: Sequence[Rung], *, title: str = "The ladder, modelled: what each step gained") -> Picture:
    """Draw a waterfall on a logarithmic axis: each step's bar reaches from the time of the step before to its own.

    So a bar's length is a speed-up. A diamond marks the step's binding limit, the least time that the step can take.
    Raises ArgumentError for fewer than two rungs, and for different machines.
    """
    if len(rungs) < 2:
        raise ArgumentError(f"a ladder needs two steps or more, not {len(rungs)}")
    if len({rung.machine for rung in rungs}) > 1:
        raise ArgumentError(
            "all kernels of a ladder must be on one machine", hint="profile all kernels with the same machine="
        )
    times = [rung.microseconds for rung in rungs]
    floors = [rung.limit_us for rung in rungs]
    said = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.5 + 0.62 * len(rungs)), layout="constrained")
        axis = figure.subplots()
        for row, (rung, time, floor) in enumerate(zip(rungs, times, floors, strict=True)):
            before = times[row - 1] if row else time
            low, high = min(before, time), max(before, time)
            slower = time > before
            colour, hatch = (SLOWER, "\\\\") if slower else (FASTER, "//")
            if row:
                bar = axis.barh(row, high - low, left=low, height=0.5, color=colour, hatch=hatch, edgecolor="white")
                bar.patches[0].set_gid(f"step {row}")
                axis.plot([before, before], [row - 1, row], color=FAINT, linewidth=0.8, zorder=1)
            axis.plot([time, time], [row - 0.36, row + 0.36], color=INK, linewidth=2.4, zorder=3)
            axis.plot(
                [floor], [row], marker="D", color=BOUND, markeredgecolor=INK, markersize=6, zorder=4, linestyle="none"
            )
            change = _change(before, time) if row else "start"
            words = f"{time:.2f} us   {change}   limit: {rung.limit}"
            axis.annotate(words, (high, row), xytext=(8, 0), textcoords="offset points", va="center", fontsize=SMALL)
            said.append(f"{rung.kernel} {time:.2f} us, {change}, limit {rung.limit} ({floor:.2f} us)")
        axis.set_xscale("log")
        # The text to the right of the longest bar takes 45 % of the axis.
        least, most = min(*floors, *times), max(times)
        axis.set_xlim(least / 1.3, least / 1.3 * (most / least * 1.5) ** (1.0 / 0.55))
        axis.set_yticks(range(len(rungs)), [f"{row + 1}  {rung.kernel}" for row, rung in enumerate(rungs)])
        axis.set_ylim(len(rungs) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        plain_logarithm(axis.xaxis, most=1000)
        end_axis(axis, most)
        axis.set_xlabel(
            "microseconds, modelled, logarithmic: equal lengths are equal speed-ups\n"
            "black line: the step's time    bar: change since the step before    diamond: its binding limit"
        )
        blocks = sorted({rung.blocks for rung in rungs})
        shown = f"{blocks[0]}" if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]}"
        heading(axis, title, f"{rungs[0].machine}, {shown} blocks")
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.5)
        axis.set_axisbelow(True)
    whole = times[0] / times[-1]
    return Picture(
        figure,
        f"Modelled times on {rungs[0].machine}, step by step: {'; '.join(said)}. From first to last "
        f"{whole:.2f} times faster.",
    )


def _change(before: float, now: float) -> str:
    if f"{before:.2f}" == f"{now:.2f}":
        return "no change"
    return f"{now / before:.2f} × slower" if now > before else f"{before / now:.2f} × faster"
