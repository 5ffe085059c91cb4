"""Sixteen fixed small image filters. They make a feature map of a photograph, as a network's first convolution does.

Real filters on a real photograph give channels whose means and spreads differ by orders of magnitude, unlike random
numbers; this is why networks need GroupNorm. There are four groups of four filters: brightness, first derivatives,
second derivatives, and oriented colour edges. So ``num_groups = NUM_GROUPS`` normalises similar channels together.

Sources of the kernels: Gonzalez and Woods, "Digital Image Processing", 4th edition, chapters 3 and 10 (box, Gaussian,
Sobel, Prewitt, Laplacian, Laplacian of Gaussian, unsharp masking); Jaehne, Scharr and Koerkel, "Principles of filter
design", 1999 (Scharr); Daugman, "Uncertainty relation for resolution in space, spatial frequency, and orientation
optimized by two-dimensional visual cortical filters", 1985 (Gabor). Luma weights: Recommendation ITU-R BT.601.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gn_tutorial.errors import ArgumentError

#: Rows and columns of every filter; smaller filters are padded with zeros. A feature map has SIZE - 1 fewer rows and
#: SIZE - 1 fewer columns than the photograph.
SIZE = 5
#: Number of groups of filters, of equal size and one theme each.
NUM_GROUPS = 4

_LUMA = (0.299, 0.587, 0.114)
_RED = (1.0, 0.0, 0.0)
_BLUE = (0.0, 0.0, 1.0)
_RED_MINUS_GREEN = (1.0, -1.0, 0.0)
_BLUE_MINUS_YELLOW = (-0.5, -0.5, 1.0)


@dataclass(frozen=True)
class Filter:
    """The filter of one output channel. weights: float64 (3, SIZE, SIZE), one window each for red, green and blue.

    The window is not flipped: this is a correlation, as in a convolution layer. So an x derivative is positive where
    the image gets brighter to the right, and a y derivative where it gets brighter downwards.
    """

    name: str
    group: str
    weights: np.ndarray


def filter_bank() -> tuple[Filter, ...]:
    """Return the sixteen filters in channel order: NUM_GROUPS groups of four."""
    smooth_3, derivative = np.array([1.0, 2.0, 1.0]), np.array([-1.0, 0.0, 1.0])
    smooth_5 = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
    sobel = np.outer(smooth_3, derivative) / 8
    scharr = np.outer([3.0, 10.0, 3.0], derivative) / 32
    prewitt_diagonal = np.array([[-1.0, -1, 0], [-1, 0, 1], [0, 1, 1]]) / 6
    laplacian_4 = np.array([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]])
    laplacian_8 = np.array([[1.0, 1, 1], [1, -8, 1], [1, 1, 1]]) / 3
    mixed = np.outer(derivative, derivative) / 4
    unit = np.zeros((3, 3))
    unit[1, 1] = 1.0

    rows = (
        ("Gaussian 5×5", "brightness", np.outer(smooth_5, smooth_5), _LUMA),
        ("box 3×3, red", "brightness", np.full((3, 3), 1 / 9), _RED),
        ("box 5×5, blue", "brightness", np.full((5, 5), 1 / 25), _BLUE),
        ("sharpened", "brightness", unit - laplacian_4, _LUMA),
        ("Sobel x", "first derivative", sobel, _LUMA),
        ("Sobel y", "first derivative", sobel.T, _LUMA),
        ("Scharr x, blue", "first derivative", scharr, _BLUE),
        ("Prewitt diagonal", "first derivative", prewitt_diagonal, _LUMA),
        ("Laplacian, 4 neighbours", "second derivative", laplacian_4, _LUMA),
        ("Laplacian, 8 neighbours", "second derivative", laplacian_8, _LUMA),
        ("Laplacian of Gaussian", "second derivative", _laplacian_of_gaussian(sigma=1.0), _LUMA),
        ("mixed derivative xy", "second derivative", mixed, _LUMA),
        ("Gabor 0°, red − green", "colour edge", _gabor(0), _RED_MINUS_GREEN),
        ("Gabor 45°, red − green", "colour edge", _gabor(45), _RED_MINUS_GREEN),
        ("Gabor 90°, blue − yellow", "colour edge", _gabor(90), _BLUE_MINUS_YELLOW),
        ("Gabor 135°, blue − yellow", "colour edge", _gabor(135), _BLUE_MINUS_YELLOW),
    )
    return tuple(Filter(name, group, _in_three_colours(window, colour)) for name, group, window, colour in rows)


def feature_map(photo: np.ndarray) -> np.ndarray:
    """Return the feature map that the bank makes of a photograph.

    photo: shape (H, W, 3), red, green, blue; uint8 from 0 to 255, or floats from 0 to 1. Both axes at least SIZE.
    Returns float32 of shape (1, 16, H - SIZE + 1, W - SIZE + 1), C-contiguous, without padding, summed in float64.
    Raises ArgumentError for another shape or dtype, an image smaller than a filter, or values that are not finite.
    """
    image = _as_unit_range(photo)
    weights = np.stack([each.weights for each in filter_bank()])
    windows = sliding_window_view(image, (SIZE, SIZE), axis=(0, 1))  # (H', W', 3, SIZE, SIZE), a view
    channels = np.tensordot(weights, windows, axes=([1, 2, 3], [2, 3, 4]))
    return np.ascontiguousarray(channels[np.newaxis], dtype=np.float32)


def _as_unit_range(photo: np.ndarray) -> np.ndarray:
    image = np.asarray(photo)
    if image.ndim != 3 or image.shape[2] != 3:
        raise ArgumentError(
            f"the photograph has shape {image.shape}; (height, width, 3) is needed",
            where="argument photo",
            hint="three colour channels, last: red, green, blue",
        )
    if min(image.shape[:2]) < SIZE:
        raise ArgumentError(
            f"the photograph is {image.shape[1]} × {image.shape[0]} pixels; the filters need {SIZE} × {SIZE} at least",
            where="argument photo",
            hint="use a larger photograph",
        )
    if image.dtype == np.uint8:
        return image / 255.0
    if image.dtype.kind != "f":
        raise ArgumentError(
            f"the photograph has dtype {image.dtype}; uint8 or floats are needed", where="argument photo"
        )
    if not np.isfinite(image).all():
        raise ArgumentError("the photograph holds NaN or infinity", where="argument photo")
    return image.astype(np.float64)


def _in_three_colours(window: np.ndarray, colour: tuple[float, float, float]) -> np.ndarray:
    margin = (SIZE - len(window)) // 2
    return np.multiply.outer(np.array(colour), np.pad(window, margin))


def _grid() -> tuple[np.ndarray, np.ndarray]:
    """Return the row and column distances from the middle of a filter, in pixels."""
    return np.mgrid[-(SIZE // 2) : SIZE // 2 + 1, -(SIZE // 2) : SIZE // 2 + 1].astype(np.float64)


def _laplacian_of_gaussian(sigma: float) -> np.ndarray:
    y, x = _grid()
    square = (x**2 + y**2) / (2 * sigma**2)
    window = (square - 1) * np.exp(-square)
    # Cut off at 5 x 5, the filter does not sum to 0, and would respond to plain brightness. So subtract its mean.
    window -= window.mean()
    return window / np.abs(window).sum()


def _gabor(degrees: float) -> np.ndarray:
    """Return an odd Gabor filter: a sine of wavelength 4 pixels along ``degrees``, times a Gaussian of sigma 1.3.

    0 degrees points right and 90 down. An odd filter sums to exactly 0, so flat colour gives 0.
    """
    y, x = _grid()
    along = x * math.cos(math.radians(degrees)) + y * math.sin(math.radians(degrees))
    window = np.sin(2 * math.pi * along / 4) * np.exp(-(x**2 + y**2) / (2 * 1.3**2))
    return window / np.abs(window).sum()
