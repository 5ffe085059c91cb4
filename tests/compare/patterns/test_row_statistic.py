"""Rows that are off by one number each, or hold what came out before."""

from __future__ import annotations

import numpy as np
import pytest
from compare_support import said_by

from gn_tutorial.compare.patterns import row_statistic

RANDOM = np.random.default_rng(5)
TRUTH = RANDOM.standard_normal((6, 50)).astype(np.float32)
OFF = np.array([0, 1, 0.5, 0, -2, 3], np.float32)[:, None]


def said(actual: np.ndarray, golden: np.ndarray = TRUTH, blocks: int = 1) -> tuple[str, ...]:
    return said_by(row_statistic.row_statistic, output=actual, reference=golden, blocks=blocks)


def test_rows_with_a_wrong_mean() -> None:
    (hint,) = said(TRUTH + OFF)
    assert "off by the same number (row 1: 1 more than the reference): a number of the row, such as its mean" in hint


def test_rows_with_a_wrong_root() -> None:
    (hint,) = said(TRUTH * (OFF + 1))
    assert "off by the same factor (row 1: 2 times the reference)" in hint


def test_rows_with_a_wrong_mean_and_root() -> None:
    (hint,) = said(TRUTH * (OFF + 1) + 2 * OFF)
    assert "(row 1: 2 times, 2 more): two numbers of the row" in hint


def test_rows_of_squares() -> None:
    (hint,) = said(TRUTH * TRUTH * 3)
    assert "all elements are the squares of the reference, times one number" in hint


@pytest.mark.parametrize(("step", "words"), [(1, "1 row before"), (2, "2 rows before")])
def test_a_sum_that_is_not_cleared(step: int, words: str) -> None:
    kept = TRUTH.astype(np.float64)
    for row in range(step, len(kept)):
        kept[row] += kept[row - step]
    (hint,) = said(kept, TRUTH, blocks=2)
    assert words in hint
    (hint,) = said(kept[:, 0].copy(), TRUTH[:, 0].astype(np.float64), blocks=2)
    assert "each wrong element" in hint


@pytest.mark.parametrize(
    "actual",
    [
        TRUTH,
        TRUTH + 3e-6,
        TRUTH * np.linspace(1, 2, 50),
        np.where(np.arange(50) % 2, TRUTH, TRUTH + 1),
        np.full_like(TRUTH, np.nan),
        np.zeros_like(TRUTH),
        RANDOM.standard_normal(TRUTH.shape),
    ],
    ids=["right", "nearly", "factors", "every other one", "NaN", "zeros", "random"],
)
def test_nothing_is_said_of_other_mistakes(actual: np.ndarray) -> None:
    assert said(actual) == ()


def test_shapes_that_have_no_rows() -> None:
    assert said(TRUTH[:, :20]) == ()
    assert said(np.float32(1).reshape(()), np.float32(2).reshape(())) == ()
    assert said(np.ones((3, 0)), np.ones((3, 0))) == ()
