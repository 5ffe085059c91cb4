"""Draws accuracy maps: which way of computing passes the accuracy standard, by dtype and by kind of data."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.compare.accuracy import Accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture

#: The range of the colours, in decades: from a hundredth of the allowed error to a hundred times the allowed error.
_DECADES = 2.0
#: Decades between the middle of the colour map and the palest colour of a passing or failing cell.
_STEP = 0.5
_ABSENT = "#dddddd"

#: Kind of data -> the accuracy on it, or None if there is nothing to run.
Row = Mapping[str, Accuracy | None]


def accuracy_map(found: Mapping[str, Mapping[str, Row]]) -> Picture:
    """Draw a map for each dtype: a row for each way of computing, a column for each kind of data.

    found: dtype -> way -> kind -> accuracy; ways and kinds are the same for every dtype. A cell shows what
    ``cell_text`` returns. Its colour shows ``Accuracy.used``: purple if the cell passes, orange if it fails. A failing
    cell also has a frame and bold type, for readers who do not see the colours. Raises ArgumentError if there is no
    dtype, a dtype has nothing to draw, or ways or kinds differ.
    """
    panels = [(dtype, list(rows), [list(row) for row in rows.values()]) for dtype, rows in found.items()]
    if not panels or not panels[0][1] or not panels[0][2][0]:
        raise ArgumentError("there is no result to draw", where="argument found")
    ways, kinds = panels[0][1], panels[0][2][0]
    for dtype, its_ways, its_kinds in panels:
        if its_ways != ways or any(each != kinds for each in its_kinds):
            raise ArgumentError(f"{dtype} has other ways or kinds than {panels[0][0]}", where="argument found")
        if all(one is None for row in found[dtype].values() for one in row.values()):
            raise ArgumentError(f"there is no result of {dtype} to draw", where="argument found")
    with matplotlib.rc_context(STYLE):
        height = 0.7 + len(panels) * (0.65 + 0.235 * len(ways))
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True))
        for axis, (dtype, rows) in zip(axes, found.items(), strict=True):
            # Label the columns of every map, because those of the last one are far from the first.
            axis.tick_params(labelbottom=True)
            _draw(axis, list(rows.values()))
            axis.set_yticks(range(len(ways)), ways)
            unit = next(one.standard.unit for row in rows.values() for one in row.values() if one is not None)
            axis.set_title(f"{dtype}, T = $2^{{{np.log2(unit):.0f}}}$", loc="left", fontsize=9, fontweight="bold")
        axes[-1].set_xticks(range(len(kinds)), kinds)
        figure.suptitle(
            "MERE / T and MARE / 10 T: below 1 passes, a framed cell fails", x=0.01, ha="left", fontsize=11,
            fontweight="bold",
        )  # fmt: skip
    said = "; ".join(_said(dtype, rows) for dtype, rows in found.items())
    return Picture(figure, f"Accuracy standard, {len(ways)} ways of computing on {len(kinds)} kinds of data. {said}.")


def _draw(axis: Axes, rows: list[Row]) -> None:
    shares = [[np.nan if one is None else one.used for one in row.values()] for row in rows]
    passes = np.array([[one is None or one.ok for one in row.values()] for row in rows])
    with np.errstate(divide="ignore"):
        values = np.clip(np.log10(shares), -_DECADES, _DECADES)
    colours = matplotlib.colormaps["PuOr_r"].with_extremes(bad=_ABSENT)
    # Avoid the pale middle of the map, which looks like neither result, and its dark ends, where black text is
    # unreadable.
    values = np.where(passes, np.minimum(values, 0.0) - _STEP, np.maximum(values, 0.0) + _STEP)
    most = 1.7 * (_DECADES + _STEP)
    axis.imshow(values, cmap=colours, vmin=-most, vmax=most, aspect="auto")
    for line, row in enumerate(rows):
        for place, one in enumerate(row.values()):
            failed = one is not None and not one.ok
            axis.text(place, line, cell_text(one), ha="center", va="center", fontsize=SMALL - 0.5,
                      fontweight="bold" if failed else "normal", color=FAINT if one is None else INK)  # fmt: skip
            if failed:
                frame = matplotlib.patches.Rectangle((place - 0.48, line - 0.44), 0.96, 0.88, fill=False, linewidth=1.3)
                frame.set_gid("fails")
                axis.add_patch(frame)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def cell_text(one: Accuracy | None) -> str:
    """Return MERE / T and MARE / (MARE's limit), ``0.18 | 0.05``; a dash for None.

    If only the misses near zero are too many, return their number instead.
    """
    if one is None:
        return "–"
    mere, mare = one.mere / one.standard.unit, one.mare / one.mare_limit
    if not one.ok and mere < 1 and mare < 1:
        return f"{one.misses} misses near 0"
    return f"{_share(mere)} | {_share(mare)}"


def _share(value: float) -> str:
    if not np.isfinite(value):
        return "∞"
    if value == 0 or 0.01 <= value < 9.995:
        return f"{value:.2f}"
    return f"{value:,.0f}" if 1 < value < 9999.5 else f"{value:.0e}"


def _said(dtype: str, rows: Mapping[str, Row]) -> str:
    parts = []
    for way, row in rows.items():
        run = [one for one in row.values() if one is not None]
        failed = [kind for kind, one in row.items() if one is not None and not one.ok]
        if not run:
            parts.append(f"{way} is not there")
        else:
            parts.append(f"{way} fails {', '.join(failed)}" if failed else f"{way} passes all")
    return f"{dtype}: {' / '.join(parts)}"
