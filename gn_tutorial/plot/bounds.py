"""Draws kernels' modelled times beside the lower bound of each shape, to show which kernel comes nearest to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import plain_logarithm
from gn_tutorial.profiler.bench.run import Bench, BenchRow, rows_that_ran
from gn_tutorial.profiler.palette import BOUND, FASTER, TOTAL

#: The margin of a box and the width of a step number in it, as fractions of the axis. Boxes that would overlap merge.
_MARGIN, _NUMBER = 0.006, 0.016


def bounds_and_times(bench: Bench) -> Picture:
    """Draw a row for each shape: the bound as a bar from the left, and each kernel's step number at its modelled time.

    The bound of a shape is the lowest bound of its kernels, because only some kernels may split groups over cores. The
    axis is logarithmic, so the distance from bar to number shows their ratio. Raises ArgumentError if no kernel ran.
    """
    cases = [(case, [row for row in rows_that_ran(bench.rows) if row.case == case]) for case in bench.cases]
    cases = [(case, rows) for case, rows in cases if rows]
    if not cases:
        raise ArgumentError("the bench has no kernel that ran")
    said = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.6 + 0.62 * len(cases)), layout="constrained")
        axis = figure.subplots()
        times = [row.modelled_us or 0.0 for _, rows in cases for row in rows]
        floors = [min(row.bound_us or 0.0 for row in rows) for _, rows in cases]
        left, right = min(floors) / 1.5, max(times) * 1.25
        for place, ((case, rows), floor) in enumerate(zip(cases, floors, strict=True)):
            best = min(rows, key=lambda row: row.modelled_us or 0.0)
            bar = axis.barh(place, floor - left, left=left, height=0.66, color=BOUND, hatch="//", edgecolor="white")
            bar.patches[0].set_gid(f"bound {place}")
            axis.plot([floor, floor], [place - 0.36, place + 0.36], color=INK, linewidth=1.6)
            for together in _boxes(rows, math.log(right / left)):
                colour = FASTER if best in together else TOTAL
                axis.text(
                    _middle(together), place, " ".join(str(row.step) for row in together), ha="center", va="center",
                    fontsize=9, color="white",
                    bbox={"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "white"},
                )  # fmt: skip
            ratio = (best.modelled_us or 0.0) / floor
            listed = ", ".join(f"{row.kernel} {row.modelled_us:.2f}" for row in rows)
            said.append(f"{case}: bound {floor:.2f} us; {listed}; nearest {best.kernel}, {ratio:.2f} times its bound")
        axis.set_xscale("log")
        axis.set_xlim(left, right)
        axis.set_ylim(len(cases) - 0.4, -0.6)
        axis.set_yticks(range(len(cases)), [case.rsplit(" ", 1)[0] for case, _ in cases])
        axis.tick_params(axis="y", length=0)
        plain_logarithm(axis.xaxis)
        steps = {row.step: row.kernel.rpartition("/")[2] for _, rows in cases for row in rows}
        names = "   ".join(f"{step} {name}" for step, name in sorted(steps.items()))
        axis.set_xlabel(
            f"microseconds, modelled, logarithmic; hatched: no kernel can be there; indigo: the fastest\n{names}"
        )
        heading(axis, "Modelled time and bound, shape by shape", bench.machine)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.5)
        axis.set_axisbelow(True)
    return Picture(figure, f"Modelled times and bounds on {bench.machine}, in us. {'. '.join(said)}.")


def _boxes(rows: Sequence[BenchRow], width: float) -> list[list[BenchRow]]:
    """Return the rows as groups, sorted by time: rows whose boxes would overlap form a group, sorted by step.

    width: the natural logarithm of (time at the right end of the axis / time at its left end).
    """
    found = [[row] for row in sorted(rows, key=lambda one: one.modelled_us or 0.0)]
    place = 0
    while place + 1 < len(found):
        one, next_one = found[place : place + 2]
        room = (2 * _MARGIN + _NUMBER * (len(one) + len(next_one))) / 2 * width
        if math.log(_middle(next_one) / _middle(one)) >= room:
            place += 1
            continue
        found[place : place + 2] = [one + next_one]
        place = max(place - 1, 0)  # a wider box may reach the one before it
    return [sorted(together, key=lambda row: row.step) for together in found]


def _middle(together: Sequence[BenchRow]) -> float:
    """Return the middle of the times of a box, on a logarithmic axis."""
    times = [row.modelled_us or 0.0 for row in together]
    return math.sqrt(min(times) * max(times))
