"""The V-curve shows the numbers it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.gradient import step_errors

STEPS = (1e-9, 1e-6, 1e-3)
ERRORS = {"central": (1e-7, 1e-11, 1e-6), "complex": (0.0, 2e-16, 1e-6)}


def test_a_line_for_each_method_and_a_dashed_one_for_each_guide() -> None:
    picture = step_errors(STEPS, ERRORS, {"h²": [1e-18, 1e-12, 1e-6]})
    (axis,) = picture.figure.axes
    assert axis.get_xscale() == axis.get_yscale() == "log"
    guide, *lines = axis.lines
    assert guide.get_gid() == "guide h²"
    assert guide.get_linestyle() == "--"
    # The part of a guide far below every error would stretch the axis.
    np.testing.assert_array_equal(guide.get_ydata(), [np.nan, 1e-12, 1e-6])
    assert [line.get_label() for line in lines] == list(ERRORS)
    for line, values in zip(lines, ERRORS.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), STEPS)
        np.testing.assert_array_equal(line.get_ydata(), [value or np.nan for value in values])
    assert axis.texts[0].get_text() == "h²"
    assert axis.texts[0].xy == (1e-3, 1e-6)
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 2


def test_the_text_says_each_line_s_ends_and_its_best_step() -> None:
    alt = step_errors(STEPS, ERRORS).alt
    assert "from 1e-09 to 1e-03" in alt
    assert "central 1e-07 at first, 1e-11 at best, with h = 1e-06, and 1e-06 at last" in alt


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": [1.0]}, "two steps or more"),
        ({"steps": [3.0, 2.0, 1.0]}, "ascending"),
        ({"steps": [0.0, 1.0, 2.0]}, "greater than zero"),
        ({"errors": {}}, "0 methods"),
        ({"errors": {str(n): [1.0] * 3 for n in range(5)}}, "5 methods; 1 to 4"),
        ({"errors": {"a": [1.0, 2.0]}}, "'a' needs 3 errors"),
        ({"errors": {"a": [1.0, np.nan, 2.0]}}, "finite"),
        ({"guides": {"g": [1.0, -1.0, 2.0]}}, "'g' needs 3 errors, finite and not below zero"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"steps": STEPS, "errors": ERRORS, "guides": None} | change
    with pytest.raises(ArgumentError, match=words):
        step_errors(**arguments)
