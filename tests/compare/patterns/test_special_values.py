"""Zeros, NaN, infinity and one number everywhere; and the remark of a report."""

from __future__ import annotations

import numpy as np
import pytest
from compare_support import said_by

from gn_tutorial.compare.comparison import ComparisonRow, compare
from gn_tutorial.compare.patterns import special_values
from gn_tutorial.compare.tolerance import Tolerance

RIGHT = np.array([1.0, -2.0, 3.5, 0.25, 8.0])
TRUTH = np.random.default_rng(5).standard_normal((6, 50)).astype(np.float32) + 0.1


def row(output: np.ndarray, name: str = "y") -> ComparisonRow:
    return compare(name, output, RIGHT, Tolerance(1e-6, 0.0, "of the test"))


def hints(output: np.ndarray, reference: np.ndarray = TRUTH) -> tuple[str, ...]:
    return said_by(special_values.zeros_or_nan, output=output, reference=reference)


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
    assert words in row(ours.astype(np.float32)).report()


def test_the_first_wrong_element_is_shown() -> None:
    ours = RIGHT.copy()
    ours[3] = -9.0
    assert row(ours, "z").report() == "z[3] is -9; 0.25 is right; 1 of 5 are wrong"


def test_an_output_of_zeros_is_named_however_few_there_are() -> None:
    (hint,) = hints(np.zeros(3), np.array([1.0, 2.0, 3.0]))
    assert hint.startswith("all 3 wrong elements are 0, and so is all of the output: a factor is 0 (1 / n is 0")


def test_nothing_is_guessed_about_zeros_that_a_finding_explains() -> None:
    zeros, truth = np.zeros(3), np.array([1.0, 2.0, 3.0])
    (hint,) = said_by(special_values.zeros_or_nan, output=zeros, reference=truth, warned=True)
    assert hint == "all 3 wrong elements are 0, and so is all of the output"


def test_zeros_and_nan_are_counted() -> None:
    zeros, nan = TRUTH.copy(), TRUTH.copy()
    zeros[2:] = 0
    nan[5] = np.nan
    assert hints(zeros) == ("all 200 wrong elements are 0",)
    assert hints(nan) == ("all 50 wrong elements are NaN",)
