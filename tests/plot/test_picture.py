"""The pictures hold what they claim: the right arrays on the right scales, a text with the numbers, a valid PNG."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from PIL import Image

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.filters import NUM_GROUPS, feature_map, filter_bank
from gn_tutorial.plot.picture import TourPicture, block_map, sample_photo, tour_picture, variance_errors
from gn_tutorial.reference import group_norm

PARTS = [(1, 104, 96), (0, 0, 64), (0, 64, 40), (2, 200, 33)]


def tour_data(error_scale: float = 3e-8) -> TourPicture:
    photo = np.random.default_rng(5).integers(0, 256, (24, 30, 3), dtype=np.uint8)
    features = feature_map(photo)
    truth = group_norm(features, num_groups=NUM_GROUPS).y
    error = error_scale * np.sin(np.arange(truth.size)).reshape(truth.shape)
    return TourPicture(photo, features, (truth + error).astype(np.float32), error, "group_norm/some", NUM_GROUPS)


def images(figure: Figure) -> list[AxesImage]:
    return [image for axis in figure.axes for image in axis.get_images()]


def test_the_tour_shows_each_group_before_and_after_and_its_error() -> None:
    data = tour_data()
    picture = tour_picture(data)
    shown = [np.asarray(image.get_array()) for image in images(picture.figure)]
    first_of_group = range(0, 16, 4)
    expected = [data.photo]
    for array in (data.features, data.normalised, data.error):
        expected += [array[0, channel] for channel in first_of_group]
    for want in expected:
        assert any(got.shape == want.shape and np.array_equal(got, want) for got in shown)
    titles = " ".join(axis.get_title() for axis in picture.figure.axes)
    for channel in first_of_group:
        assert filter_bank()[channel].name in titles


def test_one_row_has_one_scale_and_the_error_s_is_symmetric() -> None:
    data = tour_data()
    limits = {}
    for image in images(tour_picture(data).figure):
        for name in ("features", "normalised", "error"):
            if any(np.array_equal(np.asarray(image.get_array()), channel) for channel in getattr(data, name)[0]):
                limits.setdefault(name, set()).add(image.get_clim())
    assert {name: len(each) for name, each in limits.items()} == {"features": 1, "normalised": 1, "error": 1}
    low, high = limits["error"].pop()
    assert low == -high
    assert 0 < high <= np.abs(data.error).max()


def test_every_channel_s_spread_is_drawn_before_and_after() -> None:
    data = tour_data()
    axis = next(a for a in tour_picture(data).figure.axes if a.get_xscale() == "log")
    before, after = (collection.get_offsets()[:, 0] for collection in axis.collections[1:3])
    np.testing.assert_allclose(before, data.features.std(axis=(0, 2, 3)))
    np.testing.assert_allclose(after, data.normalised.std(axis=(0, 2, 3)))
    assert [label.get_text() for label in axis.get_yticklabels()] == [each.name for each in filter_bank()]


def test_the_alt_text_names_the_kernel_and_its_largest_error() -> None:
    alt = tour_picture(tour_data(4e-5)).alt
    assert "group_norm/some" in alt
    assert "1 × 16 × 20 × 26" in alt
    assert "4e-05 at most" in alt


def test_a_kernel_without_any_error_has_a_picture_too() -> None:
    assert "0e+00 at most" in tour_picture(tour_data(0.0)).alt


def test_the_png_carries_its_alt_text_and_is_the_same_twice(tmp_path: Path) -> None:
    picture = tour_picture(tour_data())
    picture.save(tmp_path / "one.png")
    tour_picture(tour_data()).save(tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    with Image.open(tmp_path / "one.png") as image:
        image.load()
        assert image.width > 1000
        assert image.info["Description"] == picture.alt
        assert "Software" not in image.info


def test_a_picture_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot write"):
        block_map(PARTS, 233).save(tmp_path / "missing" / "picture.png")


def test_a_notebook_gets_the_png_and_stores_the_alt_text() -> None:
    picture = block_map(PARTS, 233)
    data, _ = picture._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == repr(picture) == picture.alt


def test_the_block_map_has_a_box_for_each_tile_in_the_array_and_in_its_block_s_lane() -> None:
    picture = block_map(PARTS, 233)
    (axis,) = picture.figure.axes
    boxes = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
    lanes = {
        (round(box.get_y() + box.get_height() / 2, 6), box.get_x(), box.get_x() + box.get_width()) for box in boxes
    }
    for block, first, count in PARTS:
        assert (block, first, first + count) in lanes
        assert (-1.4, first, first + count) in lanes
    assert len(boxes) == 2 * len(PARTS)
    assert sum(box.get_width() for box in boxes) == 2 * 233
    assert picture.alt == (
        "An array of 233 elements in global memory: block 0 copies elements 0 to 103 in 2 tiles; "
        "block 1 copies elements 104 to 199 in 1 tile; block 2 copies elements 200 to 232 in 1 tile."
    )


@pytest.mark.parametrize("part", [(0, 8, 8), (0, -1, 4), (-1, 0, 4), (0, 4, 0)])
def test_a_part_outside_the_array_is_refused(part: tuple[int, int, int]) -> None:
    with pytest.raises(ArgumentError, match=f"from element {part[1]}"):
        block_map([part], 15)


def test_a_map_of_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no tile"):
        block_map([], 15)


RATIOS = [1.0, 100.0, 10_000.0]
ERRORS = {"one-pass": [1e-6, 4e-2, 3.0], "two-pass": [2e-7, 0.0, 5e-5]}


def test_each_formula_is_a_line_of_its_errors_on_logarithmic_axes() -> None:
    picture = variance_errors(RATIOS, ERRORS)
    (axis,) = picture.figure.axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    named = {line.get_label(): line for line in axis.lines if not str(line.get_label()).startswith("_")}
    assert list(named) == list(ERRORS)
    for name, values in ERRORS.items():
        np.testing.assert_array_equal(named[name].get_xdata(), RATIOS)
        # A zero has no logarithm: a gap, not a point at the edge.
        np.testing.assert_array_equal(named[name].get_ydata(), [value or np.nan for value in values])
    assert (
        len({line.get_color() for line in named.values()}) == len({line.get_marker() for line in named.values()}) == 2
    )
    predicted = next(line for line in axis.lines if line.get_linestyle() == "--")
    np.testing.assert_allclose(predicted.get_ydata(), [2.0**-24, 1e4 * 2.0**-24, 1e8 * 2.0**-24])
    assert [text.get_text() for text in axis.get_legend().get_texts()] == list(ERRORS)


def test_the_alt_text_says_where_a_formula_loses_all_digits() -> None:
    assert variance_errors(RATIOS, ERRORS).alt == (
        "Relative error of the variance, computed in float32, where mean/sigma goes from 1 to 10,000, on logarithmic "
        "axes: one-pass 1e-06 at first and 3e+00 at last, no right digit from 10,000 on; "
        "two-pass 2e-07 at first and 5e-05 at last, 5e-05 at worst."
    )


@pytest.mark.parametrize("ratios", [[1.0], [2.0, 1.0], [0.0, 1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_ratios_that_do_not_ascend_from_above_zero_are_refused(ratios: list[float]) -> None:
    with pytest.raises(ArgumentError, match="ascending"):
        variance_errors(ratios, {"some": [1e-7] * len(ratios)})


@pytest.mark.parametrize("values", [[1e-7], [1e-7, -1e-7], [1e-7, np.inf], [1e-7, np.nan]])
def test_errors_that_are_none_are_refused(values: list[float]) -> None:
    with pytest.raises(ArgumentError, match="'some' needs 2 errors"):
        variance_errors([1.0, 2.0], {"some": values})


@pytest.mark.parametrize("count", [0, 5])
def test_no_formula_or_more_than_colours_is_refused(count: int) -> None:
    with pytest.raises(ArgumentError, match=f"{count} formulas"):
        variance_errors([1.0, 2.0], {f"formula {number}": [0.1, 0.2] for number in range(count)})


def test_the_sample_photograph_is_there() -> None:
    with Image.open(sample_photo()) as image:
        assert image.size == (512, 600)


def test_pictures_need_no_screen_and_leave_no_state() -> None:
    code = (
        "import sys; from gn_tutorial.plot.picture import block_map; block_map([(0, 0, 8)], 8)._repr_mimebundle_();"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
