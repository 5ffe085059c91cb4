"""The filter bank: each filter does what its name says, and a photograph becomes the feature map a plain loop gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gn_tutorial.cli.photo_tour import load_photo
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.filters import NUM_GROUPS, SIZE, Filter, feature_map, filter_bank
from gn_tutorial.plot.picture import sample_photo

BANK = filter_bank()
BY_NAME = {each.name: channel for channel, each in enumerate(BANK)}


@pytest.fixture(scope="module")
def portrait() -> np.ndarray:
    return feature_map(load_photo(sample_photo(), longest_side=256))


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (height, width, 3), dtype=np.uint8)


def ramp(right: float = 0.0, down: float = 0.0) -> np.ndarray:
    """A grey image that gets brighter by ``right`` a pixel to the right and ``down`` a pixel downwards."""
    y, x = np.mgrid[0:9, 0:11]
    return np.repeat((0.1 + right * x + down * y)[:, :, np.newaxis], 3, axis=2)


def test_the_feature_map_is_what_a_plain_loop_computes() -> None:
    photo = noise(9, 12)
    got = feature_map(photo)
    assert got.shape == (1, len(BANK), 9 - SIZE + 1, 12 - SIZE + 1)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    image = photo.astype(np.float64) / 255
    for (channel, each), row, column in itertools.product(enumerate(BANK), range(got.shape[2]), range(got.shape[3])):
        total = 0.0
        for colour, i, j in itertools.product(range(3), range(SIZE), range(SIZE)):
            total += each.weights[colour, i, j] * image[row + i, column + j, colour]
        # One rounding to float32 of a value below 8, and the order of 75 float64 additions.
        assert got[0, channel, row, column] == pytest.approx(total, rel=1e-7, abs=1e-14)


def test_the_bank_is_four_groups_of_four_different_filters() -> None:
    assert len(BY_NAME) == len(BANK) == 16
    groups = [each.group for each in BANK]
    assert [group for group, _ in itertools.groupby(groups)] == list(dict.fromkeys(groups))
    assert [groups.count(group) for group in dict.fromkeys(groups)] == [len(BANK) // NUM_GROUPS] * NUM_GROUPS
    flat = [each.weights.ravel() for each in BANK]
    assert all(not np.allclose(a, b) for a, b in itertools.combinations(flat, 2))


@pytest.mark.parametrize("each", BANK, ids=lambda each: each.name)
def test_flat_grey_stays_grey_in_the_brightness_group_and_vanishes_elsewhere(each: Filter) -> None:
    assert each.weights.shape == (3, SIZE, SIZE)
    assert each.weights.sum() == pytest.approx(1.0 if each.group == "brightness" else 0.0, abs=1e-12)


def test_first_derivatives_measure_the_slope_along_their_axis() -> None:
    right, down = feature_map(ramp(right=0.05))[0], feature_map(ramp(down=0.03))[0]
    slopes = {"Sobel x": (0.05, 0.0), "Sobel y": (0.0, 0.03), "Scharr x, blue": (0.05, 0.0)}
    for name, (along_x, along_y) in slopes.items():
        np.testing.assert_allclose(right[BY_NAME[name]], along_x, atol=1e-6)
        np.testing.assert_allclose(down[BY_NAME[name]], along_y, atol=1e-6)


def test_second_derivatives_do_not_see_a_slope_and_do_see_a_bend() -> None:
    second = [channel for channel, each in enumerate(BANK) if each.group == "second derivative"]
    np.testing.assert_allclose(feature_map(ramp(0.05, 0.03))[0, second], 0.0, atol=1e-6)
    y, x = np.mgrid[0:9, 0:11]
    bowl = np.repeat((0.01 * (x - 5.0) ** 2)[:, :, np.newaxis], 3, axis=2)
    np.testing.assert_allclose(feature_map(bowl)[0, BY_NAME["Laplacian, 4 neighbours"]], 0.02, atol=1e-6)
    saddle = np.repeat((0.01 * x * y)[:, :, np.newaxis], 3, axis=2)
    np.testing.assert_allclose(feature_map(saddle)[0, BY_NAME["mixed derivative xy"]], 0.01, atol=1e-6)


def test_colour_edges_see_colour_along_their_direction_and_no_grey_edge() -> None:
    colour = [channel for channel, each in enumerate(BANK) if each.group == "colour edge"]
    np.testing.assert_allclose(feature_map(ramp(0.05, 0.03))[0, colour], 0.0, atol=1e-6)
    redder_to_the_right = ramp(right=0.05) * [1.0, 0.0, 0.0]
    answer = feature_map(redder_to_the_right)[0]
    assert (answer[BY_NAME["Gabor 0°, red − green"]] > 0.01).all()
    bluer_downwards = ramp(down=0.05) * [0.0, 0.0, 1.0]
    answer = feature_map(bluer_downwards)[0]
    assert (answer[BY_NAME["Gabor 90°, blue − yellow"]] > 0.01).all()
    np.testing.assert_allclose(answer[BY_NAME["Gabor 0°, red − green"]], 0.0, atol=1e-6)


def test_the_channels_of_a_photograph_lie_orders_of_magnitude_apart(portrait: np.ndarray) -> None:
    means, spreads = np.abs(portrait.mean(axis=(0, 2, 3))), portrait.std(axis=(0, 2, 3))
    assert means.max() / means.min() > 1e4
    assert spreads.max() / spreads.min() > 10
    assert spreads.min() > 1e-3, "a channel without content proves nothing"
    groups = portrait.reshape(NUM_GROUPS, -1).std(axis=1)
    assert np.array_equal(np.sort(groups)[::-1][:1], groups[:1]), "brightness has the widest group"


def test_floats_from_0_to_1_and_bytes_from_0_to_255_are_the_same_photograph() -> None:
    photo = noise(8, 8)
    np.testing.assert_array_equal(feature_map(photo), feature_map(photo / 255.0))


@pytest.mark.parametrize(
    ("photo", "words"),
    [
        (np.zeros((8, 8), np.uint8), r"shape \(8, 8\); \(height, width, 3\)"),
        (np.zeros((8, 8, 4), np.uint8), r"\(8, 8, 4\)"),
        (np.zeros((4, 9, 3), np.uint8), "9 × 4 pixels; the filters need 5 × 5"),
        (np.zeros((8, 8, 3), np.int32), "dtype int32"),
        (np.full((8, 8, 3), np.nan), "NaN"),
    ],
)
def test_what_is_no_photograph_is_refused(photo: np.ndarray, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        feature_map(photo)
