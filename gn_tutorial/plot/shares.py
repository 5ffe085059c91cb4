"""Draw bound divided by modelled time for each step of an operator's kernels, a line for each shape."""

from __future__ import annotations

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, LINES, STYLE, WIDTH, Picture, heading
from gn_tutorial.profiler.bench.run import Bench, BenchRow, rows_that_ran


def shares(bench: Bench) -> Picture:
    """Draw, for each step, the bound divided by the modelled time.

    A shape has a line for its first dtype, and hollow marks for its other dtypes. Each dtype has its own bound, because
    elements of half the bytes take less time to copy. This bound is the lowest ``bound_us`` of the shape's rows in the
    dtype, as in ``bounds_and_times``. Raises ArgumentError if no kernel ran, or for more shapes than LINES has colours.
    """
    shapes: dict[str, dict[str, list[BenchRow]]] = {}
    for row in rows_that_ran(bench.rows):
        shapes.setdefault(row.case.rpartition(" ")[0], {}).setdefault(row.dtype, []).append(row)
    if not shapes:
        raise ArgumentError("the bench has no kernel that ran")
    if len(shapes) > len(LINES):
        raise ArgumentError(f"{len(shapes)} shapes are too many for one picture", hint=f"at most {len(LINES)}")
    names = {row.step: row.kernel.rpartition("/")[2] for row in rows_that_ran(bench.rows)}
    places = {step: place for place, step in enumerate(sorted(names))}
    said, hollow = [], False
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
        axis = figure.subplots()
        for (shape, dtypes), (colour, marker) in zip(shapes.items(), LINES, strict=False):
            for number, (dtype, rows) in enumerate(dtypes.items()):
                floor = min(row.bound_us or 0.0 for row in rows)
                reached = {row.step: floor / (row.modelled_us or 1.0) for row in sorted(rows, key=lambda one: one.step)}
                hollow = hollow or number > 0
                (line,) = axis.plot(
                    [places[step] + 0.12 * number for step in reached], list(reached.values()), color=colour,
                    marker=marker, markersize=7, markerfacecolor="white" if number else colour,
                    linestyle="none" if number else "-", linewidth=1.6, label="" if number else shape, clip_on=False,
                )  # fmt: skip
                line.set_gid(f"{shape} {dtype}")
                said.append(f"{shape} {dtype}: " + ", ".join(f"step {step} {one:.0%}" for step, one in reached.items()))
        axis.set_ylim(0, 1)
        axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.grid(axis="y", color=FAINT, linewidth=0.3, alpha=0.6)
        axis.set_xticks(list(places.values()), [f"{step}\n{names[step]}" for step in places])
        axis.set_xlim(-0.3, len(places) - 0.5)
        axis.set_ylabel("bound / modelled time")
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(loc="upper left", frameon=False, labelcolor=INK)
        other = "; hollow: other dtypes, each with its own bound" if hollow else ""
        heading(axis, "How near its bound each step comes", f"modelled, {bench.machine}{other}")
    return Picture(figure, f"Modelled share of the bound on {bench.machine}. " + "; ".join(said) + ".")
