"""The course's pictures: Matplotlib figures, each with an equivalent text for readers who cannot see it.

Figures are made without pyplot, so nothing here needs a screen or leaves global state. Colours: cividis for
values and a purple-orange diverging map for errors, both readable with every common form of colour blindness.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import get_sample_data
from matplotlib.figure import Figure
from PIL import Image, ImageChops, ImageStat
from PIL.PngImagePlugin import PngInfo

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.filters import filter_bank

_VALUES, _ERRORS = "cividis", "PuOr_r"
INK, FAINT = "#222222", "#767676"
#: Width of a picture in inches, and points of its smallest text. In a picture of 800 pixels this text is as large as
#: text on a web page.
WIDTH, SMALL = 8.8, 8.0
# Pixels per inch on a page, so that WIDTH is just below 800 pixels. The PNG has _FINE times as many.
_SHOWN_DPI, _FINE = 90, 2
# The largest mean change of a colour channel (0 to 255) that a reduced palette may cause.
_UNSEEN = 0.25
_BEFORE, _AFTER = "#b35806", "#00336f"
# A colour and a marker for each line of one picture. Colours alone distinguish the lines, and so do markers alone.
# None of these colours is a pipe's or looks like one.
LINES = (("#b35806", "o"), ("#cc79a7", "s"), ("#8073ac", "^"), ("#00336f", "D"))
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9.0,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


@dataclass(frozen=True)
class Picture:
    """A figure and its alt text. A notebook shows the figure as PNG, and stores the alt text as its plain-text form."""

    figure: Figure
    alt: str

    def save(self, path: Path, *, dpi: int = _FINE * _SHOWN_DPI) -> None:
        """Write a PNG with the alt text as its description. Raises ArgumentError if the file cannot be written."""
        try:
            path.write_bytes(self._png(dpi))
        except OSError as error:
            raise ArgumentError(f"cannot write {path}: {error.strerror or error}", where=str(path)) from error

    def _png(self, dpi: int) -> bytes:
        buffer = io.BytesIO()
        with matplotlib.rc_context(STYLE):
            # Without Software=None the file would contain Matplotlib's version, and change with every release.
            self.figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
        said = PngInfo()
        said.add_text("Description", self.alt)
        small = io.BytesIO()
        with Image.open(buffer) as image:
            _fewer_colours(image.convert("RGB")).save(small, "PNG", pnginfo=said, dpi=(dpi, dpi))
        return small.getvalue()

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        width, height = (round(inches * _SHOWN_DPI) for inches in self.figure.get_size_inches())
        shown = {"alt": self.alt, "width": width, "height": height}
        return {"image/png": self._png(_FINE * _SHOWN_DPI), "text/plain": self.alt}, {"image/png": shown}


def _fewer_colours(image: Image.Image) -> Image.Image:
    """Return the picture with 256 colours, a third of the bytes; unchanged if the loss would be visible, as in a photo.

    Colours of larger areas, such as a pipe's, stay exactly the same.
    """
    fewer = image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    change = ImageStat.Stat(ImageChops.difference(image, fewer.convert("RGB"))).mean
    return fewer if max(change) < _UNSEEN else image


def heading(axis: Axes, title: str, facts: str = "") -> None:
    """Write the title of a picture at its left, and in a line below it the facts: machine, blocks, time."""
    # The left title ends in an empty line. The centre title, moved to the left, fills this line in a smaller font.
    axis.set_title(f"{title}\n" if facts else title, loc="left", fontsize=11, fontweight="bold")
    if facts:
        axis.set_title(facts, x=0.0, ha="left")


@dataclass(frozen=True)
class TourPicture:
    """The data of the tour's picture.

    photo: uint8 (H, W, 3). features, normalised: (1, C, H', W'). error: kernel minus float64 reference, same shape.
    kernel: the registered name of the kernel that made ``normalised``.
    """

    photo: np.ndarray
    features: np.ndarray
    normalised: np.ndarray
    error: np.ndarray
    kernel: str
    num_groups: int


def sample_photo() -> Path:
    """Return the path of Matplotlib's portrait of Grace Hopper. Raises ArgumentError if this Matplotlib has none."""
    try:
        return Path(get_sample_data("grace_hopper.jpg", asfileobj=False))
    except (OSError, ValueError):
        raise ArgumentError(
            "this Matplotlib has no sample photograph", where="grace_hopper.jpg", hint="name a photograph of your own"
        ) from None


def tour_picture(data: TourPicture) -> Picture:
    """Draw the photograph, one channel per group before and after, its error, and all channels' standard deviations."""
    bank = filter_bank()
    size = len(bank) // data.num_groups
    chosen = [group * size for group in range(data.num_groups)]
    with matplotlib.rc_context(STYLE):
        return _draw_tour(data, [bank[c].name for c in chosen], [bank[c].group for c in chosen], chosen)


def _draw_tour(data: TourPicture, names: list[str], groups: list[str], chosen: list[int]) -> Picture:
    # Three rows of images 1.5 inches wide, and their titles; the list of channels needs 6.5 inches in any case.
    height = 3 * 1.5 * data.features.shape[2] / data.features.shape[3] + 1.5
    figure = Figure(figsize=(10.8, min(max(height, 6.5), 14.0)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.04, h_pad=0.04, wspace=0.02, hspace=0.02)
    figure.suptitle(
        f"GroupNorm of a photograph's feature map, computed by {data.kernel}", fontsize=14, fontweight="bold"
    )
    columns = len(chosen)
    # There are two subfigures, because in one grid the legend on the left would push the rows on the right apart.
    left, right = figure.subfigures(1, 2, width_ratios=[1.0, 2.35])
    photo, spreads = left.subplots(2, 1, height_ratios=[1.0, 1.55])
    photo.imshow(data.photo)
    photo.set_title(f"photograph, {data.photo.shape[1]} × {data.photo.shape[0]} pixels")
    _no_ticks(photo)
    _draw_spreads(spreads, data)

    grid = right.subplots(3, columns)
    before = np.percentile(data.features, [0.5, 99.5])
    worst = float(np.abs(data.error).max())
    # A few elements have ten times the usual error; a scale that includes them would show an empty map.
    limit = float(np.percentile(np.abs(data.error), 99.5)) or worst or 1e-7
    rows = (
        (data.features, _VALUES, tuple(before), "filtered: kernel's input"),
        (data.normalised, _VALUES, (-3.0, 3.0), "normalised: kernel's output"),
        (data.error, _ERRORS, (-limit, limit), "error: output − float64"),
    )
    for line, (array, colours, (low, high), label) in enumerate(rows):
        axes = list(grid[line])
        for axis, channel in zip(axes, chosen, strict=True):
            image = axis.imshow(array[0, channel], cmap=colours, vmin=low, vmax=high, interpolation="nearest")
            _no_ticks(axis)
        axes[0].set_ylabel(label, fontsize=10)
        if line == 0:
            for axis, name, group in zip(axes, names, groups, strict=True):
                axis.set_title(f"{group}\n{name}")
        bar = right.colorbar(image, ax=axes, fraction=0.03, aspect=24, pad=0.01, extend="both")
        bar.outline.set_linewidth(0.6)
        bar.set_label(f"largest of all: {worst:.1e}" if line == 2 else "one scale for all four")
        if line == 2:
            bar.set_ticks([-limit, 0.0, limit], labels=[f"−{limit:.1e}", "0", f"{limit:.1e}"])

    shape = " × ".join(map(str, data.features.shape))
    spreads = data.features.std(axis=(0, 2, 3))
    alt = (
        f"A photograph, and four of the {data.features.shape[1]} channels that image filters make of it ({shape}). "
        f"On one colour scale most filtered channels look empty: their standard deviations run from "
        f"{spreads.min():.1g} to {spreads.max():.1g}. After GroupNorm with {data.num_groups} groups by the kernel "
        f"{data.kernel} all are equally visible. The last row is the kernel's error against float64, "
        f"{worst:.0e} at most."
    )
    return Picture(figure, alt)


def _draw_spreads(axis: Axes, data: TourPicture) -> None:
    """Draw a line for each channel on a logarithmic axis, from its standard deviation before GroupNorm to after it."""
    channels = data.features.shape[1]
    size = channels // data.num_groups
    # One empty place between two groups.
    place = np.arange(channels) + np.arange(channels) // size
    before, after = (np.maximum(a.std(axis=(0, 2, 3)), 1e-6) for a in (data.features, data.normalised))
    axis.hlines(place, before, after, color="#cccccc", linewidth=1.2, zorder=1)
    axis.scatter(before, place, s=26, color=_BEFORE, marker="o", label="filtered", zorder=2)
    axis.scatter(after, place, s=26, color=_AFTER, marker="D", label="normalised", zorder=2)
    axis.axvline(1.0, color=FAINT, linewidth=0.8, linestyle=":", zorder=0)
    axis.set_xscale("log")
    axis.margins(x=0.1)  # no mark is cut off
    axis.set_yticks(place, [each.name for each in filter_bank()])
    axis.tick_params(axis="y", length=0)
    axis.invert_yaxis()
    axis.set_xlabel("standard deviation of the channel")
    axis.set_title(f"all {channels} channels, {data.num_groups} groups", pad=24)
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, handletextpad=0.2)
    axis.spines[["top", "right", "left"]].set_visible(False)


def block_map(parts: Sequence[tuple[int, int, int]], size: int) -> Picture:
    """Draw which block copied which part of an array: a lane for each block, a box for each tile.

    parts: one (block, first element, number of elements) for each tile, as the kernel reported them, in any order.
    size: elements of the array. Raises ArgumentError if there is no part, or a part is empty or lies outside the array.
    """
    tiles = sorted((int(block), int(first), int(count)) for block, first, count in parts)
    if not tiles:
        raise ArgumentError("there is no tile to draw", where="argument parts")
    for block, first, count in tiles:
        if block < 0 or first < 0 or count < 1 or first + count > size:
            raise ArgumentError(
                f"block {block} copies {count:,} elements from element {first:,}; the array has {size:,}",
                where="argument parts",
            )
    by_block = {block: list(group) for block, group in groupby(tiles, key=lambda tile: tile[0])}
    with matplotlib.rc_context(STYLE):
        figure = _draw_block_map(by_block, size)
    said = []
    for block, mine in by_block.items():
        tiles_said = f"{len(mine)} tile" + ("s" if len(mine) > 1 else "")
        said.append(f"block {block} copies elements {mine[0][1]:,} to {sum(mine[-1][1:]) - 1:,} in {tiles_said}")
    return Picture(figure, f"An array of {size:,} elements in global memory: {'; '.join(said)}.")


def _draw_block_map(by_block: dict[int, list[tuple[int, int, int]]], size: int) -> Figure:
    blocks = max(by_block) + 1
    # Avoid the ends of the map, because a label would be unreadable on the darkest or lightest colour.
    colours = matplotlib.colormaps[_VALUES](np.linspace(0.15, 0.85, blocks))
    figure = Figure(figsize=(WIDTH, 1.3 + 0.42 * blocks), layout="constrained")
    axis = figure.subplots()
    for block, tiles in by_block.items():
        ink = "white" if colours[block][:3].mean() < 0.5 else INK
        for number, (_, first, count) in enumerate(tiles):
            box = {"width": count, "left": first, "facecolor": colours[block], "edgecolor": "white", "linewidth": 0.8}
            axis.barh(-1.4, height=0.9, **box)
            axis.barh(block, height=0.7, **box)
            # A number does not fit into a box narrower than 1/26 of the array.
            if count * 26 > size:
                axis.text(first + count / 2, block, f"{number}", ha="center", va="center", fontsize=SMALL, color=ink)
    axis.set_yticks([-1.4, *range(blocks)], ["array in GM", *(f"block {number}" for number in range(blocks))])
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(blocks - 0.4, -2.1)
    axis.set_xlim(0, size)
    axis.xaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
    axis.set_xlabel("element; the number in a box is the tile within its block")
    heading(axis, "Which block copied which part of the array")
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def variance_errors(ratios: Sequence[float], errors: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the relative error of the variance against mean/sigma, with a line for each formula, on logarithmic axes.

    ratios: mean/sigma, ascending, greater than zero. errors: by the formula's name, one relative error for each ratio;
    an error of 0 has no place on the axis and leaves a gap. The dashed line is the error that cancellation predicts for
    float32, 2**-24 (mean/sigma)**2. Raises ArgumentError for ratios or errors that do not fit, and for no formula or
    more than ``LINES`` has.
    """
    across = np.asarray(ratios, dtype=np.float64)
    if across.ndim != 1 or across.size < 2 or not (across > 0).all() or not (np.diff(across) > 0).all():
        raise ArgumentError("two ratios or more are needed, ascending and greater than zero", where="argument ratios")
    lines = {name: np.asarray(values, dtype=np.float64) for name, values in errors.items()}
    if not 1 <= len(lines) <= len(LINES):
        raise ArgumentError(f"{len(lines)} formulas; 1 to {len(LINES)} can be told apart", where="argument errors")
    for name, values in lines.items():
        if values.shape != across.shape or not (np.isfinite(values) & (values >= 0)).all():
            raise ArgumentError(
                f"'{name}' needs {across.size} errors, finite and not below zero", where="argument errors"
            )
    with matplotlib.rc_context(STYLE):
        figure = _draw_variance_errors(across, lines)
    said = []
    for name, values in lines.items():
        lost = across[values >= 1]
        fate = f"no right digit from {lost[0]:,.0f} on" if lost.size else f"{values.max():.0e} at worst"
        said.append(f"{name} {values[0]:.0e} at first and {values[-1]:.0e} at last, {fate}")
    return Picture(
        figure,
        f"Relative error of the variance, computed in float32, where mean/sigma goes from {across[0]:,.0f} to "
        f"{across[-1]:,.0f}, on logarithmic axes: {'; '.join(said)}.",
    )


def _draw_variance_errors(across: np.ndarray, lines: Mapping[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    axis = figure.subplots()
    axis.plot(across, 2.0**-24 * across**2, color=FAINT, linewidth=1.0, linestyle="--", zorder=1)
    axis.axhline(1.0, color=FAINT, linewidth=0.8, linestyle=":", zorder=0)
    axis.text(across[0], 1.5, "above: not one digit is right", fontsize=SMALL, color=FAINT)
    for (name, values), (colour, marker) in zip(lines.items(), LINES, strict=False):
        axis.plot(across, np.where(values > 0, values, np.nan), color=colour, marker=marker, markersize=4, label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("mean / sigma: how many spreads the data lie away from 0")
    axis.set_ylabel("relative error of the variance")
    heading(axis, "What is left of the variance in float32")
    # The dashed line has its name in the legend's title: as an entry it would look like a formula.
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, title="dashed: 2⁻²⁴ (mean/sigma)²")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _no_ticks(axis: Axes) -> None:
    axis.set_xticks([])
    axis.set_yticks([])
