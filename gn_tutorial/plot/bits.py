"""Draws how reproducible atomic sums are: which bits of a sum change with the order of the cores."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, STYLE, WIDTH, Picture

#: A float32, most significant bit first: the number of bits, and the index of the first bit of exponent and fraction.
_BITS, _EXPONENT, _FRACTION = 32, 1, 9
_MOST_KERNELS = 3


def bits_over_orders(runs: Mapping[str, np.ndarray], truth: np.ndarray, *, element: int = 0) -> Picture:
    """Draw a column for each kernel: above, the bits of one element by launch; below, the errors of all elements.

    runs: kernel name -> float32 of shape (launches, elements); 1 to 3 kernels with the same number of launches, two or
    more. truth: float64 of shape (elements,). element: the index of the element whose bits are shown. Errors are in
    steps of the last place. A step is the distance from the truth, rounded to float32, to the next float32. Raises
    ArgumentError for another number of kernels or launches, a wrong shape, dtype or index, and numbers that are not
    finite.
    """
    arrays = _checked(runs, truth, element)
    step = np.spacing(np.abs(truth).astype(np.float32)).astype(np.float64)
    errors = {name: (array.astype(np.float64) - truth) / step for name, array in arrays.items()}
    with matplotlib.rc_context(STYLE):
        figure = _draw(arrays, errors, element)
    launches = len(next(iter(arrays.values())))
    said = []
    for name, array in arrays.items():
        changing = int((array.view(np.uint32) != array[0].view(np.uint32)).any(axis=0).sum())
        said.append(
            f"{name}: element {element} is {_count(array[:, element])}, {changing} of {array.shape[1]} elements "
            f"change, and the mean error is {abs(errors[name]).mean():.1f} steps of the last place"
        )
    return Picture(
        figure,
        f"The bits of float32 sums in {launches} launches that differ in the order of the cores only. "
        f"{'; '.join(said)}.",
    )


def _count(values: np.ndarray, *, short: bool = False) -> str:
    different = len(set(values.view(np.uint32).tolist()))
    if short:
        return "always the same" if different == 1 else f"{different} numbers"
    return "the same number in every launch" if different == 1 else f"one of {different} numbers"


def _checked(runs: Mapping[str, np.ndarray], truth: np.ndarray, element: int) -> dict[str, np.ndarray]:
    if not 1 <= len(runs) <= _MOST_KERNELS:
        raise ArgumentError(f"{len(runs)} kernels; 1 to {_MOST_KERNELS} fit side by side", where="argument runs")
    if truth.ndim != 1 or truth.dtype != np.float64 or not np.isfinite(truth).all():
        raise ArgumentError("truth must have one finite float64 for each element", where="argument truth")
    if not 0 <= element < truth.size:
        raise ArgumentError(f"there is no element {element}; there are {truth.size}", where="argument element")
    launches = {array.shape[:1] for array in runs.values()}
    for name, array in runs.items():
        if array.dtype != np.float32 or array.ndim != 2 or array.shape[1] != truth.size or len(array) < 2:
            raise ArgumentError(
                f"'{name}' needs float32 of shape (launches, {truth.size}), two launches or more",
                where="argument runs",
            )
        if not np.isfinite(array).all():
            raise ArgumentError(f"'{name}' has numbers that are not finite", where="argument runs")
    if len(launches) > 1:
        raise ArgumentError("every kernel needs the same number of launches", where="argument runs")
    return {name: np.ascontiguousarray(array) for name, array in runs.items()}


def _draw(arrays: Mapping[str, np.ndarray], errors: Mapping[str, np.ndarray], element: int) -> Figure:
    launches, _ = next(iter(arrays.values())).shape
    figure = Figure(figsize=(WIDTH, 2.6 + 0.2 * launches), layout="constrained")
    grid = figure.subplots(2, len(arrays), squeeze=False, sharey=True)
    # A sum whose terms nearly cancel has ten times the usual error; a scale that includes it would hide the others.
    every = np.abs(np.concatenate([one.ravel() for one in errors.values()]))
    worst = max(float(np.percentile(every, 97)), 0.5)
    image = None
    for above, below, (name, array) in zip(*grid, arrays.items(), strict=True):
        _draw_bits(above, array[:, element])
        above.set_title(
            f"{name}\nelement {element}: {_count(array[:, element], short=True)}",
            loc="left",
            fontweight="bold",
        )
        image = below.imshow(
            errors[name], cmap="PuOr_r", vmin=-worst, vmax=worst, aspect="auto", interpolation="nearest"
        )
        image.set_gid(f"errors {name}")
        below.set_title("error in steps of the last place", loc="left")
        below.set_xlabel("element")
        above.set_xlabel("bit, the last place at the right")
        for axis in (above, below):
            axis.tick_params(length=0)
            axis.set_yticks(range(0, launches, max(launches // 5, 1)))
            axis.set_yticks(np.arange(0.5, launches - 1), minor=True)
            axis.grid(which="minor", axis="y", color="white", linewidth=1.0)
    for axis in grid[:, 0]:
        axis.set_ylabel("launch")
    words = "A row is a launch, each in another order of cores; orange: another bit than in the first"
    figure.suptitle(words, x=0.01, ha="left", fontsize=9)
    bar = figure.colorbar(image, ax=list(grid[1]), fraction=0.03, aspect=18, pad=0.01, extend="both")
    bar.outline.set_linewidth(0.6)
    return figure


def _draw_bits(axis: Axes, values: np.ndarray) -> None:
    """Draw a cell for each bit, a row for each launch: dark for 1, light for 0; orange if the first launch differs."""
    words = values.view(np.uint32)
    bits = words[:, None] >> np.arange(_BITS - 1, -1, -1, dtype=np.uint32) & 1
    changed = bits != bits[0]
    shades = np.where(bits[:, :, None] == 1, matplotlib.colors.to_rgb("#33445c"), matplotlib.colors.to_rgb("#e4e8ee"))
    marks = np.where(bits[:, :, None] == 1, matplotlib.colors.to_rgb("#b35806"), matplotlib.colors.to_rgb("#fdb863"))
    axis.imshow(np.where(changed[:, :, None], marks, shades), aspect="auto", interpolation="nearest").set_gid("bits")
    for place in (_EXPONENT, _FRACTION):
        axis.axvline(place - 0.5, color="white", linewidth=2.5)
    middles = (0, (_EXPONENT + _FRACTION - 1) / 2, (_FRACTION + _BITS - 1) / 2)
    axis.set_xticks(middles, ["±", "exponent", "fraction"])
    axis.tick_params(axis="x", labelcolor=INK)
    axis.tick_params(axis="y", labelcolor=FAINT)
    axis.spines[:].set_visible(False)
