"""A sentence names a sign, a factor or an addend that all wrong elements share; without one there is no sentence."""

from __future__ import annotations

import numpy as np
import pytest
from compare_support import said_by

from gn_tutorial.compare.patterns import affine, bit_pattern, special_values
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import LaunchResult, Tally

RANDOM = np.random.default_rng(5)
TRUTH = RANDOM.standard_normal((6, 50)).astype(np.float32) + 0.1
TALLY = Tally(scalar=0, vector=0, mte2=0, mte3=0, bytes_in=0, bytes_out=0, ub_high_water=0)


#: They look at what all wrong elements have in common.
TOGETHER = (
    bit_pattern.value_and_index,
    bit_pattern.index_as_float,
    special_values.zeros_or_nan,
    bit_pattern.unsigned_shift,
    affine.factor,
    affine.constant_offset,
)


def hints(output: np.ndarray, reference: np.ndarray = TRUTH) -> tuple[str, ...]:
    return said_by(*TOGETHER, output=output, reference=reference)


def test_a_wrong_sign_is_named_though_some_elements_are_right() -> None:
    actual = -TRUTH
    actual[0] = TRUTH[0]
    (hint,) = hints(actual)
    assert hint.startswith("all 250 wrong elements have the wrong sign: look for operands the wrong way round")


@pytest.mark.parametrize(("factor", "words"), [(50.0, "50 times"), (-2.0, "-2 times"), (0.25, "1/4 of")])
def test_a_factor_is_named(factor: float, words: str) -> None:
    (hint,) = hints((TRUTH * factor).astype(np.float32))
    assert f"all 300 wrong elements are {words} the reference" in hint


def test_a_constant_difference_is_named() -> None:
    floors = np.floor(TRUTH)
    nearest = np.rint(TRUTH)
    wrong = int((nearest != floors).sum())
    (hint,) = hints((TRUTH - nearest).astype(np.float32), (TRUTH - floors).astype(np.float32))
    assert f"all {wrong} wrong elements are 1 less than the reference" in hint
    assert "CAST_FLOOR" in hint


def test_a_difference_that_is_no_whole_number_is_named() -> None:
    (hint,) = hints(TRUTH + np.float32(0.3))
    assert hint.startswith(
        "all 300 wrong elements are 0.3 more than the reference: one number for all of them is wrong"
    )


@pytest.mark.parametrize(
    "actual",
    [
        TRUTH,
        TRUTH + 3e-5,
        TRUTH * 1.0002,
        np.where(np.arange(50) % 2, TRUTH + 1, TRUTH - 1),
        np.where(np.arange(50) % 2, TRUTH, -2 * TRUTH) * np.where(np.arange(6) % 2, 1, 3)[:, None],
        TRUTH * np.linspace(1, 2, 50),
        np.roll(TRUTH, 1, axis=1),
        np.full_like(TRUTH, np.inf),
        RANDOM.standard_normal(TRUTH.shape),
    ],
    ids=[
        "right",
        "part of one",
        "nearly one",
        "both ways",
        "several",
        "slope",
        "shifted",
        "infinite",
        "random",
    ],
)
def test_nothing_is_said_of_other_mistakes(actual: np.ndarray) -> None:
    assert hints(actual) == ()


def test_a_comparison_has_the_sentence() -> None:
    launched = LaunchResult(arrays={"y": -TRUTH}, tally=TALLY, seconds=0.0, printed="", observed=True)
    made = Result(kernel="demo", blocks=1, launched=launched)
    assert "y: all 300 wrong elements have the wrong sign" in repr(made.compare(TRUTH, rtol=1e-5))


def test_a_factor_that_is_no_whole_number_is_named_where_the_elements_differ_enough() -> None:
    (hint,) = hints((TRUTH * 2.98).astype(np.float32))
    assert hint.startswith("all 300 wrong elements are 2.98 times the reference: one number for all of them")
    alike = np.full(300, 3.0, np.float32)
    assert hints(alike * 1.01, alike) == ()
    assert hints((TRUTH * 1.01).astype(np.float32)) == ()


def test_a_reference_of_equal_rows_or_of_one_number_says_nothing() -> None:
    assert hints(np.full((6, 50), 3.0), np.full((6, 50), 2.0)) == ()
    assert hints(np.roll(TRUTH, 1, axis=0)[:1], TRUTH[:1]) == ()
