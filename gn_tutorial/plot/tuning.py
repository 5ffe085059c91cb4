"""Draw modelled time against one field of the tiling struct, with the best value and the host's choice."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import blended_transform_factory

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, LINES, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import plain_ticks
from gn_tutorial.profiler.bench.autotune import REFUSED, Tuning
from gn_tutorial.profiler.bench.run import WRONG
from gn_tutorial.profiler.palette import BOUND, CHOSEN, FASTER, SLOWER, TOTAL


def tuning_curve(tuning: Tuning) -> Picture:
    """Draw the time of each value of the field, and mark the fastest value and, if it ran, the host's choice.

    Crosses at the top are refused values; triangles are values with wrong results or no room for the trace. The dotted
    line is the operator's bound on this shape. Both axes are logarithmic. Raises ArgumentError if fewer than two values
    ran.
    """
    ran, best = tuning.ran, tuning.best
    if len(ran) < 2 or best is None:
        raise ArgumentError(f"a curve needs two points or more; {len(ran)} values of {tuning.field} ran")
    values, times = [one.value for one in ran], [one.modelled_us or 0.0 for one in ran]
    refused = [one.value for one in tuning.candidates if one.status == REFUSED]
    wrong = [one.value for one in tuning.candidates if one.status == WRONG]
    ours = tuning.default
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
        axis = figure.subplots()
        axis.plot(values, times, color=TOTAL, marker="o", markersize=4, linewidth=1.6, label="modelled time", zorder=3)
        axis.axhline(tuning.bound_us, color=BOUND, linestyle=":", linewidth=1.8, label="bound of this shape")
        if ours.modelled_us is not None:
            axis.plot(
                [ours.value], [ours.modelled_us], color=CHOSEN, marker="D", markersize=10, linestyle="none",
                markeredgecolor=INK, label=f"{tuning.chosen_by}: {ours.value}, {ours.modelled_us:.2f} us", zorder=4,
            )  # fmt: skip
        axis.plot(
            [best.value], [best.modelled_us], color=FASTER, marker="*", markersize=16, linestyle="none",
            markeredgecolor=INK, label=f"fastest: {best.value}, {best.modelled_us:.2f} us", zorder=5,
        )  # fmt: skip
        top = blended_transform_factory(axis.transData, axis.transAxes)
        for named, colour, marker, label in (
            (refused, SLOWER, "x", "refused by the twin"),
            (wrong, SLOWER, "v", "wrong, or no room for its trace"),
        ):
            if named:
                axis.plot(
                    named, [0.95] * len(named), color=colour, marker=marker, markersize=7, markeredgewidth=1.8,
                    linestyle="none", transform=top, label=label, clip_on=False,
                )  # fmt: skip
        _finish(axis, tuning, [one.value for one in tuning.candidates])
        axis.set_ylim(min(tuning.bound_us, *times) / 1.2, max(times) * 1.6)
        axis.set_xlabel(f"{tuning.field}, logarithmic\n{tuning.case} on {tuning.machine}")
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return Picture(figure, _words(tuning, refused, wrong))


def tuning_curves(tunings: Sequence[Tuning]) -> Picture:
    """Draw one line for each shape, of one kernel, field and machine, with its fastest value and the host's choice.

    The range of the values above the largest one that ran is grey. Raises ArgumentError for no tuning, for more than
    LINES can distinguish, if kernel, field or machine differ, and if on some shape fewer than two values ran or the
    host's choice did not run.
    """
    if not 1 <= len(tunings) <= len(LINES):
        raise ArgumentError(f"{len(tunings)} shapes; 1 to {len(LINES)} can be told apart")
    if len({(one.kernel, one.field, one.machine) for one in tunings}) > 1:
        raise ArgumentError("all tunings must be of one kernel, one field and one machine")
    first, said = tunings[0], []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
        axis = figure.subplots()
        for tuning, (colour, marker) in zip(tunings, LINES, strict=False):
            best, ours = tuning.best, tuning.default
            if len(tuning.ran) < 2 or best is None or ours.modelled_us is None:
                raise ArgumentError(f"a curve needs two points or more; {len(tuning.ran)} values ran on {tuning.case}")
            gain = ours.modelled_us / (best.modelled_us or 0.0)
            words = f"{tuning.case.rsplit(' ', 1)[0]}: host {ours.value}, {gain:.2f} × the best"
            axis.plot(
                [one.value for one in tuning.ran], [one.modelled_us for one in tuning.ran], color=colour,
                marker=marker, markersize=3.5, linewidth=1.5, label=words, zorder=3,
            )  # fmt: skip
            for one, mark, size in ((ours, "D", 10), (best, "*", 17)):
                axis.plot(
                    [one.value], [one.modelled_us], color=colour, marker=mark, markersize=size, linestyle="none",
                    markeredgecolor=INK, zorder=4,
                )  # fmt: skip
            said.append(_words(tuning, [], []))
        shown = [one.value for tuning in tunings for one in tuning.candidates]
        fits = max(one.value for tuning in tunings for one in tuning.ran)
        refused = [value for value in shown if value > fits]
        if refused:
            axis.axvspan(min(refused), max(refused) * 1.3, color=FAINT, alpha=0.2, linewidth=0)
            middle = (min(refused) * max(refused) * 1.3) ** 0.5
            axis.text(
                middle, 0.5, "refused: does not fit into the UB", rotation=90, ha="center", va="center",
                transform=blended_transform_factory(axis.transData, axis.transAxes),
            )  # fmt: skip
        _finish(axis, first, shown, room=1.3 if refused else 1.15)
        axis.set_ylim(top=1.8 * max(one.modelled_us or 0.0 for tuning in tunings for one in tuning.ran))
        axis.set_xlabel(f"{first.field}, logarithmic; star: the fastest, diamond: the host function's choice")
        axis.legend(loc="upper center", frameon=False)
    return Picture(figure, " ".join(said))


def _finish(axis: Axes, tuning: Tuning, shown: Sequence[int], room: float = 1.15) -> None:
    """Set scales, labels and ticks. The x axis ends at ``room`` times the largest value in ``shown``.

    It has ticks at the powers of two in ``shown``, or at all values if none is a power of two.
    """
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    ticks = sorted({value for value in shown if value & (value - 1) == 0}) or sorted(set(shown))
    axis.set_xticks(ticks, [str(value) for value in ticks])
    axis.set_xticks([], minor=True)
    axis.set_xlim(min(shown) / 1.15, max(shown) * room)
    for set_formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
        set_formatter(plain_ticks)
    axis.set_ylabel("microseconds (modelled), logarithmic")
    heading(axis, f"{tuning.kernel}: time against {tuning.field}", tuning.machine)
    axis.grid(color=FAINT, alpha=0.25, linewidth=0.5)
    axis.spines[["top", "right"]].set_visible(False)


def _words(tuning: Tuning, refused: list[int], wrong: list[int]) -> str:
    best, ours = tuning.best, tuning.default
    said = ", ".join(f"{one.value} {one.modelled_us:.2f} us" for one in tuning.ran)
    words = f"Modelled time of {tuning.kernel} on {tuning.case} on {tuning.machine} by {tuning.field}: {said}. "
    if best is not None:
        words += f"Fastest: {best.value} with {best.modelled_us:.2f} us. "
    if ours.modelled_us is not None:
        words += f"The host function chooses {ours.value} with {ours.modelled_us:.2f} us. "
    for what, named in (("Refused by the twin", refused), ("Wrong, or no room for its trace", wrong)):
        if named:
            words += f"{what}: {', '.join(map(str, named))}. "
    return words + f"Bound of this shape: {tuning.bound_us:.2f} us."
