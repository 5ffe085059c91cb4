"""The one rule by which an array is right, on any values: it agrees with a plain loop over the elements."""

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gn_tutorial.compare.comparison import compare
from gn_tutorial.compare.tolerance import Tolerance, within

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)
NUMBERS = FINITE | st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0])
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS) | NUMBERS.map(lambda one: (one, one)), min_size=1, max_size=20)
BOUNDS = st.floats(0, 1e30)


def right(ours: float, truth: float, rtol: float, atol: float) -> bool:
    if math.isnan(truth):
        return math.isnan(ours)
    if math.isinf(truth) or not math.isfinite(ours):
        return ours == truth
    return abs(ours - truth) <= atol + rtol * abs(truth)


@settings(deadline=None)
@given(pairs=PAIRS, rtol=BOUNDS, atol=BOUNDS)
def test_within_is_the_rule_element_by_element(pairs: list[tuple[float, float]], rtol: float, atol: float) -> None:
    ours, truth = (np.array(part) for part in zip(*pairs, strict=True))
    assert within(ours, truth, rtol, atol).tolist() == [right(*pair, rtol, atol) for pair in pairs]


@settings(deadline=None)
@given(pairs=PAIRS, rtol=BOUNDS, atol=BOUNDS)
@example(pairs=[(0.0, 1.0)], rtol=0.0, atol=5e-324)
def test_a_comparison_and_an_exercise_agree(pairs: list[tuple[float, float]], rtol: float, atol: float) -> None:
    ours, truth = (np.array(part) for part in zip(*pairs, strict=True))
    wrong = [at for at, pair in enumerate(pairs) if not right(*pair, rtol, atol)]
    row = compare("y", ours, truth, Tolerance(rtol, atol, "drawn"))
    assert (row.wrong, row.ok) == (len(wrong), not wrong)
    assert row.evidence.first == (wrong[0] if wrong else -1)


@settings(deadline=None)
@given(pairs=PAIRS)
def test_an_array_is_right_beside_itself_and_one_nan_too_many_is_found(pairs: list[tuple[float, float]]) -> None:
    truth = np.array([one for one, _ in pairs])
    assert within(truth, truth, 0.0, 0.0).all()
    ours = truth.copy()
    ours[-1] = 1.0 if math.isnan(truth[-1]) else math.nan
    assert within(ours, truth, 1e30, 1e30).tolist() == [True] * (len(pairs) - 1) + [False]


def test_bits_of_a_signalling_nan_are_nan_without_a_warning() -> None:
    """Memory that was never written has any bits; NumPy calls these an invalid value when it converts them."""
    bits = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    right = np.ones(2, np.float32)
    assert within(bits, right, 0.0, 0.0).tolist() == [False, True]
    assert within(bits, bits, 0.0, 0.0).tolist() == [True, True]
