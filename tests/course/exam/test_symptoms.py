"""What wrong numbers look like, in words."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.course.exam.symptoms import described

RIGHT = np.array([1.0, -2.0, 3.5, 0.25, 8.0])


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (np.where(RIGHT > 3, np.inf, RIGHT), "a number on the way is beyond the largest of its type"),
        (np.where(RIGHT > 3, np.nan, RIGHT), "NaN is what infinity minus infinity"),
        (np.full(5, 0.75), "every element is the same"),
        (RIGHT * 1.003, "the first digits agree"),
    ],
)
def test_a_kind_of_mistake_is_told_by_its_numbers(ours: np.ndarray, words: str) -> None:
    wrong = ours != RIGHT
    assert words in described("y", ours.astype(np.float32), RIGHT, wrong)


def test_the_first_wrong_element_is_shown() -> None:
    ours = RIGHT.copy()
    ours[3] = -9.0
    assert described("z", ours, RIGHT, ours != RIGHT) == "z[3] is -9; 0.25 is right; 1 of 5 are wrong"
