"""Draw two trainings that should agree: their losses, and the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import LINES, STYLE, WIDTH, Picture, heading


def compare_losses(losses: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the losses of two trainings above, and their relative difference below, logarithmic, by step.

    losses: name -> loss of each step, finite and greater than zero, for exactly two trainings with the same number of
    steps, at least two. The second is drawn dashed on top of the first, and the difference is relative to the first. A
    difference of 0 leaves a gap. Raises ArgumentError for other losses.
    """
    if len(losses) != 2:
        raise ArgumentError(f"{len(losses)} trainings; two are compared", where="argument losses")
    names = list(losses)
    first, second = (np.asarray(values, dtype=np.float64) for values in losses.values())
    if first.ndim != 1 or first.shape != second.shape or first.size < 2:
        raise ArgumentError("both need the same number of steps, two or more", where="argument losses")
    if not all((np.isfinite(one) & (one > 0)).all() for one in (first, second)):
        raise ArgumentError("losses must be finite and greater than zero", where="argument losses")
    apart = abs(second - first) / first
    with matplotlib.rc_context(STYLE):
        figure = _draw(names, first, second, apart)
    early = apart[: min(20, len(apart))].max()
    return Picture(
        figure,
        f"Loss of two trainings over {first.size} steps: {names[0]} from {first[0]:.2f} to {first[-1]:.3f}, {names[1]} "
        f"from {second[0]:.2f} to {second[-1]:.3f}. Below, their relative difference: at most {early:.0e} in the first "
        f"{min(20, len(apart))} steps, at most {apart.max():.0e} in all.",
    )


def _draw(names: Sequence[str], first: np.ndarray, second: np.ndarray, apart: np.ndarray) -> Figure:
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    steps = np.arange(1, first.size + 1)
    (wide, _), _, (dots, _), (dashed, _) = LINES
    above.plot(steps, first, color=wide, linewidth=5.0, alpha=0.4, label=names[0], gid="first")
    above.plot(steps, second, color=dashed, linewidth=1.4, linestyle="--", label=names[1], gid="second")
    above.set_ylabel("loss of the batch, nats")
    above.set_ylim(bottom=0)
    above.legend(loc="upper right", frameon=False)
    heading(above, "The same training twice: one line lies on the other")
    shown = np.where(apart > 0, apart, np.nan)
    below.plot(steps, shown, color=dots, linestyle="", marker="o", markersize=3, gid="difference")
    below.set_yscale("log")
    below.set_ylabel("relative difference\n(no dot: none)")
    below.set_xlabel("training step")
    for axis in (above, below):
        axis.spines[["top", "right"]].set_visible(False)
    return figure
