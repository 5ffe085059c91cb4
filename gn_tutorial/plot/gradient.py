"""Draw the error of a numerical gradient against its step: a V-shaped curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, LINES, STYLE, WIDTH, Picture, heading


def step_errors(
    steps: Sequence[float],
    errors: Mapping[str, Sequence[float]],
    guides: Mapping[str, Sequence[float]] | None = None,
) -> Picture:
    """Draw the relative error of a gradient against the step h, with a line for each method; both axes are logarithmic.

    steps: two or more, ascending, greater than zero. errors: by the method's name, one relative error for each step; an
    error of 0 has no place on the axis and leaves a gap. guides: predicted errors, drawn dashed and named at the line.
    Raises ArgumentError for steps, errors or guides that do not fit, and for no method or more than ``LINES`` has.
    """
    across = np.asarray(steps, dtype=np.float64)
    if across.ndim != 1 or across.size < 2 or not (across > 0).all() or not (np.diff(across) > 0).all():
        raise ArgumentError("two steps or more are needed, ascending and greater than zero", where="argument steps")
    if not 1 <= len(errors) <= len(LINES):
        raise ArgumentError(f"{len(errors)} methods; 1 to {len(LINES)} can be told apart", where="argument errors")
    lines = {name: _checked(name, values, across.size, "errors") for name, values in errors.items()}
    dashed = {name: _checked(name, values, across.size, "guides") for name, values in (guides or {}).items()}
    with matplotlib.rc_context(STYLE):
        figure = _draw(across, lines, dashed)
    said = []
    for name, values in lines.items():
        best = int(np.argmin(values))
        said.append(
            f"{name} {values[0]:.0e} at first, {values[best]:.0e} at best, with h = {across[best]:.0e}, and "
            f"{values[-1]:.0e} at last"
        )
    return Picture(
        figure,
        f"Relative error of a numerical gradient where the step h goes from {across[0]:.0e} to {across[-1]:.0e}, on "
        f"logarithmic axes: {'; '.join(said)}.",
    )


def _checked(name: str, values: Sequence[float], size: int, argument: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,) or not (np.isfinite(array) & (array >= 0)).all():
        raise ArgumentError(f"'{name}' needs {size} errors, finite and not below zero", where=f"argument {argument}")
    return array


def _draw(across: np.ndarray, lines: Mapping[str, np.ndarray], guides: Mapping[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    axis = figure.subplots()
    positive = [values[values > 0] for values in lines.values()]
    low = min((values.min() for values in positive if values.size), default=1e-16)
    high = max((values.max() for values in positive if values.size), default=1.0)
    for name, values in guides.items():
        shown = np.where((values >= low / 3) & (values <= high * 3), values, np.nan)
        axis.plot(across, shown, color=FAINT, linewidth=1.0, linestyle="--", zorder=1, gid=f"guide {name}")
        seen = np.flatnonzero(np.isfinite(shown))
        if seen.size:
            _name_guide(axis, name, across[seen], shown[seen])
    # Two methods with the same error coincide. The later line is thinner, has small marks, and is on top, so both are
    # visible.
    for order, ((name, values), (colour, marker)) in enumerate(zip(lines.items(), LINES, strict=False)):
        look = {"linewidth": 3.2 - 0.75 * order, "markersize": 7 - 1.2 * order, "zorder": 2 + 0.1 * order}
        axis.plot(across, np.where(values > 0, values, np.nan), color=colour, marker=marker, label=name, **look)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("step h")
    axis.set_ylabel("relative error of the gradient")
    heading(axis, "Smaller is not better: the error against the step")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _name_guide(axis: Axes, name: str, across: np.ndarray, values: np.ndarray) -> None:
    """Write a guide's name at the outer side of its lower end, because the upper end lies among the measured lines."""
    rising = values[-1] > values[0]
    at = min(2, len(values) - 1) if rising else max(len(values) - 3, 0)
    offset, side = ((-8, 2), "right") if rising else ((8, 3), "left")
    axis.annotate(name, (across[at], values[at]), offset, textcoords="offset points", ha=side, fontsize=9, color=FAINT)
