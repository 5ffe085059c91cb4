"""Outputs that are an input where they are wrong: which input, and which one should be there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from compare_support import said_by

from gn_tutorial.compare.patterns import operand_swap

RANDOM = np.random.default_rng(5)
X, LOW = (RANDOM.standard_normal(200).astype(np.float32) for _ in range(2))
INPUTS = {"x": X, "low": LOW, "index": np.arange(7)}
CHOICE = np.where(X > 0, X, LOW)


def said(actual: np.ndarray, golden: np.ndarray = CHOICE, inputs: Mapping[str, np.ndarray] = INPUTS) -> tuple[str, ...]:
    return said_by(operand_swap.operand_swap, output=actual, reference=golden, inputs=inputs)


def test_two_operands_that_are_exchanged() -> None:
    (hint,) = said(np.where(X > 0, LOW, X))
    assert hint.startswith("where the reference has an element of x, all 200 wrong ones are those of low")


def test_elements_that_came_through_unchanged() -> None:
    (hint,) = said(X, np.exp(X))
    assert hint == "all 200 wrong elements are those of x at the same place, as they came in"


def test_nothing_is_said_of_other_numbers_or_of_few() -> None:
    assert said(CHOICE + 1) == ()
    few = CHOICE.copy()
    few[:7] = np.where(X > 0, LOW, X)[:7]
    assert said(few) == ()
    zeros = {"x": np.zeros(200, np.float32)}
    assert said(np.zeros(200, np.float32), CHOICE, zeros) == ()
    assert said(X[:20]) == ()
