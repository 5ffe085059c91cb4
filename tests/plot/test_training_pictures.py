"""The picture of two trainings shows the numbers it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.training import compare_losses

FIRST, SECOND = [2.0, 1.0, 0.5], [2.0, 1.1, 0.45]


def test_both_lines_and_their_difference_are_drawn() -> None:
    above, below = compare_losses({"theirs": FIRST, "ours": SECOND}).figure.axes
    drawn = {line.get_gid(): line for axis in (above, below) for line in axis.lines}
    assert drawn.keys() == {"first", "second", "difference"}
    np.testing.assert_array_equal(drawn["first"].get_ydata(), FIRST)
    np.testing.assert_array_equal(drawn["second"].get_ydata(), SECOND)
    np.testing.assert_array_equal(drawn["first"].get_xdata(), [1, 2, 3])
    # Two equal losses have no place on a logarithmic axis.
    np.testing.assert_allclose(drawn["difference"].get_ydata(), [np.nan, 0.1, 0.1])
    assert below.get_yscale() == "log"
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["theirs", "ours"]


def test_the_text_says_both_ends_and_how_far_apart_they_are() -> None:
    alt = compare_losses({"theirs": FIRST, "ours": SECOND}).alt
    assert "over 3 steps: theirs from 2.00 to 0.500, ours from 2.00 to 0.450" in alt
    assert "at most 1e-01 in all" in alt


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ({"one": FIRST}, "1 trainings; two are compared"),
        ({"one": FIRST, "other": FIRST[:2]}, "the same number of steps"),
        ({"one": [1.0], "other": [1.0]}, "two or more"),
        ({"one": FIRST, "other": [1.0, np.nan, 1.0]}, "finite and greater than zero"),
        ({"one": [1.0, 0.0], "other": [1.0, 1.0]}, "finite and greater than zero"),
    ],
)
def test_what_cannot_be_compared_is_refused(losses: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        compare_losses(losses)
