"""The map of the accuracy standard shows what was found: a colour, two shares and a frame for each cell."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from gn_tutorial.compare.accuracy import Accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.accuracy import accuracy_map, cell_text

HALF, FLOAT = 2.0**-10, 2.0**-13
GOOD = Accuracy("float16", 10, 0.5 * HALF, 2.5 * HALF, 2.5 * HALF, 0, 0)
BAD = Accuracy("float16", 10, 0.5 * HALF, 30 * HALF, 30 * HALF, 0, 0)
LOST = Accuracy("float16", 10, np.inf, np.inf, np.inf, 0, 0)
NEAR = Accuracy("float32", 10, 0.0, 0.0, 0.0, 9, 5)
FOUND = {
    "float16": {"one": {"noise": GOOD, "far": BAD}, "two": {"noise": LOST, "far": GOOD}},
    "float32": {"one": {"noise": NEAR, "far": NEAR}, "two": {"noise": None, "far": None}},
}


def test_each_dtype_has_a_map_whose_colours_are_the_largest_share() -> None:
    picture = accuracy_map(FOUND)
    half, single = picture.figure.axes
    assert half.get_title(loc="left").startswith("float16, T = $2^{-10}$")
    assert single.get_title(loc="left").startswith("float32, T = $2^{-13}$")
    shown = np.ma.filled(half.images[0].get_array(), np.nan)
    # 0.5 is more than 0.25 of what is allowed; 3; beyond the scale. Half a decade from the middle, which is white.
    np.testing.assert_allclose(shown, [[np.log10(0.5) - 0.5, np.log10(3) + 0.5], [2.5, np.log10(0.5) - 0.5]])
    low, high = half.images[0].get_clim()
    assert low == -high
    assert all(label.get_visible() for axis in (half, single) for label in axis.get_xticklabels())
    assert np.ma.getmaskarray(single.images[0].get_array())[1].all()
    assert [label.get_text() for label in half.get_yticklabels()] == ["one", "two"]
    assert [label.get_text() for label in single.get_xticklabels()] == ["noise", "far"]


def test_a_failing_cell_and_no_other_has_a_frame_and_bold_type() -> None:
    for axis, fails in zip(accuracy_map(FOUND).figure.axes, ({(1, 0), (0, 1)}, {(0, 0), (1, 0)}), strict=True):
        frames = [patch for patch in axis.patches if isinstance(patch, Rectangle) and patch.get_gid() == "fails"]
        assert {(round(one.get_x()), round(one.get_y())) for one in frames} == fails
        bold = {one.get_position() for one in axis.texts if one.get_fontweight() == "bold"}
        assert bold == fails


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (GOOD, "0.50 | 0.25"),
        (BAD, "0.50 | 3.00"),
        (LOST, "∞ | ∞"),
        (NEAR, "5 misses near 0"),
        (None, "–"),
        (Accuracy("float32", 10, 34.2 * FLOAT, 1e8 * FLOAT, 0.0, 0, 0), "34 | 1e+07"),
        (Accuracy("float32", 10, 0.0, 0.004 * FLOAT, 0.0, 0, 0), "0.00 | 4e-04"),
    ],
)
def test_a_cell_says_both_shares(one: Accuracy | None, text: str) -> None:
    assert cell_text(one) == text


def test_the_alt_text_says_who_fails_where() -> None:
    assert accuracy_map(FOUND).alt == (
        "Accuracy standard, 2 ways of computing on 2 kinds of data. float16: one fails far / two fails noise; "
        "float32: one fails noise, far / two is not there."
    )


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({}, "no result"),
        ({"float16": {}}, "no result"),
        ({"float16": {"one": {}}}, "no result"),
        (FOUND | {"bfloat16": {"one": {"noise": GOOD, "far": BAD}}}, "bfloat16 has other ways"),
        ({"float16": {"one": {"noise": GOOD}, "two": {"far": GOOD}}}, "other ways or kinds"),
        ({"float16": {"one": {"noise": None}}}, "no result"),
    ],
)
def test_what_cannot_be_drawn_is_refused(found: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        accuracy_map(found)
